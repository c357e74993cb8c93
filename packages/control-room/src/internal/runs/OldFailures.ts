/** Gives items that failed before there were groups of failures their fingerprint. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { steady } from "../BackgroundTask.ts"
import * as Chunks from "../store/Chunks.ts"
import { Failures } from "../store/Failures.ts"

/** At the start, and every minute: a node of an older version may still fail items without one. */
export const layerTicking = Layer.effectDiscard(
  Effect.gen(function* () {
    const { fill } = yield* Failures
    yield* Chunks.sweep(fill).pipe(
      steady("grouping failures"),
      Effect.repeat(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  })
)
