import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId, ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"

const payments = Flow.make("payments", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, day: Schema.String }),
  success: Schema.NullOr(ProcessRunId),
  error: Schema.Union([Steps.createWorkItem.error, Steps.startRun.error, Steps.awaitCompletion.error]),
  idempotencyKey: ({ day }) => day,
  run: Effect.fnUntraced(function* ({ day, process }) {
    const item = yield* Steps.createWorkItem({ process, payload: { day } })
    const decision = yield* Flow.race("decision", {
      person: Flow.awaitApproval("approval"),
      nobody: Effect.as(Flow.sleep("deadline", "2 days"), { approved: false, by: "nobody", comment: null })
    })
    if (!decision.approved) return null
    const run = yield* Flow.compensate(Steps.startRun({ process, workItems: [item] }), (run) => Steps.stopRun({ run }))
    yield* Steps.awaitCompletion({ run })
    return run
  })
})

/** Give it to your program: what is under way goes on as soon as it is there. */
export const flows = Flow.layer(payments).pipe(
  Layer.provideMerge(FlowEngine.layerSqlite({ file: "data/flows.db" })),
  Layer.provide(ControlRoom.layerConfig)
)

/** Starts the payments of a day, unless they were started; of two callers the second joins. */
export const begin = (process: ProcessId, day: string) => Flow.submit(payments, { process, day })

/** In your web application, when somebody has pressed the button. */
export const approved = (execution: string, by: string) =>
  Flow.approve(execution, "decision[person]/approval", { approved: true, by })
