import * as PgClient from "@effect/sql-pg/PgClient"
import { dropSchema } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { postgresOptions, postgresUrl, temporarySchema } from "../support/Engines.ts"
import { transactionKills } from "../support/TransactionKills.ts"

const client = (schema: string) =>
  PgClient.layer({ url: Redacted.make(postgresUrl), startupParameters: { search_path: schema } })

transactionKills(
  "on Postgres",
  Effect.gen(function* () {
    const schema = yield* temporarySchema
    const program = `${schema}_program`
    yield* Effect.acquireRelease(
      Effect.flatMap(SqlClient, (sql) => sql`CREATE SCHEMA ${sql(program)}`).pipe(Effect.provide(client("public"))),
      () => dropSchema(postgresUrl, program)
    )
    return {
      args: [postgresUrl, schema],
      layer: Layer.merge(FlowEngine.layerPostgres(postgresOptions(schema)), client(program))
    }
  })
)
