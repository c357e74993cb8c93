/**
 * The notifications of Postgres.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"

/** Listens to a channel on a separate connection, so that it takes none from the pool. */
export class Listening extends Context.Service<
  Listening,
  {
    /**
     * Emits the payloads of a channel until the connection is lost; `begun` runs once no notification can be missed.
     */
    readonly texts: (channel: string, begun: Effect.Effect<void>) => Stream.Stream<string, SqlError>
  }
>()("@signalbox/sql/Listening") {}
