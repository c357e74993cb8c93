/**
 * The client of a Postgres that bypasses a connection pooler.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import { isPostgres } from "../../Dialect.ts"

/** Connections to the server itself; without a pooler, the `SqlClient`. */
export class DirectClient extends Context.Service<DirectClient, SqlClient.SqlClient>()("@signalbox/sql/DirectClient") {}

/** Runs an effect on connections to the server itself: poolers limit how long a statement may take. */
export const bypassing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const direct = yield* Effect.serviceOption(DirectClient)
    return yield* Option.isSome(direct) && isPostgres(sql)
      ? Effect.provideService(effect, SqlClient.SqlClient, direct.value)
      : effect
  })
