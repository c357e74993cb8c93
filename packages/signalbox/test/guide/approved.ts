import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import type { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"

/** The decision of a person. List it in the `signals` of the flow. */
export const approval = Flow.approval("approval")

/** Starts a run once a person has approved it, within two days; stops it when something later in the flow fails. */
export const startApproved = Effect.fnUntraced(function* (process: ProcessId, workItems: ReadonlyArray<WorkItemId>) {
  const decision = yield* Flow.race("decision", {
    person: approval.receive(),
    nobody: Effect.as(Flow.sleep("deadline", "2 days"), { approved: false, by: "nobody", comment: null })
  })
  if (!decision.approved) return null
  return yield* Flow.compensate(Steps.startRun({ process, workItems }), (run) =>
    Steps.stopRun({ run, terminate: true, reason: "the flow has failed" })
  )
})
