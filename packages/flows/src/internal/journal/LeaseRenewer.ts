/**
 * Renews a lease over a connection of its own, for the thread of a process.
 */
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import { promptly } from "@signalbox/sql/Promptly"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { Standing } from "../model/Execution.ts"
import { renewal } from "./sql/Renewal.ts"

export interface Options {
  readonly url: string
  readonly schema: string
  /** A renewal that takes longer fails, and the next one has another connection. */
  readonly timeoutMillis: number
}

export const make = ({ schema, timeoutMillis, url }: Options) => {
  let current: { readonly connection: PgConnection.PgConnection; readonly scope: Scope.Closeable } | null = null

  const close = Effect.suspend(() => {
    if (current === null) return Effect.void
    const { scope } = current
    current = null
    return Scope.close(scope, Exit.void)
  })

  const connected = Effect.gen(function* () {
    if (current !== null) return current.connection
    const scope = yield* Scope.make()
    const options = { url: Redacted.make(url), schema, applicationName: "signalbox flows lease" }
    const connection = yield* Scope.provide(PostgresClient.connect(options), scope).pipe(
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    current = { connection, scope }
    return connection
  })

  return {
    close,
    /** Extends the lease of a process that has a valid one by so many milliseconds from now. */
    renew: (process: string, millis: number, standing: Standing | null) => {
      const { params, text } = renewal(schema, process, millis, standing)
      return Effect.flatMap(connected, (connection) => promptly(connection.query(text, params))).pipe(
        Effect.timeout(timeoutMillis),
        Effect.onError(() => close)
      )
    }
  }
}
