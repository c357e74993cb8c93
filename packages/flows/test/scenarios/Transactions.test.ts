import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import { randomUUID } from "node:crypto"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios } = S

const word = Flow.signal("word", Schema.String)
const once = S.flow("once", (text) => say(text))
const waits = S.flow("waits", () => word.receive(), { signals: [word] })

/** A table of the program, in the database of the flows. */
const makeTable = () => {
  const name = `orders_${randomUUID().replaceAll("-", "")}`
  const sql = <A, E>(use: (sql: SqlClient) => Effect.Effect<A, E>) => Effect.flatMap(SqlClient, use)
  return {
    create: sql((sql) => sql`CREATE TABLE ${sql(name)} (id TEXT PRIMARY KEY)`),
    insert: (id: string) => sql((sql) => sql`INSERT INTO ${sql(name)} (id) VALUES (${id})`),
    count: Effect.map(
      sql((sql) => sql`SELECT id FROM ${sql(name)}`),
      (rows) => rows.length
    )
  }
}
/** What the program does with its own client, in its own transaction. */
const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient, (sql) => sql.withTransaction(effect))
const withSql = <A, E, R>(flows: Parameters<typeof program>[0], effect: Effect.Effect<A, E, R>) =>
  program(flows, Effect.provide(effect, S.sqlClient))
const rollback = Effect.fail(new S.Refused({ why: "rollback" }))
const begun = Effect.map(FlowExecutions.list(), ({ executions }) => executions.length)

scenarios("one commit with the caller's tables", () => {
  for (const [name, end, expected] of [
    ["commit", Effect.void, { rows: 1, executions: 1 }],
    ["rollback", rollback, { rows: 0, executions: 0 }]
  ] as const) {
    scenario(
      `dbos: DBOSClient-enqueueInTransaction-${name}`,
      Effect.gen(function* () {
        const table = makeTable()
        const both = Effect.gen(function* () {
          yield* table.create
          yield* Effect.exit(
            within(Effect.andThen(table.insert("x"), Effect.andThen(Flow.submitWithin(once, "x"), end)))
          )
          return { rows: yield* table.count, executions: yield* begun }
        })
        assert.deepStrictEqual(yield* withSql([Flow.layer(once)], both), expected)
      })
    )
  }

  scenario(
    "dbos: DBOSClient-enqueueInTransaction-idempotent",
    Effect.gen(function* () {
      const twice = Effect.gen(function* () {
        const first = yield* within(Flow.submitWithin(once, "x"))
        const second = yield* within(Flow.submitWithin(once, "x"))
        yield* resultOf(once, "x")
        return first === second
      })
      assert.isTrue(yield* withSql([Flow.layer(once)], twice))
      assert.deepStrictEqual(yield* Diary.read, ["x"])
    })
  )

  for (const [name, end, expected] of [
    ["commit", Effect.void, "completed"],
    ["rollback", rollback, "waiting"]
  ] as const) {
    scenario(
      `dbos: DBOSClient-sendInTransaction-${name}`,
      Effect.gen(function* () {
        const sends = Effect.gen(function* () {
          const id = yield* S.waiting(waits)
          yield* Effect.exit(within(Effect.andThen(Flow.signalWithin(waits, "x", word, "hello"), end)))
          if (expected === "completed") yield* S.reaches(id, "completed")
          yield* S.pass(5)
          return yield* S.stateOf(id)
        })
        assert.strictEqual(yield* withSql([Flow.layer(waits)], sends), expected)
      })
    )
  }

  scenario(
    "dbos: bare-tx-wf-functions",
    Effect.gen(function* () {
      const table = makeTable()
      const book = Flow.transaction("book", {
        input: Schema.String,
        success: Schema.String,
        error: Schema.Never,
        run: (id) => Effect.as(table.insert(id), id)
      })
      const books = Flow.make("books", {
        version: 1,
        input: Schema.String,
        success: Schema.String,
        error: Flow.errorsOf(book),
        idempotencyKey: (text) => text,
        run: (id) => book(id)
      })
      const registered = Layer.provide(Flow.layer(books), S.sqlClient)
      const runs = Effect.gen(function* () {
        yield* table.create
        return [yield* resultOf(books, "x"), yield* resultOf(books, "x"), yield* table.count]
      })
      assert.deepStrictEqual(yield* program(registered, Effect.provide(runs, S.sqlClient)), ["x", "x", 1])
    })
  )
})
