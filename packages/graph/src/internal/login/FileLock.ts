/**
 * A lock between processes: that of the operating system on a file beside the one it protects, through SQLite. It ends with
 * its process, however that ends, so there is no stale lock to clear away.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { DatabaseSync } from "node:sqlite"
import { TokenStoreError } from "../../TokenStore.ts"

/** The code of SQLite for "another process has it". */
const busy = 5

/** Longer than a renewal takes with all its attempts. */
const patience = Duration.minutes(5)

const failed = (path: string, what: string) =>
  new TokenStoreError({ message: `cannot lock the token file (${path}): ${what}` })

/** Holds the lock until the scope closes; waits while another process has it. */
export const hold = Effect.fnUntraced(function* (path: string): Effect.fn.Return<void, TokenStoreError, Scope.Scope> {
  const db = yield* Effect.acquireRelease(
    Effect.try({
      try: () => new DatabaseSync(path, { timeout: 0 }),
      catch: (cause) => failed(path, cause instanceof Error ? cause.message : "it cannot be opened")
    }),
    (db) => Effect.sync(() => db.close())
  )
  const attempt = Effect.try({
    try: () => db.exec("BEGIN EXCLUSIVE"),
    catch: (cause) =>
      Predicate.hasProperty(cause, "errcode") && cause.errcode === busy
        ? "busy"
        : failed(path, cause instanceof Error ? cause.message : "it is no lock")
  })
  yield* Effect.retry(attempt, {
    while: (error) => error === "busy",
    schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: patience }))
  }).pipe(
    Effect.mapError((error) => (error === "busy" ? failed(path, "another process has held it for too long") : error))
  )
})
