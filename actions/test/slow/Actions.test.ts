/** The actions as GitHub runs them: their bundles as processes, with inputs in the environment, against a real control room. */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { ProcessRunId, TaskPackageId } from "@signalbox/api/contract/Ids"
import * as Task from "@signalbox/worker/Task"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { join } from "node:path"
import * as Embedded from "signalbox/Embedded"

const double = Task.make("double", {
  input: Schema.Struct({ n: Schema.Int }),
  output: Schema.Struct({ n: Schema.Int }),
  run: ({ payload: { n } }) =>
    n === 0
      ? Effect.fail(new Task.BusinessFailure({ code: "NOTHING", message: "nothing to double" }))
      : Effect.succeed({ n: n * 2 })
})
/** Works until its run is stopped. */
const endless = Task.make("endless", { input: Schema.Json, output: Schema.Json, run: () => Effect.never })

/** The bundles, which the job of the release builds too. */
const built = ChildProcess.make("node", [join(import.meta.dirname, "../../build.ts")])

class Folder extends Context.Service<Folder, string>()("test/Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  )
}

const room = Layer.unwrap(
  Effect.gen(function* () {
    yield* Effect.scoped(Effect.flatMap(built, (build) => build.exitCode))
    const data = join(yield* Folder, "room")
    return Embedded.layer({ data, port: 0, tasks: [double, endless], workers: 2 })
  })
)
const layer = room.pipe(
  Layer.provideMerge(Folder.layer),
  Layer.provideMerge(NodeServices.layer),
  Layer.provide(Logger.layer([]))
)

type Name = "start-run" | "upload-package"
type Inputs = Readonly<Record<string, string>>

const variables = (inputs: Inputs) =>
  Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]))

/** Of `action.yml`, which GitHub fills in. */
const defaults = { inputs: "false", wait: "true", "stop-on-cancel": "false" }

/** Starts an action with the connection of the room, and returns the process and where it hands over what it found. */
const start = Effect.fnUntraced(function* (name: Name, inputs: Inputs) {
  const fs = yield* FileSystem.FileSystem
  const { credentials } = yield* Embedded.Embedded
  const files = yield* fs.makeTempDirectoryScoped()
  const [output, summary] = [join(files, "output"), join(files, "summary")]
  for (const file of [output, summary]) yield* fs.writeFileString(file, "")
  const connection = {
    "base-url": credentials.base_url,
    "workspace-id": credentials.workspace_id,
    "api-key": credentials.api_key
  }
  const child = yield* ChildProcess.make(
    process.execPath,
    [join(import.meta.dirname, "..", "..", name, "dist/index.js")],
    {
      cwd: yield* Folder,
      env: {
        ...variables({ ...defaults, ...connection, ...inputs }),
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        GITHUB_REPOSITORY: "acme/robots",
        GITHUB_SHA: "0123456789abcdef",
        // Of pnpm, with the packages of this repository.
        NODE_PATH: ""
      },
      extendEnv: true
    }
  )
  const text = yield* Effect.forkChild(Stream.mkString(Stream.decodeText(child.all)))
  const ended = Effect.gen(function* () {
    const exitCode = yield* child.exitCode
    const given = yield* fs.readFileString(output)
    const outputs = [...given.matchAll(/^(.+)<<(ghadelimiter_\S+)\n([^]*?)\n\2$/gm)].map(([, name, , value]) => [
      name,
      value
    ])
    const printed = yield* Fiber.join(text)
    return {
      exitCode: Number(exitCode),
      printed,
      outputs: Object.fromEntries(outputs) as Record<string, string>,
      summary: yield* fs.readFileString(summary),
      key: connection["api-key"]
    }
  })
  return { child, output, ended }
})

const run = (name: Name, inputs: Inputs) => Effect.scoped(Effect.flatMap(start(name, inputs), ({ ended }) => ended))

const process_ = (task: { readonly name: string }) =>
  Effect.map(
    Processes.put({ name: task.name, steps: [{ name: task.name, task: { name: task.name } }] }),
    ({ id }) => id
  )

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the action", (it) => {
  describe("start-run", () => {
    it.effect("waits for the end, and hands over the run, its state and its outputs", () =>
      Effect.gen(function* () {
        yield* process_(double)
        const { exitCode, key, outputs, printed, summary } = yield* run("start-run", {
          process: "double",
          payload: '{"n":21}'
        })
        assert.strictEqual(exitCode, 0, printed)
        assert.strictEqual(outputs["state"], "completed")
        assert.strictEqual(outputs["outputs"], '[{"n":42}]')
        const ended = yield* ProcessRuns.get(ProcessRunId.make(outputs["run-id"] ?? ""))
        assert.strictEqual(ended.state, "completed")
        assert.include(summary, "double: completed")
        // Once, to tell GitHub what to hide.
        assert.deepStrictEqual(
          printed.split("\n").filter((line) => line.includes(key)),
          [`::add-mask::${key}`]
        )
      })
    )

    it.effect("fails when an item failed, and says why", () =>
      Effect.gen(function* () {
        yield* process_(double)
        const { exitCode, outputs, printed } = yield* run("start-run", { process: "double", payload: '{"n":0}' })
        assert.strictEqual(exitCode, 1)
        assert.strictEqual(outputs["state"], "unresolved")
        assert.include(printed, "::error::the run is unresolved: 1 work items failed (NOTHING)")
      })
    )

    it.effect("names the input that means nothing, and starts no run", () =>
      Effect.gen(function* () {
        yield* process_(double)
        const before = yield* Stream.runCount(ProcessRuns.stream())
        const mistakes: ReadonlyArray<readonly [string, Inputs]> = [
          ["api-key: is missing", { "api-key": "" }],
          ["base-url: expected an address", { "base-url": "robots.example.com" }],
          ["workspace-id: is missing", { "workspace-id": " " }],
          ["process: no process has the name or id dubble", { process: "dubble" }],
          ["payload: expected JSON", { payload: "{n:1}" }],
          ["files: cannot read none.csv", { files: "none.csv" }],
          ["timeout: expected a number with its unit", { timeout: "soon" }],
          ["wait: expected true or false", { wait: "yes" }],
          ["inputs: cannot be combined with payload", { inputs: "true", payload: "1" }]
        ]
        for (const [message, inputs] of mistakes) {
          const { exitCode, printed } = yield* run("start-run", { process: "double", ...inputs })
          assert.strictEqual(exitCode, 1)
          assert.include(printed, `::error::${message}`)
        }
        assert.strictEqual(yield* Stream.runCount(ProcessRuns.stream()), before)
      })
    )

    it.effect("that waits no longer says that the run continues", () =>
      Effect.gen(function* () {
        yield* process_(endless)
        const { exitCode, outputs, printed } = yield* run("start-run", {
          process: "endless",
          payload: "{}",
          timeout: "100 millis"
        })
        assert.strictEqual(exitCode, 1)
        assert.include(printed, "has not ended within 100ms, and continues")
        const id = ProcessRunId.make(outputs["run-id"] ?? "")
        assert.isFalse(ProcessRuns.hasEnded(yield* ProcessRuns.get(id)))
        yield* ProcessRuns.stop(id, { terminate: true })
      })
    )

    for (const stops of [true, false]) {
      it.effect(`of a cancelled job ${stops ? "stops the run when it should" : "lets the run go on"}`, () =>
        Effect.scoped(
          Effect.gen(function* () {
            const process = yield* process_(endless)
            const { child, ended } = yield* start("start-run", {
              process,
              payload: "{}",
              "stop-on-cancel": String(stops)
            })
            const started = ProcessRuns.stream({ process, state: "in_progress" }).pipe(
              Stream.runHead,
              Effect.flatMap(Effect.fromOption)
            )
            const { id } = yield* Effect.retry(started, { schedule: Schedule.spaced("50 millis") })
            // GitHub's first signal.
            yield* child.kill({ killSignal: "SIGINT" })
            const { printed } = yield* ended
            assert.strictEqual(printed.includes("continues"), !stops)
            assert.strictEqual((yield* ProcessRuns.get(id)).state, stops ? "stopping" : "in_progress")
            yield* ProcessRuns.stop(id, { terminate: true })
            yield* ProcessRuns.awaitEnd(id)
          })
        )
      )
    }
  })

  describe("upload-package", () => {
    it.effect("creates the package, and gives it a version when its content changed", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = join(yield* Folder, "robot")
        const write = (task: string) =>
          fs.writeFileString(join(folder, "robot.yaml"), `tasks: { ${task}: { shell: python tasks.py } }\n`)
        yield* fs.makeDirectory(folder)
        const upload = Effect.map(
          run("upload-package", { package: "invoices", path: "robot" }),
          ({ exitCode, outputs, printed }) => {
            assert.strictEqual(exitCode, 0, printed)
            return outputs
          }
        )
        yield* write("Read")
        const [first, same] = [yield* upload, yield* upload]
        yield* write("Write")
        const second = yield* upload
        assert.deepStrictEqual(
          [first, same, second].map(({ version }) => version),
          ["1", "1", "2"]
        )
        const versions = yield* TaskPackages.listVersions(TaskPackageId.make(first["package-id"] ?? ""))
        assert.deepStrictEqual(
          versions.data.map(({ note }) => note),
          ["acme/robots 0123456789ab", "acme/robots 0123456789ab"]
        )
      })
    )

    it.effect("packages a tasks file by the command of its project, which does not see the key", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const project = join(yield* Folder, "project")
        const own = join(project, "node_modules/signalbox")
        yield* fs.makeDirectory(own, { recursive: true })
        // The command as its package has it, but from the sources.
        const command = join(import.meta.dirname, "../../../packages/signalbox/src/bin.ts")
        const files = {
          "node_modules/signalbox/package.json": '{"bin":{"signalbox":"./bin.mjs"}}',
          "node_modules/signalbox/bin.mjs": `await import(${JSON.stringify(command)})`,
          "package.json": '{"name":"greetings","type":"module"}',
          "tasks.ts": `import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const leaked = Object.keys(process.env).filter((name) => /api-key/i.test(name))
if (leaked.length > 0) throw new Error(leaked.join())
export const tasks = [Task.make("greet", { input: Schema.Json, output: Schema.Json, run: () => Effect.succeed(1) })]
`
        }
        for (const [name, text] of Object.entries(files)) yield* fs.writeFileString(join(project, name), text)
        const modules = join(import.meta.dirname, "../../node_modules")
        for (const name of ["@signalbox", "effect", "rolldown"])
          yield* fs.symlink(join(modules, name), join(project, "node_modules", name))
        const { exitCode, outputs, printed } = yield* run("upload-package", {
          package: "greetings",
          path: "project/tasks.ts"
        })
        assert.strictEqual(exitCode, 0, printed)
        const version = yield* TaskPackages.getVersion(TaskPackageId.make(outputs["package-id"] ?? ""), 1)
        assert.deepStrictEqual(
          version.tasks.map(({ name }) => name),
          ["greet"]
        )

        yield* fs.writeFileString(join(project, "tasks.ts"), "export const nothing = 1\n")
        const refused = yield* run("upload-package", { package: "greetings", path: "project/tasks.ts" })
        assert.include(refused.printed, "::error::path: project/tasks.ts must export `tasks`")
        yield* fs.remove(own, { recursive: true })
        const without = yield* run("upload-package", { package: "greetings", path: "project/tasks.ts" })
        assert.include(without.printed, "npm install --save-dev signalbox rolldown")
      })
    )

    it.effect("names a path that leads nowhere", () =>
      Effect.gen(function* () {
        const { exitCode, printed } = yield* run("upload-package", { package: "other", path: "nowhere" })
        assert.strictEqual(exitCode, 1)
        assert.include(printed, "::error::path: cannot read nowhere")
        assert.strictEqual(
          yield* Stream.runCount(Stream.filter(TaskPackages.stream(), ({ name }) => name === "other")),
          0
        )
      })
    )
  })
})
