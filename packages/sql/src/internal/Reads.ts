/**
 * Reads of what is committed and on the disk. Those that come together are one transaction, so that the file is locked once
 * for all of them.
 */
import * as Effect from "effect/Effect"
import type { DatabaseSync } from "node:sqlite"

const SQLITE_BUSY = 5

/** A failure that passes, like that of a busy database: callers may try again. */
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
    // A failed read can have ended it already.
    if (pinned || !db.isTransaction) return
    try {
      db.exec("COMMIT")
    } catch {
      // Called from the event loop, where an error would end the process. The next read ends or reports it.
    }
  }
  const begin = () => {
    if (pinned) {
      // An error of the disk has ended the transaction: another one would see a commit that can still be lost.
      if (!db.isTransaction) throw snapshotLost()
      return
    }
    if (db.isTransaction && scheduled !== null) return
    // One that is open although nothing will end it could not be ended.
    db.exec(db.isTransaction ? "ROLLBACK; BEGIN" : "BEGIN")
    scheduled ??= setImmediate(end)
  }
  const unpin = () => {
    pinned = false
    end()
  }
  yield* Effect.addFinalizer(() => Effect.sync(unpin))
  return {
    /** To be called before each read. Throws while what `pin` has promised cannot be kept, until `unpin`. */
    begin,
    /** From now until `unpin`, reads see what is committed now, although more is. */
    pin: () => {
      end()
      begin()
      // A transaction sees what is committed when it reads first.
      look.get()
      pinned = true
    },
    /** From now on reads see everything that is committed, as whoever is told of a commit expects. */
    unpin
  }
})
