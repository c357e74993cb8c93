import { startServer } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as Redacted from "effect/Redacted"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { filesBelow, rowsOf, secretValues } from "../support/SecretValues.ts"

const server = Effect.acquireRelease(
  Effect.promise(() => startServer()),
  (server) => Effect.promise(() => server.remove())
)

const tables = Effect.flatMap(SqlClient, (sql) =>
  Effect.map(
    sql<{ readonly name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`,
    (rows) => rows.map(({ name }) => name)
  )
)

/** Everything that the server has written to the disk, its log included; the tables, as `pg_dump` reads them. */
const left = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`CHECKPOINT`
  const [where] = yield* sql<{ readonly folder: string }>`SELECT current_setting('data_directory') AS folder`
  return new Map([...filesBelow(where?.folder ?? ""), ...(yield* rowsOf(tables, "t::text"))])
})

secretValues(
  "in the files, the log and the tables of Postgres",
  Effect.map(server, ({ url }) => ({
    engine: (values) => FlowEngine.layerPostgres({ url: Redacted.make(url), values }),
    left
  }))
)
