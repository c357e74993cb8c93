/**
 * Step runs of packages that describe an environment.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { StepRunId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Machine from "../support/Machine.ts"
import * as PackageWorker from "../support/PackageWorker.ts"
import { until } from "../support/PackageWorker.ts"

const layer = Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici, Logger.layer([]))

const conda = (pip: string, more = "") =>
  `channels: [conda-forge]\ndependencies:\n  - python=${Machine.pythonVersion}\n  - pip:\n    - ${pip}\n${more}`

const main = `import greeting, os
print(greeting.text, os.environ["VIRTUAL_ENV"].startswith(os.environ["EXPECTED"]))
`

withLayer(layer, { excludeTestServices: true })("a step run whose package has a conda.yaml", (it) => {
  const machineWith = Effect.fnUntraced(function* (before = "") {
    return Machine.make(yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped(), before)
  })
  type World = ReturnType<typeof Machine.make>
  const begin = (world: World, environment: string, options: Parameters<typeof PackageWorker.begin>[1] = {}) =>
    PackageWorker.begin(
      [
        { name: "robot.yaml", content: "tasks:\n  t:\n    shell: python main.py\ncondaConfigFile: conda.yaml\n" },
        { name: "conda.yaml", content: environment },
        { name: "main.py", content: main }
      ],
      {
        settings: { wheels: world.wheels },
        machine: world.machine,
        environments: world.folder,
        env: { EXPECTED: world.folder },
        ...options
      }
    )

  it.effect("runs in its environment, built with its lines in the console, and at once the next time", () =>
    Effect.gen(function* () {
      const world = yield* machineWith()
      const first = (yield* begin(world, conda("greeting==1.0"))).script
      yield* until(() => first.finished.has("s1"))
      assert.isNull(first.finished.get("s1"), first.console.join("\n"))
      assert.include(first.console, "hello from a wheel True")
      assert.match(first.console.join("\n"), /Successfully installed greeting-1\.0/)
      assert.match(first.console.join("\n"), /Environment [0-9a-f]{12} of conda\.yaml by venv: built in \d+\.\d s\./)
      assert.deepStrictEqual(first.events, ["DOWNLOAD", "ENVIRONMENT"])
      const [built] = first.environments
      assert.match(built?.digest ?? "", /^[0-9a-f]{64}$/)
      assert.isAbove(built?.seconds ?? 0, 0)
      const second = (yield* begin(world, conda("greeting==1.0"))).script
      yield* until(() => second.finished.has("s1"))
      assert.deepStrictEqual(
        first.environments.map(({ cached, provider }) => ({ cached, provider })),
        [{ cached: false, provider: "venv" }]
      )
      assert.deepStrictEqual(
        second.environments,
        first.environments.map((environment) => ({ ...environment, cached: true }))
      )
      assert.lengthOf(second.console, 2)
      assert.match(second.console[0] ?? "", /by venv: already built\.$/)
      assert.strictEqual(second.console[1], "hello from a wheel True")
    })
  )

  it.effect("is a SETUP_FAILURE that names file and line when it cannot be read", () =>
    Effect.gen(function* () {
      const { script } = yield* begin(yield* machineWith(), conda("./greeting"))
      yield* until(() => script.finished.has("s1"))
      assert.strictEqual(script.finished.get("s1")?.code, "SETUP_FAILURE")
      assert.match(script.finished.get("s1")?.message ?? "", /^conda\.yaml:5: "\.\/greeting" is a path/)
    })
  )

  it.effect("is a SETUP_FAILURE that says of each tool why it does not build it", () =>
    Effect.gen(function* () {
      const { script } = yield* begin(yield* machineWith(), "dependencies: [python=3.10, tesseract=5.3]")
      yield* until(() => script.finished.has("s1"))
      assert.strictEqual(script.finished.get("s1")?.code, "SETUP_FAILURE")
      const message = script.finished.get("s1")?.message ?? ""
      assert.match(message, /uv: packages that exist only in conda: tesseract=5\.3/)
      assert.match(message, /micromamba: micromamba not found on PATH; install it/)
    })
  )

  it.effect("has its time from the end of the build on, which is reported", () =>
    Effect.gen(function* () {
      const world = yield* machineWith("sleep 9")
      const { script } = yield* begin(world, conda("greeting==1.0"), { timeoutSeconds: 8 })
      yield* until(() => script.finished.has("s1"))
      assert.deepStrictEqual(script.builds, ["started", "ended"])
      assert.include(script.console, "hello from a wheel True")
    })
  )

  it.effect("ends while it is built when it is told to stop", () =>
    Effect.gen(function* () {
      const world = yield* machineWith("sleep 600")
      const { script } = yield* begin(world, conda("greeting==1.0"))
      yield* until(() => world.installs().length > 0)
      script.stop = [StepRunId.make("s1")]
      yield* until(() => script.finished.has("s1"))
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
      assert.deepStrictEqual(world.numbered(), [])
    })
  )

  it.effect("ends while it is built, unreported, when its lease is lost", () =>
    Effect.gen(function* () {
      const world = yield* machineWith("sleep 600")
      const { script } = yield* begin(world, conda("greeting==1.0"))
      yield* until(() => world.installs().length > 0)
      script.lost = [StepRunId.make("s1")]
      yield* until(() => world.numbered().length === 0)
      yield* until(() => world.processes().length === 0)
      assert.strictEqual(script.finished.size, 0)
    })
  )

  it.effect("runs in an environment that the step names, where the worker allows its folder", () =>
    Effect.gen(function* () {
      const world = yield* machineWith()
      const { acquire } = yield* world.environments({ wheels: world.wheels })
      const built = yield* acquire(Machine.recipe(["greeting==1.0"]), () => Effect.void, Effect.void)
      const environment = { path: `${built.folder}/env` }
      const allowEnvironments = [world.folder]
      const { script } = yield* begin(world, "", { environment, settings: { allowEnvironments } })
      yield* until(() => script.finished.has("s1"))
      assert.deepStrictEqual(script.console, ["hello from a wheel True"])
      const refused = (yield* begin(world, "", { environment, settings: {} })).script
      yield* until(() => refused.finished.has("s1"))
      assert.strictEqual(refused.finished.get("s1")?.code, "SETUP_FAILURE")
      assert.match(refused.finished.get("s1")?.message ?? "", /is not below an allowed folder/)
    })
  )

  it.effect("may be one with a package.yaml alone", () =>
    Effect.gen(function* () {
      const world = yield* machineWith()
      const dependencies = `conda-forge: [python=${Machine.pythonVersion}]\n  pypi: [greeting=1.0]`
      const content = `tasks: { t: { shell: python src/main.py } }\ndependencies:\n  ${dependencies}\npythonpath: [lib]\n`
      const files = [
        { name: "package.yaml", content },
        { name: "src/main.py", content: "import greeting, helper; print(greeting.text, helper.name)" },
        { name: "lib/helper.py", content: "name = 'helper'" }
      ]
      const { script } = yield* PackageWorker.begin(files, {
        settings: { wheels: world.wheels },
        machine: world.machine,
        environments: world.folder
      })
      yield* until(() => script.finished.has("s1"))
      assert.include(script.console, "hello from a wheel helper")
    })
  )

  it.effect("runs with the programs of the machine where the step says so", () =>
    Effect.gen(function* () {
      const { script } = yield* begin(yield* machineWith(), conda("greeting==1.0"), { environment: "none" })
      yield* until(() => script.finished.has("s1"))
      assert.include(script.console[0] ?? "", "The environment of conda.yaml is not built")
    })
  )

  it.effect("runs with the programs of the machine where environments are not built, and says so", () =>
    Effect.gen(function* () {
      const { script } = yield* begin(yield* machineWith(), conda("greeting==1.0"), { settings: { provider: "none" } })
      yield* until(() => script.finished.has("s1"))
      assert.include(script.console[0] ?? "", "The environment of conda.yaml is not built")
      assert.strictEqual(script.finished.get("s1")?.code, "ROBOT_FAILURE")
    })
  )
})
