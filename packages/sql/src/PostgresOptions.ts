/**
 * Where a Postgres is, and its client on demand: what only names it needs no driver.
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** The driver of Postgres is not installed. */
export class PostgresDriverError extends Schema.TaggedError<PostgresDriverError>()("PostgresDriverError", {
  message: Schema.String
}) {}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted
  /** Where the tables are; created when it is missing. Default: `signalbox`. */
  readonly schema?: string
  /** What the server calls the connections. Default: `signalbox`. */
  readonly applicationName?: string
}

/** Loads the client for Postgres. Fails with `PostgresDriverError` where `@effect/sql-pg` is not installed. */
export const loadClient = Effect.tryPromise({
  try: () => import("./PostgresClient.ts"),
  catch: (cause) =>
    new PostgresDriverError({
      message: `Postgres needs its driver: npm install @effect/sql-pg (${cause instanceof Error ? cause.message : String(cause)})`
    })
})
