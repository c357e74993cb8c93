/**
 * A program that accepts orders, each in one transaction with the execution that books it, and is killed while it does.
 * Arguments: the URL of a Postgres and its schema, or a file; how many orders there are in the end; and after how many milliseconds
 * of work the process kills itself, or 0.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import * as Flow from "../../../src/Flow.ts"
import { FlowEngine } from "../../../src/FlowEngine.ts"
import * as FlowExecutions from "../../../src/FlowExecutions.ts"

const [where = "", schema = "", count = "0", life = "0"] = process.argv.slice(2)
const total = Number(count)

/** Fails by the key of the table when the row is written a second time. */
const book = Flow.transaction("book", {
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  run: (order) => Effect.flatMap(SqlClient, (sql) => sql`INSERT INTO ledger (id) VALUES (${order})`)
})
const go = Flow.signal("go", Schema.String)
const books = Flow.make("books", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Flow.errorsOf(book),
  idempotencyKey: (order) => order,
  signals: [go],
  run: Effect.fnUntraced(function* (order) {
    const said = yield* go.receive()
    yield* book(order)
    return said
  })
})

const accept = (n: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const order = `order ${n}`
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`INSERT INTO orders (id) VALUES (${order})`
        yield* Flow.submitWithin(books, order)
      })
    )
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`INSERT INTO said (id) VALUES (${order})`
        yield* Flow.signalWithin(books, order, go, order)
      })
    )
  })

const program = Effect.gen(function* () {
  const sql = yield* SqlClient
  for (const table of ["orders", "said", "ledger"]) {
    yield* sql`CREATE TABLE IF NOT EXISTS ${sql.literal(table)} (id VARCHAR(100) PRIMARY KEY)`
  }
  if (life !== "0") setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(life))
  // An order without its signal was accepted just before a kill.
  const silent = yield* sql<{ readonly id: string }>`SELECT id FROM orders WHERE id NOT IN (SELECT id FROM said)`
  for (const { id } of silent) {
    yield* sql.withTransaction(
      Effect.andThen(sql`INSERT INTO said (id) VALUES (${id})`, Flow.signalWithin(books, id, go, id))
    )
  }
  const [row] = yield* sql<{ readonly n: number | bigint | string }>`SELECT count(*) AS n FROM orders`
  yield* Effect.forEach(
    Array.from({ length: total - Number(row?.n ?? 0) }, (_, n) => Number(row?.n ?? 0) + n),
    (n) => accept(n),
    { discard: true }
  )
  for (;;) {
    const { executions } = yield* FlowExecutions.list({ state: ["queued", "waiting", "running"], limit: 1 })
    if (executions.length === 0) return
    yield* Effect.sleep("20 millis")
  }
})

const engine =
  schema === ""
    ? Layer.provideMerge(FlowEngine.sqlClient, FlowEngine.layerSqlite({ file: where }))
    : Layer.merge(
        FlowEngine.layerPostgres({ url: Redacted.make(where), schema }),
        PgClient.layer({ url: Redacted.make(where), startupParameters: { search_path: `${schema}_program` } })
      )
await Effect.runPromise(Effect.provide(program, Layer.provideMerge(Flow.layer(books), engine)))
