/**
 * A flow that resolves a run that ended `unresolved`: retries items that may succeed, settles others, and asks a person about the
 * rest.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Conflict, ControlRoomError, InvalidRequest, NotFound } from "@signalbox/api/ControlRoomError"
import { ProcessRunId, type WorkItemId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import { awaitCompletion } from "./ControlRoomSteps.ts"
import * as Flow from "./Flow.ts"

const pageSize = 500

const error = Schema.Union([InvalidRequest, NotFound, Conflict, ControlRoomError])

/** Another client may be settling the same items. */
const retry = { attempts: 3, while: ({ _tag }: typeof error.Type) => _tag === "Conflict" }

const isBusiness = ({ exception }: WorkItems.WorkItemListed) => exception?.type === "business"

type ControlRoomRequirement = Effect.Services<ReturnType<typeof WorkItems.retry>>

/** Defines a step that passes matching failed items of a run to `settle`, a page at a time, and returns their number. */
const settling = (
  run: ProcessRunId,
  isFor: (item: WorkItems.WorkItemListed) => boolean,
  settle: (items: ReadonlyArray<WorkItemId>) => Effect.Effect<void, typeof error.Type, ControlRoomRequirement>
) =>
  Effect.gen(function* () {
    // Read to the end first: settled items are no longer in the list.
    const failed = yield* Stream.runCollect(WorkItems.stream({ processRun: run, state: "failed", limit: pageSize }))
    const chosen = failed.filter(isFor).map(({ id }) => id)
    for (let start = 0; start < chosen.length; start += pageSize) yield* settle(chosen.slice(start, start + pageSize))
    return chosen.length
  })

const input = Schema.Struct({ run: ProcessRunId })

const retryFailures = Flow.step("retryFailures", {
  input,
  success: Schema.Finite,
  error,
  retry,
  run: ({ run }) => settling(run, (item) => !isBusiness(item), WorkItems.retry)
})

const markDone = Flow.step("markDone", {
  input: Schema.Struct({ run: ProcessRunId, business: Schema.Boolean }),
  success: Schema.Finite,
  error,
  retry,
  run: ({ business, run }) => settling(run, (item) => !business || isBusiness(item), WorkItems.markAsDone)
})

const countFailures = Flow.step("countFailures", {
  input,
  success: Schema.Struct({ business: Schema.Finite, other: Schema.Finite }),
  error,
  run: ({ run }) =>
    Stream.runFold(
      WorkItems.stream({ processRun: run, state: "failed", limit: pageSize }),
      () => ({ business: 0, other: 0 }),
      ({ business, other }, item) =>
        isBusiness(item) ? { business: business + 1, other } : { business, other: other + 1 }
    )
})

/** The decision of a person about the remaining items. List it in the `signals` of the flow that calls `settleUnresolved`. */
export const escalation = Flow.approval("escalation")

const AtLeastOne = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(1))

/**
 * Settles the failed items of a run that ended `unresolved`, with `Flow.call`:
 *
 * - Items that failed for other than business reasons are retried and awaited, `attempts` times at most (default 3, 0 for none),
 *   after a pause of `delayMillis` (default one minute) that grows by `backoff` (default 2).
 * - Business failures are not retried. With `rest: "markBusinessDone"` they are marked as done, and other items stay failed. With
 *   `rest: "ask"`, the default, a person decides about all remaining items, by the signal `escalation` (list it in the `signals` of
 *   your flow) or `signalbox flows signal`: if approved, all are marked as done; else they stay failed. With `rest: "leave"` they
 *   stay failed.
 *
 * Returns the new state of the run, and how many items were retried, marked as done, and left.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import { awaitCompletion } from "@signalbox/flows/ControlRoomSteps"
 * import * as Flow from "@signalbox/flows/Flow"
 * import { settleUnresolved } from "@signalbox/flows/SettleUnresolved"
 *
 * export const settled = Effect.fnUntraced(function* (run: ProcessRunId) {
 *   const { state } = yield* awaitCompletion({ run })
 *   if (state === "completed") return state
 *   const result = yield* Flow.call(settleUnresolved, {
 *     run,
 *     rest: "markBusinessDone"
 *   })
 *   return result.state
 * })
 * ```
 */
export const settleUnresolved = Flow.make("settleUnresolved", {
  version: 1,
  input: Schema.Struct({
    run: ProcessRunId,
    attempts: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))),
    delayMillis: Schema.optionalKey(AtLeastOne),
    backoff: Schema.optionalKey(AtLeastOne),
    rest: Schema.optionalKey(Schema.Literals(["ask", "markBusinessDone", "leave"]))
  }),
  success: Schema.Struct({
    state: Schema.Literals(["completed", "unresolved"]),
    /** Retried items; an item that failed again counts each time. */
    retried: Schema.Finite,
    markedDone: Schema.Finite,
    /** Items that are still failed. */
    left: Schema.Finite
  }),
  error,
  idempotencyKey: ({ run }) => run,
  signals: [escalation],
  run: Effect.fnUntraced(function* ({ attempts = 3, backoff = 2, delayMillis = 60_000, rest = "ask", run }) {
    let retried = 0
    let failed = yield* countFailures({ run }, { key: "first" })
    for (let attempt = 1; attempt <= attempts && failed.other > 0; attempt++) {
      const key = `${attempt}`
      yield* Flow.sleep("pause", delayMillis * backoff ** (attempt - 1), { key })
      retried += yield* retryFailures({ run }, { key })
      yield* awaitCompletion({ run }, { key })
      failed = yield* countFailures({ run }, { key })
    }
    let markedDone = 0
    if (rest === "ask" && failed.business + failed.other > 0) {
      const { approved } = yield* escalation.receive()
      if (approved) markedDone = yield* markDone({ run, business: false })
    } else if (rest === "markBusinessDone" && failed.business > 0) {
      markedDone = yield* markDone({ run, business: true })
    }
    if (markedDone > 0) failed = yield* countFailures({ run }, { key: "last" })
    const left = failed.business + failed.other
    const state: "completed" | "unresolved" = left === 0 ? "completed" : "unresolved"
    return { state, retried, markedDone, left }
  })
})
