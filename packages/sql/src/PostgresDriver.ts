/**
 * The client for Postgres on demand: its driver, `@effect/sql-pg`, is installed only where there is a Postgres.
 */
import * as Effect from "effect/Effect"
import { PostgresDriverError } from "./PostgresOptions.ts"

/**
 * Loads `PostgresClient`. Fails with `PostgresDriverError` where `@effect/sql-pg` is not installed.
 *
 * ```ts
 * import * as PostgresDriver from "@signalbox/sql/PostgresDriver"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 *
 * const url = Redacted.make("postgres://user@localhost/database")
 * export const client = Layer.unwrap(
 *   Effect.map(PostgresDriver.load, ({ layer }) => layer({ url }))
 * )
 * ```
 */
export const load = Effect.tryPromise({
  try: () => import("./PostgresClient.ts"),
  catch: (cause) =>
    new PostgresDriverError({
      message: `Postgres needs its driver: npm install @effect/sql-pg (${cause instanceof Error ? cause.message : String(cause)})`
    })
})
