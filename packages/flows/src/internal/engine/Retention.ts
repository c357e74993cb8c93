/**
 * Deletes executions some time after their end, a few at a time.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Computing from "../ownership/Computing.ts"
import { Journal } from "../journal/Journal.ts"

interface Options {
  readonly completed?: Duration.Input | null
  readonly others?: Duration.Input | null
  readonly keys?: Duration.Input | null
}

const sweepEvery = "1 hour"
const atATime = 200

/** Returns the time before which ended executions are deleted; null: never. */
const before = (now: number, kept: Duration.Input | null): number | null =>
  kept === null ? null : now - Duration.toMillis(kept)

export const layer = ({ completed = "30 days", keys = null, others = "90 days" }: Options) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const journal = yield* Journal
      const all = (step: Effect.Effect<number>) =>
        Effect.repeat(step, { while: (deleted) => Effect.succeed(deleted === atATime) })
      const sweep = Effect.gen(function* () {
        const now = yield* journal.now
        const times = [before(now, completed), before(now, others), before(now, keys)] as const
        if (times[0] !== null) yield* all(journal.expire(["completed"], times[0], atATime))
        if (times[1] !== null) yield* all(journal.expire(["failed", "cancelled"], times[1], atATime))
        if (times[2] !== null) yield* all(journal.forget(times[2], atATime))
        yield* Computing.forget(journal)
      }).pipe(
        Effect.catchDefect((defect) => Effect.logWarning("ended executions could not be deleted, retrying", defect))
      )
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(sweep, Effect.sleep(sweepEvery))))
    })
  )
