/**
 * Where a Postgres is. Apart from the client, so that what only names it needs no driver.
 */
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
