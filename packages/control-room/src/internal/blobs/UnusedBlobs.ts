/** Deletes the blobs of deleted rows. */
import * as Effect from "effect/Effect"
import { BlobStore } from "../../BlobStore.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"

/**
 * Creates a function that deletes those of these blobs that no row names: when the transaction is committed, or
 * immediately outside of one. A forwarded item shares its blobs, so the last of its rows decides; two transactions that
 * delete a row each both look after their commit, so one of them sees that none is left.
 */
export const make = Effect.gen(function* () {
  const blobs = yield* BlobStore
  const files = yield* Files
  const { sql } = yield* Database
  return (unused: ReadonlyArray<string>): Effect.Effect<void> =>
    unused.length === 0
      ? Effect.void
      : sql.afterCommit(
          Effect.flatMap(files.referenced(unused), (used) =>
            Effect.forEach(
              unused.filter((blob) => !used.has(blob)),
              (blob) => blobs.remove(blob),
              { discard: true }
            )
          )
        )
})
