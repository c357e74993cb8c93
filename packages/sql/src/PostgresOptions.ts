/**
 * Where a Postgres is. Apart from the client, so that what only names it needs no driver.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** The driver of Postgres is not installed. */
export class PostgresDriverError extends Schema.TaggedError<PostgresDriverError>()("PostgresDriverError", {
  message: Schema.String
}) {}

/** The cause of a `SqlError` at the start: connections do not have the settings that the tables need, as behind a pooler. */
export class PostgresSettingsError extends Schema.TaggedError<PostgresSettingsError>()("PostgresSettingsError", {
  message: Schema.String
}) {}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, of the server or, together with `directUrl`, of a connection pooler. */
  readonly url: Redacted.Redacted
  /**
   * The address of the server itself when `url` leads to a connection pooler, such as PgBouncer in transaction mode. Migrations,
   * notifications and backups use it. Default: `url` is that of the server.
   */
  readonly directUrl?: Redacted.Redacted
  /** Where the tables are; created when it is missing. Default: `signalbox`. */
  readonly schema?: string
  /** What the server calls the connections. Default: `signalbox`. */
  readonly applicationName?: string
}

/** The same database without the pooler. */
export const direct = ({ directUrl, ...options }: PostgresOptions): PostgresOptions =>
  directUrl === undefined ? options : { ...options, url: directUrl }
