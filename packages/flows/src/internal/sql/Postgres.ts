/**
 * The schema of the flows in a Postgres.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { FlowEngineError } from "../../FlowErrors.ts"
import type { PostgresOptions } from "../engine/Options.ts"
import { startError } from "./Database.ts"

export const schemaOf = ({ schema = "signalbox_flows" }: PostgresOptions): string => schema

const settings = (options: PostgresOptions): PostgresClient.Options => ({
  url: options.url,
  schema: schemaOf(options),
  applicationName: "signalbox flows"
})

/** Like `layer`, for the cluster: the ids in its tables have 64 bits, and are no numbers. */
export const layerCluster = (options: PostgresOptions) =>
  PgClient.layerFrom(
    Effect.gen(function* () {
      const schema = schemaOf(options)
      const sql = yield* PgClient.make({
        url: options.url,
        applicationName: "signalbox flows",
        keepAlive: "15 seconds",
        startupParameters: { search_path: `"${schema.replaceAll('"', '""')}"`, client_min_messages: "warning" },
        maxConnections: 20
      })
      // Processes that start together create it once.
      yield* sql.withTransaction(
        Effect.andThen(
          sql`SELECT pg_advisory_xact_lock(hashtextextended('signalbox flows schema', 0))`,
          sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`
        )
      )
      return sql
    })
  ).pipe(Layer.catch((error) => Layer.effectContext(Effect.fail(startError(error)))))

/** A client whose tables are in the schema. */
export const layer = (options: PostgresOptions) =>
  Layer.catch(PostgresClient.layer(settings(options)), (error) => Layer.effectContext(Effect.fail(startError(error))))

/**
 * A connection that holds the lock of the schema, as long as it lives: only one process runs the executions of a schema.
 */
export const lock = Effect.fnUntraced(function* (options: PostgresOptions) {
  const schema = schemaOf(options)
  const connection = yield* PostgresClient.connect(settings(options))
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
