/**
 * The schema of the flows in a Postgres.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { FlowEngineError } from "../../FlowErrors.ts"
import type { PostgresOptions } from "../engine/Options.ts"
import { startError } from "./Database.ts"

/** Connections of one process, besides the one that holds the lock. */
const maxConnections = 20

export const schemaOf = ({ schema = "signalbox_flows" }: PostgresOptions): string => schema

const settings = (options: PostgresOptions) => ({
  url: options.url,
  applicationName: "signalbox flows",
  keepAlive: "15 seconds" as const,
  startupParameters: {
    search_path: `"${schemaOf(options).replaceAll('"', '""')}"`,
    client_min_messages: "warning",
    // A process that is gone without a word holds its locks no longer than this.
    tcp_keepalives_idle: "15",
    tcp_keepalives_interval: "5",
    tcp_keepalives_count: "3"
  }
})

/** A client whose tables are in the schema. */
export const layer = (options: PostgresOptions) =>
  PgClient.layerFrom(
    Effect.gen(function* () {
      const sql = yield* PgClient.make({ ...settings(options), maxConnections })
      // Processes that start together make it once.
      yield* sql.withTransaction(
        Effect.andThen(
          sql`SELECT pg_advisory_xact_lock(hashtextextended('signalbox flows schema', 0))`,
          sql`CREATE SCHEMA IF NOT EXISTS ${sql(schemaOf(options))}`
        )
      )
      return sql
    })
  ).pipe(Layer.catch((error) => Layer.effectContext(Effect.fail(startError(error)))))

/**
 * A connection that holds the lock of the schema, as long as it lives: only one process runs the executions of a schema.
 */
export const lock = Effect.fnUntraced(function* (options: PostgresOptions) {
  const schema = schemaOf(options)
  const connection = yield* PgConnection.make(settings(options))
  const refused = new FlowEngineError({
    message:
      `another process runs the flows of the schema ${schema} in this database: stop it first, choose another schema, ` +
      "or use FlowEngine.layerCluster in all of them"
  })
  const query = "SELECT pg_try_advisory_lock(hashtextextended('signalbox flows ' || $1::text, 0)) AS held"
  yield* connection.query(query, [schema]).pipe(
    Effect.filterOrFail(
      ({ rows }) => rows[0]?.["held"] === true,
      () => refused
    ),
    // The server may not have noticed yet that the process before is gone.
    Effect.retry({ while: (error) => error === refused, schedule: Schedule.spaced("250 millis"), times: 8 })
  )
  return connection
})

export type Lock = Effect.Success<ReturnType<typeof lock>>

/** Fails when the lock may be lost. */
export const probe = (connection: Lock) => Effect.timeout(connection.query("SELECT 1", []), "5 seconds")
