/** What `signalbox init` writes: a task, a flow, a test, and what they need. */

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** The versions that this release was made with. */
const versions = { effect: "~4.1.0", vitest: "^5.1.1", typescript: "~7.0.2", node: "^24.0.0" }

const manifest = (name: string, version: string) =>
  json({
    name,
    private: true,
    type: "module",
    scripts: {
      dev: "signalbox dev",
      start: "signalbox up --tasks tasks.ts",
      flow: "node main.ts",
      test: "vitest run",
      types: "tsc"
    },
    dependencies: {
      "@signalbox/api": `^${version}`,
      "@signalbox/flows": `^${version}`,
      "@signalbox/worker": `^${version}`,
      effect: versions.effect,
      signalbox: `^${version}`
    },
    devDependencies: { "@types/node": versions.node, typescript: versions.typescript, vitest: versions.vitest },
    engines: { node: ">=22.19" }
  })

const tsconfig = json({
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "esnext.disposable", "dom"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true
  },
  include: ["*.ts"]
})

const tasks = `/** What the local workers run. \`signalbox dev\` loads this file again whenever it changes. */
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload }) => Effect.succeed({ greeting: \`Hello, \${payload.name}\` })
})

export const tasks = [greet]
`

const flow = `/** Orchestrates runs: one work item for each name, one run of them all, and its outputs. */
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const greetings = Flow.make("greetings", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, names: Schema.Array(Schema.String) }),
  success: Steps.collectOutputs.success,
  error: Steps.startRun.error,
  idempotencyKey: ({ names }) => names.join(),
  run: Effect.fnUntraced(function* ({ names, process }) {
    const workItems = yield* Flow.forEach("name", names, { key: (name) => name }, (name) =>
      Steps.createWorkItem({ process, payload: { name } })
    )
    const run = yield* Steps.startRun({ process, workItems })
    yield* Steps.awaitCompletion({ run })
    return yield* Steps.collectOutputs({ run })
  })
})

/** Makes the process where there is none yet, and runs the flow. */
export const greetAll = Effect.fn("greetAll")(function* (names: ReadonlyArray<string>) {
  const process = yield* Processes.put({ name: "greetings", steps: [{ name: "greet", task: { name: "greet" } }] })
  return yield* Flow.run(greetings, { process: process.id, names })
})
`

const main = `/** Runs the flow against the control room of this folder, or of SIGNALBOX_BASE_URL. */
import { layerConfig } from "@signalbox/api/node"
import * as Effect from "effect/Effect"
import { greetAll } from "./flow.ts"

const outputs = await Effect.runPromise(Effect.provide(greetAll(process.argv.slice(2)), layerConfig))
for (const { payload } of outputs) console.log(payload)
`

const test = `import * as Effect from "effect/Effect"
import * as Testing from "signalbox/Testing"
import { expect, it } from "vitest"
import { greetAll } from "./flow.ts"
import { tasks } from "./tasks.ts"

it("greets everybody", async () => {
  // A whole control room in memory, with a worker for the tasks.
  const outputs = await Effect.runPromise(Effect.provide(greetAll(["Ada", "Grace"]), Testing.layer({ tasks })))
  const greetings = outputs.map(({ payload }) => payload)
  expect(greetings).toHaveLength(2)
  expect(greetings).toContainEqual({ greeting: "Hello, Ada" })
})
`

/** The files of a new folder, by their paths in it. */
export const files = (name: string, version: string): Readonly<Record<string, string>> => ({
  "package.json": manifest(name, version),
  "tsconfig.json": tsconfig,
  ".gitignore": "node_modules\n.signalbox\n",
  "tasks.ts": tasks,
  "flow.ts": flow,
  "main.ts": main,
  "flow.test.ts": test
})
