/**
 * Environments by each tool that builds them: venv and pip for real, uv and micromamba by stand-ins that do the work, so that
 * what is installed really runs.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Recipe } from "@signalbox/task-package/Recipe"
import * as Wheels from "@signalbox/testkit/Wheels"
import { soak } from "@signalbox/testkit/Soak"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { type ProviderName, providerNames } from "../../src/internal/environments/ProviderOrder.ts"
import type { Settings } from "../../src/internal/environments/Settings.ts"
import * as Indexes from "../../src/internal/environments/Indexes.ts"
import * as Machine from "../support/Machine.ts"

const { console: lines, recipe, run } = Machine
const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const machineOf = (provider: ProviderName, installer: Machine.Installer) =>
  Effect.map(temporary, (root) => {
    const made = Machine.make(root, "", installer)
    made.bring(provider)
    return made
  })

/** Settings of the tools themselves, as a machine may have them. */
const own = ["PIP_INDEX_URL", "UV_INDEX", "CONDA_CHANNELS"]
const withOwnSettings = Effect.acquireRelease(
  Effect.sync(() => own.forEach((name) => (process.env[name] = "http://127.0.0.1:1/simple"))),
  () => Effect.sync(() => own.forEach((name) => delete process.env[name]))
)

/** A build is most of what a test costs: several look at one. */
const build = Effect.fnUntraced(function* (provider: ProviderName) {
  const machine = yield* machineOf(provider, "pip")
  const { acquire } = yield* machine.environments({ provider, wheels: machine.wheels })
  const said = lines()
  const wanted = recipe(["polite==1.0"])
  const cold = yield* Effect.scoped(Effect.andThen(withOwnSettings, acquire(wanted, said.write, Effect.void)))
  return { machine, cold, said: said.lines, again: (shown: typeof said) => acquire(wanted, shown.write, Effect.void) }
})

class Build extends Context.Service<Build, Effect.Success<ReturnType<typeof build>>>()("test/Build") {
  static readonly layer = (provider: ProviderName) => Layer.effect(Build, build(provider))
}

for (const provider of providerNames) {
  const world = Layer.provideMerge(Build.layer(provider), NodeServices.layer)
  withLayer(world, { excludeTestServices: true })(`an environment by ${provider}`, (it) => {
    const machine = machineOf(provider, "wheelpip")
    /** With pip itself, where it matters what that says and does. */
    const withPip = machineOf(provider, "pip")

    it.effect("is built from a folder of wheels, and then is there", () =>
      Effect.gen(function* () {
        const { again, cold, machine, said } = yield* Build
        assert.isFalse(cold.cached)
        assert.strictEqual(run(cold, "import polite; print(polite.text)"), "hello from a wheel")
        assert.isNotEmpty(said)
        const ready = JSON.parse(readFileSync(join(cold.folder, "ready.json"), "utf8"))
        assert.include(ready.installed, "polite==1.0")
        assert.include(ready.installed, "greeting==1.0")
        assert.isAbove(ready.bytes, 0)
        const shown = lines()
        const warm = yield* again(shown)
        assert.isTrue(warm.cached)
        assert.strictEqual(warm.folder, cold.folder)
        assert.deepStrictEqual(shown.lines, [])
        assert.lengthOf(machine.installs(), 1)
      })
    )

    it.effect("cannot be changed by those who run in it", () =>
      Effect.gen(function* () {
        const { cold } = yield* Build
        const file = run(cold, "import greeting; print(greeting.__file__)")
        for (const path of [file, join(file, ".."), join(cold.folder, "env")]) {
          assert.strictEqual(statSync(path).mode & 0o222, 0, path)
        }
      })
    )

    it.effect("sees nothing of the tools' own settings on the machine", () =>
      Effect.gen(function* () {
        const calls = (yield* Build).machine.calls()
        assert.isNotEmpty(calls)
        for (const { env } of calls) {
          for (const name of own) assert.notProperty(env, name)
        }
      })
    )

    // What pip itself says is seen by venv; a post-install is the same by each, and micromamba is the quickest here.
    const failures = [
      ["of a version that nothing has", providerNames, ["greeting==9.9"], [], /greeting==9\.9/],
      ["of another hash", ["venv"], [`greeting==1.0 --hash=sha256:${"0".repeat(64)}`], [], /Expected sha256 0{64}/],
      [
        "whose post-install fails",
        ["micromamba"],
        ["greeting"],
        [["sh", "-c", "echo out of luck; exit 3"]],
        /exit code 3\nout of luck$/
      ]
    ] as const
    for (const [what, inShortForm, pip, postInstall, message] of failures) {
      const skipped = !soak && !inShortForm.some((name) => name === provider)
      it.effect.skipIf(skipped)(`${what} is a SETUP_FAILURE with the last lines, and leaves nothing behind`, () =>
        Effect.gen(function* () {
          const { environments, numbered, wheels } = yield* pip[0] === "greeting" ? machine : withPip
          const { acquire } = yield* environments({ provider, wheels })
          const error = yield* Effect.flip(acquire(recipe(pip, { postInstall }), lines().write, Effect.void))
          assert.strictEqual(error.code, "SETUP_FAILURE")
          assert.match(error.message, /^the environment of conda\.yaml cannot be built: /)
          assert.match(error.message, message)
          assert.deepStrictEqual(numbered(), [])
        })
      )
    }

    it.effect("from a folder of wheels is not fetched from an address of its own", () =>
      Effect.gen(function* () {
        const { environments, wheels } = yield* machine
        const { acquire } = yield* environments({ provider, wheels })
        for (const line of ["greeting @ http://127.0.0.1:1/greeting-1.0-py3-none-any.whl", "-f http://127.0.0.1:1/"]) {
          const error = yield* Effect.flip(acquire(recipe(["polite", line]), lines().write, Effect.void))
          assert.include(error.message, `${JSON.stringify(line)} is fetched from its own address, and this worker`)
        }
        const own = Indexes.refusalOf({ wheels }, recipe(["polite", "--index-url https://pypi.example.com/simple"]))
        assert.isNull(own)
      })
    )

    // uv says so itself, and micromamba runs pip.
    it.effect.skipIf(provider !== "venv")("fails with the answer of the index where that is away", () =>
      Effect.gen(function* () {
        const { environments, wheels } = yield* withPip
        const server = yield* Wheels.index(wheels, undefined, 503)
        const { acquire } = yield* environments({ provider, indexUrl: server.url })
        const wanted = recipe([], { conda: ["greeting=1.0"] })
        const error = yield* Effect.flip(acquire(wanted, lines().write, Effect.void))
        assert.match(error.message, /the index at http:\S+\/greeting\/ did not respond: .*503/)
        assert.notInclude(error.message, "Not found in the index")
      })
    )

    it.effect.skipIf(provider === "micromamba")("has pip itself where a list of conda names it", () =>
      Effect.gen(function* () {
        const { environments, wheels } = yield* machine
        const { acquire } = yield* environments({ provider, wheels })
        const said = lines()
        yield* acquire(recipe([], { hasPip: true }), said.write, Effect.void)
        assert.include(said.lines.join("\n"), "pip is a dependency, but could not be installed")
        copyFileSync(Wheels.pipWheel, join(wheels, basename(Wheels.pipWheel)))
        const built = yield* acquire(recipe(["greeting"], { hasPip: true }), lines().write, Effect.void)
        assert.strictEqual(run(built, "import pip, greeting; print(pip.__version__)"), "24.2")
      })
    )

    it.effect("comes from an index with a password, which nothing shows and scripts do not get", () =>
      Effect.gen(function* () {
        const { calls, environments, wheels } = yield* withPip
        const server = yield* Wheels.index(wheels, { user: "robot", password: "hunter/2" })
        const { acquire } = yield* environments({
          provider,
          indexUrl: server.url,
          credentials: { username: "robot", password: Redacted.make("hunter/2") }
        })
        const shown = lines()
        const postInstall = [["sh", "-c", "echo scripts see: $(env)"]] as const
        const built = yield* acquire(recipe(["greeting==1.0"], { postInstall }), shown.write, Effect.void)
        assert.strictEqual(run(built, "import greeting; print(greeting.text)"), "hello from a wheel")
        assert.isTrue(server.requests.some((path) => path.startsWith("/files/greeting-1.0")))
        const all = [shown.lines.join("\n"), readFileSync(join(built.folder, "ready.json"), "utf8")]
        for (const text of [...all, ...calls().map(({ argv }) => argv.join(" "))]) {
          assert.notMatch(text, /hunter/)
        }
        const scripts = shown.lines.findIndex((line) => line.startsWith("scripts see:"))
        assert.isAbove(scripts, 0)
        assert.notMatch(shown.lines.slice(scripts).join("\n"), /PIP_|UV_|127\.0\.0\.1/)
        const wheelsOnly = calls().some(({ env }) => env["PIP_ONLY_BINARY"] === ":all:" || env["UV_NO_BUILD"] === "1")
        assert.isTrue(wheelsOnly)
      })
    )

    it.effect("is not built from source where the index has a password", () =>
      Effect.gen(function* () {
        const { environments } = yield* machine
        const credentials = { username: "robot", password: Redacted.make("hunter2") }
        const { acquire } = yield* environments({ provider, credentials })
        const source = recipe(["greeting @ https://example.com/greeting.zip"])
        const error = yield* Effect.flip(acquire(source, lines().write, Effect.void))
        assert.match(error.message, /is built from source, which is disabled/)
      })
    )
  })
}

withLayer(NodeServices.layer, { excludeTestServices: true })("the tools of environments", (it) => {
  const machineWith = (...names: ReadonlyArray<ProviderName>) =>
    Effect.map(temporary, (root) => {
      const made = Machine.make(root)
      for (const name of names) made.bring(name)
      return made
    })
  const refusals = Effect.fnUntraced(function* (
    machine: ReturnType<typeof Machine.make>,
    wanted: Recipe,
    settings: Settings = {}
  ) {
    const { opinions } = yield* machine.environments(settings)
    return (yield* opinions(wanted)).flatMap(({ provider, refusal }) => (refusal === null ? [provider] : []))
  })

  it.effect("are asked in turn: the first that is there and accepts builds", () =>
    Effect.gen(function* () {
      const all = yield* machineWith("uv", "micromamba")
      assert.deepStrictEqual(yield* refusals(all, recipe(["a"])), ["uv", "micromamba", "venv"])
      assert.deepStrictEqual(yield* refusals(all, recipe(["a"], { conda: ["nodejs=20"] })), ["micromamba"])
      const locked = recipe([], { python: null, project: { pyproject: "", lock: "" } })
      assert.deepStrictEqual(yield* refusals(all, locked), ["uv"])
      assert.deepStrictEqual(yield* refusals(all, recipe(["a"]), { provider: "venv" }), ["venv"])
      assert.deepStrictEqual(yield* refusals(yield* machineWith(), recipe(["a"])), ["venv"])
    })
  )

  it.effect("are looked for along PATH: a shim or a dead link in front of one that works hides nothing", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith("uv", "micromamba")
      const shims = join(machine.root, "shims")
      const dead = join(machine.root, "dead")
      mkdirSync(dead)
      for (const name of ["python3", "python", `python${Machine.pythonVersion}`, "pip3", "uv", "micromamba"]) {
        Wheels.program(shims, name, `echo "pyenv: ${name}: command not found" >&2\nexit 127`)
        symlinkSync(join(machine.root, "gone", name), join(dead, name))
      }
      const path = [shims, dead, machine.machine.PATH].join(":")
      const { acquire, opinions } = yield* machine.environments({ wheels: machine.wheels }, undefined, path)
      const said = (yield* opinions(recipe(["greeting"]))).filter(({ refusal }) => refusal === null)
      assert.deepStrictEqual(
        said.map(({ provider }) => provider),
        ["uv", "micromamba", "venv"]
      )
      const venv = yield* machine.environments({ provider: "venv", wheels: machine.wheels }, undefined, path)
      for (const by of [acquire, venv.acquire]) {
        const built = yield* by(recipe(["greeting==1.0"]), lines().write, Effect.void)
        assert.strictEqual(run(built, "import greeting; print(greeting.text)"), "hello from a wheel")
      }
    })
  )

  it.effect("bring pip by ensurepip where the Python has it", () =>
    Effect.gen(function* () {
      const { environments } = yield* machineWith()
      const { acquire } = yield* environments({ provider: "venv", tools: { python: Machine.pythonProgram } })
      const built = yield* acquire(recipe([], { hasPip: true }), lines().write, Effect.void)
      assert.strictEqual(run(built, "import pip; print('pip')"), "pip")
    })
  )

  it.effect("take packages of conda from the index where that has them, and say so", () =>
    Effect.gen(function* () {
      for (const provider of ["uv", "venv"] as const) {
        const { environments, wheels } = yield* machineOf(provider, "wheelpip")
        const { acquire } = yield* environments({ provider, wheels })
        const said = lines()
        const wanted = recipe(["polite==1.0"], { conda: ["conda-forge::greeting==1.0"] })
        const built = yield* acquire(wanted, said.write, Effect.void)
        assert.strictEqual(run(built, "import polite; print(polite.text)"), "hello from a wheel")
        assert.include(
          said.lines.join("\n"),
          "greeting==1.0 is a conda package: installed from the Python package index"
        )
        const none = recipe(["polite==1.0"], { conda: ["nosuch"] })
        const error = yield* Effect.flip(acquire(none, lines().write, Effect.void))
        assert.match(error.message, /Not found in the index, but in conda: nosuch; install micromamba/)
        const program = recipe([], { conda: ["greeting", "nodejs=20"] })
        const refused = yield* Effect.flip(acquire(program, lines().write, Effect.void))
        assert.match(refused.message, /only in conda: nodejs=20; install micromamba/)
      }
    })
  )

  it.effect("leave packages of conda to micromamba where that is there", () =>
    Effect.gen(function* () {
      const all = yield* machineWith("uv", "micromamba")
      const wanted = recipe(["a"], { conda: ["truststore=0.8.0"] })
      assert.deepStrictEqual(yield* refusals(all, wanted), ["micromamba", "uv", "venv"])
    })
  )

  it.effect("are told the lock of a project, without its development dependencies", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith("uv")
      const { acquire } = yield* machine.environments()
      const project = { pyproject: '[project]\nname = "a"\n', lock: "version = 1\n" }
      const built = yield* acquire(recipe([], { project, source: "pyproject.toml" }), lines().write, Effect.void)
      assert.strictEqual(run(built, "print(1 + 1)"), "2")
      const sync = machine.calls().find(({ argv }) => argv[1] === "sync")
      for (const flag of ["--frozen", "--no-dev", "--no-install-project"]) assert.include(sync?.argv ?? [], flag)
      assert.strictEqual(sync?.env["UV_NO_CONFIG"], "1")
      assert.strictEqual(sync?.env["UV_PROJECT_ENVIRONMENT"], join(built.folder, "env"))
    })
  )

  it.effect("are told packages of conda and further channels by micromamba's file", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith("micromamba")
      const { acquire } = yield* machine.environments({ channels: ["corporate"], wheels: machine.wheels })
      const wanted = recipe(["greeting==1.0"], { conda: ["nodejs=20"] })
      const said = lines()
      const built = yield* acquire(wanted, said.write, Effect.void)
      assert.include(said.lines, "channels: corporate conda-forge")
      assert.strictEqual(run(built, "import greeting; print(greeting.text)"), "hello from a wheel")
      const ready = JSON.parse(readFileSync(join(built.folder, "ready.json"), "utf8"))
      assert.include(ready.installed.join(" "), "nodejs")
      const [create] = machine.installs()
      for (const flag of ["--yes", "--no-rc", "--root-prefix", "--prefix"]) assert.include(create?.argv ?? [], flag)
    })
  )

  it.effect("are told what is too young, where they can leave it out", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith("uv", "micromamba")
      const wanted = recipe(["greeting==1.0"], { excludeNewer: "2026-11-20" })
      // The pip of tests is older than 26.
      assert.deepStrictEqual(yield* refusals(machine, wanted), ["uv"])
      const { opinions } = yield* machine.environments()
      const venv = (yield* opinions(wanted)).find(({ provider }) => provider === "venv")
      assert.match(
        venv?.refusal ?? "",
        /excludeNewer of robot.yaml needs uv, or pip 26\.0 and later on PATH, not pip 24/
      )
      assert.strictEqual(Indexes.pipRefusal({}, wanted, "pip 26.1 from /usr"), null)
      assert.strictEqual(Indexes.ofUv({}, "/c", wanted)["UV_EXCLUDE_NEWER"], "2026-11-20")
      assert.strictEqual(Indexes.ofPip({}, "/c", wanted)["PIP_UPLOADED_PRIOR_TO"], "2026-11-20")
      // Who fills a folder of wheels has chosen.
      const wheels = { wheels: "/w" }
      assert.notProperty(Indexes.ofUv(wheels, "/c", wanted), "UV_EXCLUDE_NEWER")
      assert.deepStrictEqual(yield* refusals(machine, wanted, wheels), ["uv", "micromamba", "venv"])
    })
  )

  it.effect("are told where packages come from, and which certificates to trust", () =>
    Effect.sync(() => {
      const settings: Settings = {
        indexUrl: "https://pypi.example.com/simple",
        extraIndexUrls: ["https://a.example.com", "https://b.example.com"],
        caFile: "/etc/ssl/corporate.pem"
      }
      const pip = Indexes.ofPip(settings, "/c", recipe(["a"]))
      assert.strictEqual(pip["PIP_INDEX_URL"], settings.indexUrl)
      assert.strictEqual(pip["PIP_EXTRA_INDEX_URL"], "https://a.example.com https://b.example.com")
      assert.strictEqual(pip["PIP_CERT"], settings.caFile)
      const uv = Indexes.ofUv(settings, "/c", recipe(["a"]))
      assert.strictEqual(uv["UV_DEFAULT_INDEX"], settings.indexUrl)
      assert.strictEqual(uv["UV_INDEX"], "https://a.example.com https://b.example.com")
      assert.strictEqual(uv["SSL_CERT_FILE"], settings.caFile)
      assert.strictEqual(Indexes.ofMicromamba(settings, "/c", recipe(["a"]))["MAMBA_SSL_VERIFY"], settings.caFile)
      const offline = { wheels: "/srv/wheels" }
      assert.strictEqual(Indexes.ofPip(offline, "/c", recipe(["a"]))["PIP_NO_INDEX"], "1")
      assert.strictEqual(Indexes.ofUv(offline, "/c", recipe(["a"]))["UV_OFFLINE"], "1")
    })
  )
})
