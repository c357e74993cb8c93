/** Commits blobs together with the rows that name them. */
import * as Effect from "effect/Effect"
import { BlobStore, type Staged } from "../../BlobStore.ts"
import * as UnusedBlobs from "./UnusedBlobs.ts"

/**
 * Creates a function that commits a staged blob and lets `write` name it; `write` returns the blob that it replaced.
 * The blob is deleted when `write` fails. Uninterruptible, or a blob could be deleted although its row exists.
 */
export const make = Effect.gen(function* () {
  const blobs = yield* BlobStore
  const dropBlobs = yield* UnusedBlobs.make
  return <E>(file: Staged, write: (blob: string) => Effect.Effect<string | null, E>): Effect.Effect<void, E> =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const blob = yield* file.commit
        const replaced = yield* Effect.onError(write(blob), () => blobs.remove(blob))
        if (replaced !== null) yield* dropBlobs([replaced])
      })
    )
})
