/** The waiting items that step runs are given next. */
import * as Effect from "effect/Effect"
import { isLimited } from "../engine/Limits.ts"
import type { Run } from "../engine/State.ts"
import { type Freed, Limits } from "../store/items/Limits.ts"
import { RunItems } from "../store/items/RunItems.ts"
import type { GivenItem } from "../store/items/StoredItem.ts"

export const make = Effect.gen(function* () {
  const runItems = yield* RunItems
  const limits = yield* Limits

  /** Those under limits are counted as given at once: the caller, which has locked the run, reserves each. */
  const ofLimits = Effect.fnUntraced(function* (
    run: Run,
    step: number,
    worker: string | null,
    most: number,
    freed: Freed
  ) {
    if (run.state !== "in_progress" || !(yield* runItems.mayBeGiven(run, step, worker))) return []
    const ids = yield* limits.take(run, step, most, freed)
    return ids.length === 0 ? [] : yield* runItems.given(ids)
  })

  return {
    /** Up to so many of a step, for step runs of this worker. `freed`: what the transaction has freed of limits. */
    of: (
      run: Run,
      step: number,
      worker: string | null,
      most: number,
      freed: Freed = new Map()
    ): Effect.Effect<ReadonlyArray<GivenItem>> =>
      isLimited(run.steps[step]) ? ofLimits(run, step, worker, most, freed) : runItems.due(run, step, worker, most)
  }
})
