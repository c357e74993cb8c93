/**
 * The places where a task may run, each with the real implementation: in the process of a worker, in a program over
 * HTTP with the token of a step run, and on local files.
 */
import { assert } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Assets from "@signalbox/api/Assets"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Files from "@signalbox/api/Files"
import { layerUploads } from "@signalbox/api/node"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Secrets from "@signalbox/api/Secrets"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Workers from "@signalbox/api/Workers"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Program from "@signalbox/worker/Program"
import type { Robot } from "@signalbox/worker/Robot"
import type * as Task from "@signalbox/worker/Task"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import * as Embedded from "../../src/Embedded.ts"
import * as Testing from "../../src/Testing.ts"

type Texts = Readonly<Record<string, string>>

export interface Item {
  readonly payload: Schema.Json
  readonly files: Texts
}

export interface Setup {
  readonly items: ReadonlyArray<{ readonly payload: Schema.Json; readonly files?: Texts }>
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, Schema.Json>>>>
  readonly assets?: Texts
}

export interface Outcome {
  /** By payload: a service returns them in the order of their step runs. */
  readonly outputs: ReadonlyArray<Item>
  /** As they are afterwards. */
  readonly inputs: ReadonlyArray<Item>
  readonly assets: Texts
  readonly artifacts: Texts
  /** `type code: message` of each item that failed, in order. */
  readonly failures: ReadonlyArray<string>
}

type AnyTask = Task.Task<Task.PayloadSchema, Task.PayloadSchema, Program.Platform | Robot>

/** A program with the robot of its environment. */
export type Work = Effect.Effect<unknown, unknown, Program.Platform>

export interface Place {
  readonly name: string
  readonly runTask: (task: AnyTask, setup: Setup) => Effect.Effect<Outcome>
  /** Separate programs do not run inside a worker. */
  readonly runProgram?: (work: Work, setup: Setup) => Effect.Effect<Outcome>
}

const platform = Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici, layerUploads)
const quiet = Logger.layer([])
const encoder = new TextEncoder()

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-robot-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The texts of all files below a folder, by their paths. */
const textsBelow = (folder: string): Texts =>
  existsSync(folder)
    ? Object.fromEntries(
        readdirSync(folder, { recursive: true, encoding: "utf8" })
          .map((name) => join(folder, name))
          .filter((path) => statSync(path).isFile())
          .map((path) => [relative(folder, path), readFileSync(path, "utf8")])
      )
    : {}

const textOf = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Stream.mkString(Stream.decodeText(bytes))

/** One program of one task, with this environment. */
const programOf = (task: AnyTask): Work =>
  Program.run([task]).pipe(Effect.provide(Stdio.layerTest({ args: Effect.succeed([task.name]) })))

const inEnvironment = (work: Work, env: Readonly<Record<string, string>>) =>
  work.pipe(
    // Another test covers how the program ends; this one its results.
    Effect.exit,
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)),
    Effect.provide(Layer.merge(platform, quiet))
  )

const prepare = Effect.fnUntraced(function* (task: string, setup: Setup) {
  for (const [name, items] of Object.entries(setup.secrets ?? {})) yield* Secrets.put(name, { items })
  for (const [name, text] of Object.entries(setup.assets ?? {})) {
    yield* Assets.put(name, { name, bytes: encoder.encode(text) }, { contentType: "text/plain" })
  }
  const process = yield* Processes.put({ name: "robots", steps: [{ name: "one", task: { name: task } }] })
  const items = yield* Effect.forEach(setup.items, ({ files, payload }) =>
    Effect.gen(function* () {
      const { id } = yield* WorkItems.create({ process: process.id, payload })
      for (const [name, text] of Object.entries(files ?? {})) {
        yield* WorkItems.attachFile(id, { name, bytes: encoder.encode(text) })
      }
      return id
    })
  )
  const run = yield* ProcessRuns.start(process.id, { workItems: items })
  return { run: run.started ? run.id : assert.fail("not started"), items }
})

const observe = Effect.fnUntraced(function* ({ items, run }: Effect.Success<ReturnType<typeof prepare>>) {
  yield* ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })
  const textsOf = (files: ReadonlyArray<Files.File>) =>
    Effect.map(
      Effect.forEach(files, (file) => Effect.map(textOf(Files.download(file)), (text) => [file.name, text] as const)),
      Object.fromEntries<string>
    )
  const outputs = yield* Outputs.stream(run).pipe(
    Stream.mapEffect(({ files, payload }) => Effect.map(textsOf(files), (files) => ({ payload, files }))),
    Stream.runCollect
  )
  const settled = yield* Effect.forEach(items, WorkItems.get)
  const assets = yield* Assets.stream().pipe(
    Stream.mapEffect(({ name }) =>
      Effect.map(textOf(Assets.download(`name:${name}`)), (text) => [name, text] as const)
    ),
    Stream.runCollect
  )
  const artifacts = yield* StepRuns.stream(run).pipe(
    Stream.flatMap(({ id }) =>
      Stream.mapEffect(StepRuns.artifacts(id), (artifact) =>
        Effect.map(textOf(StepRuns.downloadArtifact(id, artifact.id)), (text) => [artifact.name, text] as const)
      )
    ),
    Stream.runCollect
  )
  const outcome: Outcome = {
    outputs,
    inputs: yield* Effect.forEach(settled, ({ files, payload }) =>
      Effect.map(textsOf(files), (files) => ({ payload, files }))
    ),
    assets: Object.fromEntries(assets),
    artifacts: Object.fromEntries(artifacts),
    failures: settled.flatMap(({ exception }) =>
      exception === null ? [] : [`${exception.type} ${exception.code}: ${exception.message}`]
    )
  }
  return outcome
})

const inWorker: Place = {
  name: "in a worker",
  runTask: (task, setup) =>
    Effect.flatMap(prepare(task.name, setup), observe).pipe(
      Effect.provide(
        Testing.layer({ tasks: [task] }).pipe(
          Layer.provideMerge(Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici, quiet))
        )
      ),
      Effect.orDie
    )
}

/** A lease of the step run, the program with the environment from a worker, and the end of the step run. */
const overHttp = (work: Work, task: string, setup: Setup) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const inRoom: Effect.Effect<Outcome, unknown, ControlRoom | Embedded.Embedded | Program.Platform> = Effect.gen(
      function* () {
        const { credentials, origin } = yield* Embedded.Embedded
        const prepared = yield* prepare(task, setup)
        const linkToken = Redacted.make((yield* Workers.createLinkToken()).link_token)
        const identity = yield* WorkerProtocol.link({ origin, linkToken, name: "test", tasks: [task] })
        const protocol = yield* WorkerProtocol.make(origin, identity)
        const [lease] = yield* protocol.lease({ free: 1, tasks: [task], waitSeconds: 5 })
        if (lease === undefined) return assert.fail("no step run to lease")
        yield* protocol.start(lease)
        const host = (name: string) => ({ [`RC_API_${name}_HOST`]: origin, [`RC_API_${name}_TOKEN`]: lease.run_token })
        yield* inEnvironment(work, {
          ...host("PROCESS"),
          ...host("WORKITEM"),
          ...host("SECRET"),
          RC_API_URL_V1: `${origin}/api/v1/`,
          RC_API_TOKEN_V1: lease.run_token,
          RC_WORKSPACE_ID: credentials.workspace_id,
          RC_PROCESS_ID: lease.process_id,
          RC_PROCESS_RUN_ID: lease.process_run_id,
          RC_ACTIVITY_RUN_ID: lease.step_run_id,
          RC_WORKITEM_ID: lease.work_item_id,
          ROBOT_ARTIFACTS: join(folder, "artifacts")
        })
        yield* protocol.finish(lease, null)
        return yield* observe(prepared)
      }
    )
    const outcome = yield* Effect.provide(inRoom, Embedded.layer({ data: join(folder, "data"), port: 0, workers: 0 }))
    return { ...outcome, artifacts: textsBelow(join(folder, "artifacts")) }
  }).pipe(Effect.scoped, Effect.provide(Layer.merge(platform, quiet)), Effect.orDie)

const http: Place = {
  name: "over HTTP",
  runTask: (task, setup) => overHttp(programOf(task), task.name, setup),
  runProgram: (work, setup) => overHttp(work, "program", setup)
}

const LocalItems = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ payload: Schema.Json, files: Schema.Record(Schema.String, Schema.String) }))
)

const readItems = (list: string): ReadonlyArray<Item> =>
  Schema.decodeSync(LocalItems)(readFileSync(list, "utf8")).map(({ files, payload }) => ({
    payload,
    files: Object.fromEntries(
      Object.entries(files).map(([name, path]) => [name, readFileSync(join(dirname(list), path), "utf8")])
    )
  }))

const onFiles = (work: Work, setup: Setup) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
      return path
    }
    const items = setup.items.map(({ files, payload }, index) => ({
      payload,
      files: Object.fromEntries(
        Object.entries(files ?? {}).map(([name, text]) => {
          write(`in/given/${index}-${name}`, text)
          return [name, `given/${index}-${name}`]
        })
      )
    }))
    const input = join(folder, write("in/items.json", JSON.stringify(items)))
    write("secrets.json", JSON.stringify(setup.secrets ?? {}))
    for (const [name, text] of Object.entries(setup.assets ?? {})) write(`assets/${name}`, text)
    const failures: Array<string> = []
    const listener = Logger.make(({ message }) => {
      const text = /^item \d+ of \d+ failed: (.*)$/s.exec(String(message))?.[1]
      if (text !== undefined) failures.push(text.replace(/^[A-Z]+/, (type) => type.toLowerCase()))
    })
    yield* inEnvironment(Effect.provide(work, Logger.layer([listener])), {
      RC_WORKITEM_INPUT_PATH: input,
      RC_WORKITEM_OUTPUT_PATH: join(folder, "out", "items.json"),
      RC_VAULT_SECRETS_FILE: join(folder, "secrets.json"),
      SIGNALBOX_ASSETS: join(folder, "assets"),
      ROBOT_ARTIFACTS: join(folder, "artifacts")
    })
    const outcome: Outcome = {
      outputs: readItems(join(folder, "out", "items.json")),
      inputs: readItems(input),
      assets: textsBelow(join(folder, "assets")),
      artifacts: textsBelow(join(folder, "artifacts")),
      failures
    }
    return outcome
  }).pipe(Effect.scoped)

const files: Place = {
  name: "on local files",
  runTask: (task, setup) => onFiles(programOf(task), setup),
  runProgram: onFiles
}

export const places: ReadonlyArray<Place> = [inWorker, http, files]
