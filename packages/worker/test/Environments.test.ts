/**
 * Environments by each tool that builds them: venv for real, uv and micromamba by stand-ins that do the work by venv and
 * pip, so that what is installed really runs.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Wheels from "@signalbox/testkit/Wheels"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { providerNames } from "../src/internal/environments/Settings.ts"
import * as Machine from "./support/Machine.ts"

const { console: lines, recipe, run } = Machine
const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

for (const provider of providerNames) {
  withLayer(NodeServices.layer, { excludeTestServices: true })(`an environment by ${provider}`, (it) => {
    const machine = Effect.map(temporary, (root) => {
      const made = Machine.make(root)
      made.bring(provider)
      return made
    })

    it.effect("is built from a folder of wheels, and then is there", () =>
      Effect.gen(function* () {
        const { environments, installs, wheels } = yield* machine
        const { acquire } = yield* environments({ provider, wheels })
        const first = lines()
        const cold = yield* acquire(recipe(["polite==1.0"]), first.write, Effect.void)
        assert.isFalse(cold.cached)
        assert.strictEqual(run(cold, "import polite; print(polite.text)"), "hello from a wheel")
        assert.isNotEmpty(first.lines)
        const ready = JSON.parse(readFileSync(join(cold.folder, "ready.json"), "utf8"))
        assert.include(ready.installed, "polite==1.0")
        assert.include(ready.installed, "greeting==1.0")
        assert.isAbove(ready.bytes, 0)
        const again = lines()
        const warm = yield* acquire(recipe(["polite==1.0"]), again.write, Effect.void)
        assert.isTrue(warm.cached)
        assert.strictEqual(warm.folder, cold.folder)
        assert.deepStrictEqual(again.lines, [])
        assert.lengthOf(installs(), 1)
      })
    )

    it.effect("cannot be changed by those who run in it", () =>
      Effect.gen(function* () {
        const { environments, wheels } = yield* machine
        const { acquire } = yield* environments({ provider, wheels })
        const built = yield* acquire(recipe(["greeting"]), lines().write, Effect.void)
        const file = run(built, "import greeting; print(greeting.__file__)")
        for (const path of [file, join(file, ".."), join(built.folder, "env")]) {
          assert.strictEqual(statSync(path).mode & 0o222, 0, path)
        }
      })
    )

    const failures = [
      ["of a version that nothing has", ["greeting==9.9"], [], /greeting==9\.9/],
      ["of another hash", [`greeting==1.0 --hash=sha256:${"0".repeat(64)}`], [], /Expected sha256 0{64}/],
      [
        "whose post-install fails",
        ["greeting"],
        [["sh", "-c", "echo out of luck; exit 3"]],
        /exit code 3\nout of luck$/
      ]
    ] as const
    for (const [what, pip, postInstall, message] of failures) {
      it.effect(`${what} is a SETUP_FAILURE with the last lines, and leaves nothing behind`, () =>
        Effect.gen(function* () {
          const { environments, numbered, wheels } = yield* machine
          const { acquire } = yield* environments({ provider, wheels })
          const error = yield* Effect.flip(acquire(recipe(pip, { postInstall }), lines().write, Effect.void))
          assert.strictEqual(error.code, "SETUP_FAILURE")
          assert.match(error.message, /^the environment of conda\.yaml cannot be built: /)
          assert.match(error.message, message)
          assert.deepStrictEqual(numbered(), [])
        })
      )
    }

    it.effect("comes from an index with a password, which nothing shows and scripts do not get", () =>
      Effect.gen(function* () {
        const { calls, environments, wheels } = yield* machine
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
        assert.match(error.message, /is built from source, which this worker does not do/)
      })
    )

    it.effect("sees nothing of the tools' own settings on the machine", () =>
      Effect.gen(function* () {
        const { calls, environments, wheels } = yield* machine
        const { acquire } = yield* environments({ provider, wheels })
        process.env["PIP_INDEX_URL"] = "http://127.0.0.1:1/simple"
        yield* acquire(recipe(["greeting==2.0"]), lines().write, Effect.void).pipe(
          Effect.ensuring(Effect.sync(() => delete process.env["PIP_INDEX_URL"]))
        )
        for (const { env } of calls()) assert.notProperty(env, "PIP_INDEX_URL")
      })
    )
  })
}
