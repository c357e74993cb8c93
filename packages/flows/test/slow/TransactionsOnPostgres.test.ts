import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Str from "effect/String"
import { SqlClient } from "effect/sql/SqlClient"
import { randomUUID } from "node:crypto"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { postgresOptions, postgresUrl, temporarySchema } from "../support/Engines.ts"
import { transactions } from "../support/TransactionsSuite.ts"

/** A client as a program has it: of the driver, and with names that it changes. */
const client = (url: string, schema = "public") =>
  PgClient.layer({
    url: Redacted.make(url),
    startupParameters: { search_path: schema },
    transformResultNames: Str.snakeToCamel,
    transformQueryNames: Str.camelToSnake
  })

/** Its tables are in a schema of its own. */
const ofProgram = Layer.unwrap(
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const schema = yield* temporarySchema
    yield* sql`CREATE SCHEMA ${sql(schema)}`
    return client(postgresUrl, schema)
  })
).pipe(Layer.provide(client(postgresUrl)))

const other = Layer.unwrap(
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const name = `other_${randomUUID().replaceAll("-", "")}`
    yield* Effect.acquireRelease(sql`CREATE DATABASE ${sql.literal(name)}`, () =>
      Effect.ignore(sql`DROP DATABASE ${sql.literal(name)} WITH (FORCE)`)
    )
    const url = new URL(postgresUrl)
    url.pathname = `/${name}`
    return client(url.href)
  })
).pipe(Layer.provide(client(postgresUrl)))

transactions({
  name: "on Postgres",
  layer: Layer.merge(
    ofProgram,
    Layer.unwrap(Effect.map(temporarySchema, (schema) => FlowEngine.layerPostgres(postgresOptions(schema))))
  ),
  other
})
