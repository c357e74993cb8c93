/** The time by the clock of the database, which all nodes share. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { isPostgres } from "./Dialect.ts"
import { integer, queryOne, Row } from "./Table.ts"

/** Milliseconds by which the clocks of a machine may part before the database is asked again. */
const tolerance = 1000

const nanosPerMilli = 1_000_000

/**
 * Creates an effect that returns the time by the clock of the database, in milliseconds since 1970: the monotonic clock of this
 * machine plus an offset. The offset is measured each minute, and before anything is told when wall clock and monotonic clock
 * have parted: the machine has slept, which its monotonic clock does not count, or its wall clock was set, maybe wrongly. On SQLite, which
 * has no clock of its own, it is the wall clock.
 */
export const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  if (!isPostgres(sql)) {
    const wall: Effect.Effect<number, SqlError> = Clock.currentTimeMillis
    return wall
  }
  // The system clock, since the `Clock` of tests may be virtual; not set while this runs.
  const begun = Date.now() - performance.now()
  const machine = () => begun + performance.now()

  /** By how much the database is ahead of `machine`; 0 when that is less than the round trip. */
  const offsetNow = Effect.gen(function* () {
    const asked = machine()
    const row = yield* queryOne(
      Row({ millis: integer }),
      sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS millis`
    )
    const answered = machine()
    const offset = (row?.millis ?? answered) - (asked + answered) / 2
    return Math.abs(offset) <= answered - asked + 1 ? 0 : offset
  })
  const read = Clock.clockWith((clock) =>
    Effect.sync(() => {
      const monotonic = Number(clock.monotonicTimeNanosUnsafe()) / nanosPerMilli
      return { monotonic, apart: clock.currentTimeMillisUnsafe() - monotonic }
    })
  )
  const { apart: origin } = yield* read
  let known = { apart: origin, offset: yield* offsetNow }
  const measure = Effect.gen(function* () {
    const { apart } = yield* read
    const measured = { apart, offset: yield* offsetNow }
    known = measured
    return measured
  })
  yield* Effect.ignore(measure).pipe(Effect.delay("1 minute"), Effect.forever, Effect.forkScoped)
  return Effect.gen(function* () {
    const before = yield* read
    if (Math.abs(before.apart - known.apart) <= tolerance) return at(before.monotonic)
    yield* measure
    return at((yield* read).monotonic)
  })

  function at(monotonic: number) {
    return Math.round(origin + monotonic + known.offset)
  }
})
