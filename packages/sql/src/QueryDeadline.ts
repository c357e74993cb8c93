/**
 * The time limit of a statement on Postgres, including the wait for a connection. After it the statement is cancelled
 * and the request gets a 503: without a limit, a server that died without closing its connections would block every
 * request.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export const QueryDeadline = Context.Reference<Duration.Input>("@signalbox/sql/QueryDeadline", {
  defaultValue: () => Duration.seconds(10)
})

/** For work whose statements take time in proportion to the rows: migrations, sweeps, checks. */
export const unhurried = Effect.provideService(QueryDeadline, Duration.hours(1))
