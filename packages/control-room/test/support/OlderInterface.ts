/** What programs of the older interface read, and a process whose items a worker takes. */
import * as Processes from "@signalbox/api/Processes"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { processLibrary } from "./OlderClients.ts"
import { Requests } from "./Requests.ts"
import { layer as layerService, linkWorker, Service } from "./Service.ts"

export const Id = Schema.Struct({ id: Schema.String })
export const Started = Schema.Struct({ id: Schema.String, workItemIds: Schema.Array(Schema.String) })
export const Form = Schema.Struct({ url: Schema.String, fields: Schema.Record(Schema.String, Schema.String) })
export const StepRun = Schema.Struct({
  id: Schema.String,
  stepId: Schema.String,
  state: Schema.String,
  result: Schema.NullOr(Schema.String),
  startTs: Schema.NullOr(Schema.String),
  endTs: Schema.NullOr(Schema.String),
  duration: Schema.Finite
})
export const Run = Schema.Struct({
  id: Schema.String,
  state: Schema.String,
  result: Schema.NullOr(Schema.String),
  errorCode: Schema.NullOr(Schema.String),
  processId: Schema.String,
  processName: Schema.String,
  duration: Schema.Finite,
  runNo: Schema.Finite
})
export const RunWithSteps = Schema.Struct({ ...Run.fields, robotRuns: Schema.Array(StepRun) })
export const Item = Schema.Struct({
  id: Schema.String,
  state: Schema.String,
  stateTs: Schema.String,
  createTs: Schema.String,
  processId: Schema.String,
  processName: Schema.String,
  workspaceId: Schema.String,
  processRunId: Schema.NullOr(Schema.String),
  processRunNo: Schema.NullOr(Schema.Finite),
  activityId: Schema.NullOr(Schema.String),
  activityRunId: Schema.NullOr(Schema.String),
  exception: Schema.NullOr(Schema.Struct({ code: Schema.String, type: Schema.String, message: Schema.String })),
  payload: Schema.optionalKey(Schema.Json),
  files: Schema.optionalKey(Schema.Array(Schema.Struct({ fileName: Schema.String, url: Schema.String })))
})
export const listOf = <S extends Schema.ConstraintDecoder<unknown>>(item: S) =>
  Schema.Struct({ data: Schema.Array(item) })
export const Artifact = Schema.Struct({ id: Schema.String, fileName: Schema.String, fileSize: Schema.Finite })
export const Line = Schema.Struct({ seqNo: Schema.Finite, timeStamp: Schema.String, message: Schema.String })

export const layer = Layer.merge(layerService, Requests.layer)

/** A process with a worker for its one step, and the library that was given its id. */
export const world = Effect.gen(function* () {
  const { origin } = yield* Service
  const name = `orders ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name, steps: [{ name: "Consumer", task: { name } }] })
  const worker = yield* linkWorker([name])
  yield* worker.stayAlive
  const reports = yield* WorkerProtocol.makeReports(origin, worker.identity)
  return { process, name, worker, reports, library: yield* processLibrary(process.id) }
})
export type World = Effect.Success<typeof world>

/** Runs the oldest step run that waits, and ends its items as they are told to. */
export const work = Effect.fnUntraced(function* (
  { reports, worker }: Pick<World, "reports" | "worker">,
  exception: { readonly type: "BUSINESS" | "APPLICATION"; readonly code: string; readonly message: string } | null,
  artifacts: ReadonlyArray<string> = []
) {
  const { lease, session } = yield* worker.take
  yield* reports.sendConsole(lease, 0, [
    { timestamp: "2026-11-20T08:15:30.000Z", message: "one" },
    { timestamp: "2026-11-20T08:15:31.000Z", message: "two" }
  ])
  for (const name of artifacts) {
    const bytes = Buffer.from(`content of ${name}`)
    yield* reports.uploadArtifact(lease, { name, size: bytes.length, stream: Stream.succeed(bytes) })
  }
  const payload = yield* session.payload(lease.work_item_id)
  yield* session.release(
    lease.work_item_id,
    exception === null ? { state: "COMPLETED" } : { state: "FAILED", exception }
  )
  yield* worker.protocol.finish(lease, null)
  return { payload, item: lease.work_item_id, stepRun: lease.step_run_id, lease }
})

export const failure = { type: "BUSINESS", code: "INVALID_ORDER", message: "no address" } as const
