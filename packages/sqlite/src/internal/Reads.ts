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
    // A failed read can have ended it already.
    if (!db.isTransaction) return
    try {
      db.exec("COMMIT")
    } catch {
      // Called from the event loop, where an error would end the process. The next read ends or reports it.
    }
  }
  yield* Effect.addFinalizer(() => Effect.sync(end))
  return {
    /** To be called before each read. */
    begin: () => {
      // Without `scheduled` it is one that could not be ended.
      if (db.isTransaction && scheduled !== null) return
      db.exec(db.isTransaction ? "ROLLBACK; BEGIN" : "BEGIN")
      scheduled ??= setImmediate(end)
    },
    end
  }
})
