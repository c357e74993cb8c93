/**
 * How long a statement may take on Postgres, with the wait for a connection. Then it is cancelled, and the request is a
 * 503: without a limit a server that is gone without closing its connections would hold every request.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export const QueryDeadline = Context.Reference<Duration.Input>("@signalbox/sql/QueryDeadline", {
  defaultValue: () => Duration.seconds(10)
})

/** For work whose statements take as long as there are rows: migrations, sweeps, checks. */
export const unhurried = Effect.provideService(QueryDeadline, Duration.hours(1))
