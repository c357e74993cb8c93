import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId, ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"

const approval = Flow.approval("approval")

const payments = Flow.make("payments", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, day: Schema.String }),
  success: Schema.NullOr(ProcessRunId),
  error: Flow.errorsOf(
    Steps.createWorkItem,
    Steps.startRun,
    Steps.awaitCompletion
  ),
  idempotencyKey: ({ day }) => day,
  signals: [approval],
  run: Effect.fnUntraced(function* ({ day, process }) {
    const item = yield* Steps.createWorkItem({ process, payload: { day } })
    const decision = yield* Flow.race("decision", {
      person: approval.receive(),
      timeout: Effect.as(Flow.sleep("deadline", "2 days"), {
        approved: false,
        by: "timeout",
        comment: null
      })
    })
    if (!decision.approved) return null
    const run = yield* Flow.compensate(
      Steps.startRun({ process, workItems: [item] }),
      (run) => Steps.stopRun({ run })
    )
    yield* Steps.awaitCompletion({ run })
    return run
  })
})

/** Provide it to your program: executions continue when it starts. */
export const flows = Flow.layer(payments).pipe(
  Layer.provideMerge(FlowEngine.layerSqlite({ file: "data/flows.db" })),
  Layer.provide(ControlRoom.layerConfig)
)

/** Starts the payments of a day, or joins the execution of this day. */
export const begin = (process: ProcessId, day: string) =>
  Flow.submit(payments, { process, day })

/** In your web application, when a person presses the button. */
export const approved = (day: string, by: string) =>
  Effect.flatMap(Flow.handle(payments, day), (handle) =>
    handle.signal(approval, { approved: true, by, comment: null })
  )
