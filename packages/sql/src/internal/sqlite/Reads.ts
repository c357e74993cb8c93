/**
 * Reads of data that is committed and on the disk. Concurrent reads share one transaction, so that the file is locked
 * once for all of them.
 */
import * as Effect from "effect/Effect"
import type { DatabaseSync } from "node:sqlite"

const SQLITE_BUSY = 5

/** A transient failure, like that of a busy database: callers may retry. */
const snapshotLost = () =>
  Object.assign(new Error("a read failed while a commit was on its way to the disk; try again when it is stored"), {
    errcode: SQLITE_BUSY
  })

export const make = Effect.fnUntraced(function* (db: DatabaseSync) {
  const look = db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1")
  let scheduled: NodeJS.Immediate | null = null
  let pinned = false
  const end = () => {
    clearImmediate(scheduled ?? undefined)
    scheduled = null
    // A failed read may have ended it already.
    if (pinned || !db.isTransaction) return
    try {
      db.exec("COMMIT")
    } catch {
      // Called from the event loop, where an error would end the process. The next read ends or reports it.
    }
  }
  const begin = () => {
    if (pinned) {
      // A disk error has ended the transaction: a new one would see a commit that can still be lost.
      if (!db.isTransaction) throw snapshotLost()
      return
    }
    if (db.isTransaction && scheduled !== null) return
    // A transaction that should have ended could not be.
    db.exec(db.isTransaction ? "ROLLBACK; BEGIN" : "BEGIN")
    scheduled ??= setImmediate(end)
  }
  const unpin = () => {
    pinned = false
    end()
  }
  yield* Effect.addFinalizer(() => Effect.sync(unpin))
  return {
    /** Must be called before each read. Throws while the snapshot of `pin` is lost, until `unpin`. */
    begin,
    /** From now until `unpin`, reads see what is committed now and no later commits. */
    pin: () => {
      end()
      begin()
      // A transaction takes its snapshot at its first read.
      look.get()
      pinned = true
    },
    /** From now on reads see every commit; a writer whose commit was confirmed expects that. */
    unpin
  }
})
