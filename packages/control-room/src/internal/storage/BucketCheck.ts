/** Whether a bucket lets the service do what it does there. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { BlobStore, BucketError } from "../../BlobStore.ts"

const bytes = Buffer.from("signalbox")

/** Failures of the bucket are defects for the service, which responds to each alike. */
const failing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchDefect(effect, (defect) => (defect instanceof BucketError ? Effect.fail(defect) : Effect.die(defect)))

export const run = Effect.gen(function* () {
  const { names, probe, read, remove, sizeOf, stage } = yield* BlobStore
  // One attempt, so that a bucket that cannot be reached is found quickly.
  yield* probe
  const blob = yield* Effect.scoped(Effect.flatMap(stage(Stream.succeed(bytes)), ({ commit }) => commit))
  const found = Buffer.concat(yield* Stream.runCollect(yield* read(blob)))
  yield* Stream.runHead(names)
  yield* remove(blob)
  if (!found.equals(bytes) || (yield* sizeOf(blob)) !== null) {
    const message = `the object ${blob} was written, and then read or deleted with another result`
    return yield* new BucketError({ kind: "bucketRefused", message })
  }
}).pipe(failing)
