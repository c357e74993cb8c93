/** A copy of an SQLite file that another process may be writing. */
import * as Effect from "effect/Effect"
import { backup, DatabaseSync } from "node:sqlite"
import { SqliteOpenError } from "./SqliteClient.ts"

/**
 * In one step: it reads one snapshot in a separate thread while others write. With fewer pages a step it would start again
 * after every commit of another process, and might never end. `VACUUM INTO` would block the event loop, and rewrite
 * every page.
 */
const allPages = 2 ** 31 - 1

const errorText = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/**
 * Copies the committed state of a database to a file, by the online backup of SQLite. Writers do not wait.
 *
 * ```ts
 * import * as SqliteBackup from "@signalbox/sql/SqliteBackup"
 *
 * export const copied = SqliteBackup.copy("control-room.db", "copy.db")
 * ```
 */
export const copy = (from: string, to: string): Effect.Effect<void, SqliteOpenError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const failed = (filename: string) => (cause: unknown) =>
        new SqliteOpenError({ filename, message: `cannot copy ${from} to ${to}: ${errorText(cause)}` })
      const source = yield* Effect.acquireRelease(
        Effect.try({ try: () => new DatabaseSync(from, { readOnly: true }), catch: failed(from) }),
        (db) => Effect.sync(() => db.close())
      )
      // The thread cannot be stopped, and reads the database until it ends.
      yield* Effect.uninterruptible(
        Effect.tryPromise({ try: () => backup(source, to, { rate: allPages }), catch: failed(to) })
      )
    })
  )
