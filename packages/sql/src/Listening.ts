/**
 * The notifications of Postgres.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"

/** A connection that listens to a channel for as long as it lives; apart from the pool, so that it starves no query. */
export class Listening extends Context.Service<
  Listening,
  {
    /** Emits the texts of a channel until the connection is lost; `begun` runs once no notification can be missed. */
    readonly texts: (channel: string, begun: Effect.Effect<void>) => Stream.Stream<string, SqlError>
  }
>()("@signalbox/sql/Listening") {}
