/** After failed attempts to sign in, further ones wait: longer each time, and never for good. */
import { integer, queryOne, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../database/Database.ts"

const pauseTable = Table("sign_in_pause", { subject: text, failures: integer, until: integer })

/** Mistyping once costs nothing. */
const free = 2
const longestMillis = 5 * 60_000
/** After this time without a failure, those before are forgotten. */
const forgottenMillis = 24 * 3_600_000

const pauseAfter = (failures: number) =>
  failures <= free ? 0 : Math.min(longestMillis, 1000 * 2 ** (failures - free - 1))

export class SignInPauses extends Context.Service<
  SignInPauses,
  {
    /**
     * Counts an attempt before it is checked, so that many at once are as slow as one after the other. Returns 0, or for how many
     * milliseconds it has to wait; it is then not counted.
     */
    readonly begin: (subject: string) => Effect.Effect<number>
    /** The attempt was neither right nor wrong: it does not count, and those before it still do. */
    readonly uncount: (subject: string) => Effect.Effect<void>
    /** The attempt was right: earlier failures are forgotten. */
    readonly succeeded: (subject: string) => Effect.Effect<void>
    /** Deletes up to this many that are over, and returns how many it deleted. */
    readonly sweep: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/SignInPauses") {
  static readonly layer = Layer.effect(
    SignInPauses,
    Effect.gen(function* () {
      const { millis, sql, transaction } = yield* Database
      return SignInPauses.of({
        begin: Effect.fnUntraced(function* (subject) {
          const now = yield* millis
          // Locks the row, so that of attempts at the same time each sees the one before.
          yield* sql`
            INSERT INTO sign_in_pause ${pauseTable.insert({ subject, failures: 0, until: now })}
            ON CONFLICT (subject) DO UPDATE SET failures = sign_in_pause.failures`
          const row = yield* queryOne(
            pauseTable,
            sql`SELECT ${pauseTable.columns} FROM sign_in_pause WHERE subject = ${subject}`
          )
          if (row === null || row.until > now) return row === null ? 0 : row.until - now
          const failures = row.until <= now - forgottenMillis ? 1 : row.failures + 1
          const until = now + pauseAfter(failures)
          yield* sql`UPDATE sign_in_pause SET ${pauseTable.update({ failures, until })} WHERE subject = ${subject}`
          return 0
        }, transaction),
        uncount: Effect.fnUntraced(function* (subject) {
          yield* sql`
            UPDATE sign_in_pause SET failures = failures - 1, until = ${yield* millis}
            WHERE subject = ${subject} AND failures > 0`
        }),
        succeeded: (subject) => Effect.asVoid(sql`DELETE FROM sign_in_pause WHERE subject = ${subject}`),
        sweep: Effect.fnUntraced(function* (limit) {
          const rows = yield* sql`DELETE FROM sign_in_pause WHERE subject IN (
              SELECT subject FROM sign_in_pause WHERE until <= ${(yield* millis) - forgottenMillis} LIMIT ${limit})
            RETURNING subject`
          return rows.length
        })
      })
    })
  )
}
