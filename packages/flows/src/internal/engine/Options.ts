/**
 * What the layers of engines take.
 */
import type * as Redacted from "effect/Redacted"

export interface SqliteOptions {
  /** The file of the database. It and its folder are made when they are missing. */
  readonly file: string
}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted
  /** Where the tables are; made when it is missing. Default: `signalbox_flows`. */
  readonly schema?: string
}

export interface ClusterOptions extends PostgresOptions {
  /** Where the other runners reach this one. */
  readonly host: string
  readonly port: number
  /** Where this one listens, when that is another address than the one that others reach. Default: `host`. */
  readonly listenHost?: string
}
