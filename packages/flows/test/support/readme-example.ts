import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as TerminalProgress from "@signalbox/flows/TerminalProgress"

export const weather = Flow.make("weather", {
  version: 1,
  input: Schema.Struct({
    process: ProcessId,
    airports: Schema.Array(Schema.String)
  }),
  success: Steps.collectOutputs.success,
  error: Schema.Union([
    Steps.createWorkItem.error,
    Steps.startRun.error,
    Steps.awaitCompletion.error,
    Steps.collectOutputs.error
  ]),
  idempotencyKey: ({ airports }) => airports.join(),
  run: Effect.fnUntraced(function* ({ airports, process }) {
    const workItems = yield* Flow.forEach(
      "airport",
      airports,
      { key: (code) => code, concurrency: 4 },
      (airport) => Steps.createWorkItem({ process, payload: { airport } })
    )
    const run = yield* Steps.startRun({ process, workItems })
    yield* Steps.awaitCompletion({ run, timeoutMillis: 600_000 })
    return yield* Steps.collectOutputs({ run })
  })
})

export const main = (process: ProcessId) =>
  Flow.run(weather, { process, airports: ["VIE", "OSL"] }).pipe(
    Effect.provide([TerminalProgress.layer(), ControlRoom.layerConfig])
  )
