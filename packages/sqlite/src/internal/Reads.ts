/**
 * Reads of what is committed. Those that come together are one transaction, so that the file is locked once for all of
 * them. It ends before the next commit, so that nobody reads what was true before an answer that has been given.
 */
import * as Effect from "effect/Effect"
import type { DatabaseSync } from "node:sqlite"

export const make = Effect.fnUntraced(function* (db: DatabaseSync) {
  let scheduled: NodeJS.Immediate | null = null
  const end = () => {
    if (scheduled === null) return
    clearImmediate(scheduled)
    scheduled = null
    // An error such as of the disk has ended it already.
    if (db.isTransaction) db.exec("COMMIT")
  }
  yield* Effect.addFinalizer(() => Effect.sync(end))
  return {
    /** To be called before each read. */
    begin: () => {
      if (db.isTransaction) return
      db.exec("BEGIN")
      scheduled ??= setImmediate(end)
    },
    end
  }
})
