import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import type { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"

/** The decision of a person. List it in the `signals` of the flow. */
export const approval = Flow.approval("approval")

/**
 * Starts a run if a person approves it within two days; stops it when the flow
 * fails later.
 */
export const startApproved = Effect.fnUntraced(function* (
  process: ProcessId,
  workItems: ReadonlyArray<WorkItemId>
) {
  const decision = yield* Flow.race("decision", {
    person: approval.receive(),
    timeout: Effect.as(Flow.sleep("deadline", "2 days"), {
      approved: false,
      by: "timeout",
      comment: null
    })
  })
  if (!decision.approved) return null
  return yield* Flow.compensate(Steps.startRun({ process, workItems }), (run) =>
    Steps.stopRun({ run, terminate: true, reason: "the flow has failed" })
  )
})
