/**
 * The flow of the airports example: turns one work item with the table into a summary of each state. Rows without a state are
 * reported and marked as done.
 */
import { ProcessId, ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { ControlRoomError } from "@signalbox/api/ControlRoomError"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { basename } from "node:path"
import { Summary } from "./tasks.ts"

/** A file of an output could not be written. */
export class SaveFailed extends Schema.TaggedError<SaveFailed>()("SaveFailed", {
  path: Schema.String,
  message: Schema.String
}) {}

/** Saves the files of all outputs into a folder, and returns the summaries. */
export const saveOutputs = Flow.step("saveOutputs", {
  input: Schema.Struct({ run: ProcessRunId, folder: Schema.String }),
  success: Schema.Array(Summary),
  error: Schema.Union([...Steps.collectOutputs.error.members, SaveFailed]),
  run: Effect.fnUntraced(function* ({ folder, run }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const failed = (error: { readonly message: string }) => new SaveFailed({ path: folder, message: error.message })
    yield* Effect.mapError(fs.makeDirectory(folder, { recursive: true }), failed)
    let done = 0
    const save = Effect.fnUntraced(function* (output: Outputs.Output) {
      for (const file of output.files) {
        const bytes = yield* Stream.mkUint8Array(Files.download(file)).pipe(Effect.catchTag("NotFound", failed))
        yield* Effect.mapError(fs.writeFile(path.join(folder, file.name), bytes), failed)
      }
      yield* Flow.progress({ done: ++done })
      return yield* Effect.mapError(Schema.decodeUnknownEffect(Summary)(output.payload), failed)
    })
    return yield* Outputs.stream(run).pipe(Stream.mapEffect(save, { concurrency: 4 }), Stream.runCollect)
  })
})

const Rejected = Schema.Struct({ item: WorkItemId, code: Schema.String, message: Schema.String })

export const summariseAirports = Flow.make("summarise airports", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, table: Schema.String, folder: Schema.String }),
  success: Schema.Struct({
    run: ProcessRunId,
    state: Schema.Literals(["completed", "unresolved"]),
    summaries: Schema.Array(Summary),
    rejected: Schema.Array(Rejected)
  }),
  error: Schema.Union([...Steps.attachFiles.error.members, Steps.NotStarted, SaveFailed, ControlRoomError]),
  idempotencyKey: ({ process, table }) => `${process} ${table}`,
  run: Effect.fnUntraced(function* ({ folder, process, table }) {
    const item = yield* Steps.createWorkItem({ process, payload: { file: basename(table) } })
    yield* Steps.attachFiles({ workItem: item, files: [table] })
    const run = yield* Steps.startRun({ process, workItems: [item] })
    let ended = yield* Steps.awaitCompletion({ run, timeoutMillis: 120_000 })

    // A retry would not help rows without a state: they are reported and marked as done, so that the run completes.
    const failed = yield* Steps.failedItems({ run })
    const rejected = failed.flatMap(({ exception, id }) =>
      exception?.type === "business" ? [{ item: id, code: exception.code, message: exception.message }] : []
    )
    if (rejected.length > 0) {
      yield* Steps.markDone({ workItems: rejected.map(({ item }) => item) })
      ended = yield* Steps.awaitCompletion({ run, timeoutMillis: 10_000 }, { key: "after marking done" })
    }
    const summaries = yield* saveOutputs({ run, folder })
    return { run, state: ended.state, summaries, rejected }
  })
})
