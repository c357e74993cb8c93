/**
 * The flow of the airports example: turns one work item with the table into a summary of each state. Rows without a state are
 * reported and marked as done.
 */
import { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { basename } from "node:path"
import { airports } from "./process.ts"
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
    const failed = (error: { readonly message: string }) =>
      new SaveFailed({ path: folder, message: error.message })
    yield* Effect.mapError(
      fs.makeDirectory(folder, { recursive: true }),
      failed
    )
    let done = 0
    const save = Effect.fnUntraced(function* (output: Outputs.Output) {
      for (const file of output.files) {
        const bytes = yield* Stream.mkUint8Array(Files.download(file)).pipe(
          Effect.catchTag("NotFound", failed)
        )
        yield* Effect.mapError(
          fs.writeFile(path.join(folder, file.name), bytes),
          failed
        )
      }
      yield* Flow.progress({ done: ++done })
      return yield* Effect.mapError(
        Schema.decodeUnknownEffect(Summary)(output.payload),
        failed
      )
    })
    return yield* Outputs.stream(run).pipe(
      Stream.mapEffect(save, { concurrency: 4 }),
      Stream.runCollect
    )
  })
})

const Rejected = Schema.Struct({
  item: WorkItemId,
  code: Schema.String,
  message: Schema.String
})

export const summariseAirports = Flow.make("summarise airports", {
  version: 1,
  input: Schema.Struct({ table: Schema.String, folder: Schema.String }),
  success: Schema.Struct({
    run: ProcessRunId,
    summaries: Schema.Array(Summary),
    rejected: Schema.Array(Rejected)
  }),
  error: Schema.Union([...ProcessSteps.error.members, SaveFailed]),
  idempotencyKey: ({ table }) => table,
  run: Effect.fnUntraced(function* ({ folder, table }) {
    const rejected: Array<typeof Rejected.Type> = []
    const { run } = yield* ProcessSteps.run(
      airports,
      [{ file: basename(table) }],
      {
        files: () => [table],
        timeoutMillis: 120_000,
        // A retry would not help rows without a state: they are reported and marked as done, so that the run completes.
        failures: ({ exception, id }) => {
          if (exception?.type !== "business") return Effect.succeed("fail")
          rejected.push({
            item: id,
            code: exception.code,
            message: exception.message
          })
          return Effect.succeed("settle")
        }
      }
    )
    return { run, summaries: yield* saveOutputs({ run, folder }), rejected }
  })
})
