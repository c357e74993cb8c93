import * as SqliteClient from "@signalbox/sql/SqliteClient"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import { randomUUID } from "node:crypto"
import { inspect } from "node:util"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { Store } from "../support/Engines.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, shared } = S

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
/** A step that writes a row, and a flow of it. */
const bookingIn = ({ insert }: ReturnType<typeof makeTable>) => {
  const book = Flow.transaction("book", {
    input: Schema.String,
    success: Schema.String,
    error: Schema.Never,
    run: (id) => Effect.as(insert(id), id)
  })
  const books = Flow.make("books", {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Flow.errorsOf(book),
    idempotencyKey: (text) => text,
    run: (id) => book(id)
  })
  return { books, layer: Layer.provide(Flow.layer(books), S.sqlClient) }
}
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
      const { books, layer } = bookingIn(table)
      const runs = Effect.gen(function* () {
        yield* table.create
        return [yield* resultOf(books, "x"), yield* resultOf(books, "x"), yield* table.count]
      })
      assert.deepStrictEqual(yield* program(layer, Effect.provide(runs, S.sqlClient)), ["x", "x", 1])
    })
  )

  scenario(
    "dbos: DBOSClient-sendInTransaction-idempotent",
    Effect.gen(function* () {
      const sends = Effect.gen(function* () {
        yield* S.waiting(waits)
        for (const value of ["hello", "hello"]) yield* within(Flow.signalWithin(waits, "x", word, value))
        const other = yield* Effect.flip(within(Flow.signalWithin(waits, "x", word, "other")))
        return [other._tag, yield* resultOf(waits, "x")]
      })
      assert.match((yield* withSql([Flow.layer(waits)], sends)).join(), /^(Signal|Execution)Conflict,hello$/)
    })
  )

  scenario(
    "dbos: DBOSClient-enqueue-and-send-in-transaction",
    Effect.gen(function* () {
      const both = Effect.gen(function* () {
        yield* within(Effect.andThen(Flow.submitWithin(waits, "x"), Flow.signalWithin(waits, "x", word, "hello")))
        return yield* resultOf(waits, "x")
      })
      assert.strictEqual(yield* withSql([Flow.layer(waits)], both), "hello")
    })
  )

  scenario(
    "dbos: DBOSClient-in-transaction-rejects-unusable-clients",
    Effect.gen(function* () {
      const other = SqliteClient.layer({ filename: ":memory:" })
      const submits = Effect.gen(function* () {
        const exit = yield* Effect.exit(Effect.provide(within(Flow.submitWithin(once, "x")), other))
        return [Exit.isFailure(exit), yield* begun]
      })
      // Their transaction cannot be that of the flows.
      assert.deepStrictEqual(yield* program(Flow.layer(once), submits), [true, 0])
    })
  )

  scenario(
    "dbos: duplicate-dstransaction",
    Effect.gen(function* () {
      const table = makeTable()
      const { books, layer } = bookingIn(table)
      const runs = Effect.gen(function* () {
        yield* table.create
        const twice = Effect.all([Flow.execute(books, "x"), Flow.execute(books, "x")], { concurrency: 2 })
        return [...(yield* Effect.flatten(S.through(twice))), yield* table.count]
      })
      assert.deepStrictEqual(yield* program(layer, Effect.provide(runs, S.sqlClient)), ["x", "x", 1])
    })
  )

  scenario(
    "dbos: bare-tx-wf-functions, whose statement is refused",
    Effect.gen(function* () {
      const table = makeTable()
      const { books, layer } = bookingIn(table)
      const runs = Effect.gen(function* () {
        yield* table.create
        yield* table.insert("x")
        const error = yield* Effect.flip(resultOf(books, "x"))
        return [error._tag, yield* table.count]
      })
      assert.deepStrictEqual(yield* program(layer, Effect.provide(runs, S.sqlClient)), ["TransactionFailed", 1])
    })
  )
})

/** A value that a statement of the database of the flows returns; `$flows.` stands for their schema. */
const queried = Effect.fnUntraced(function* (statement: string, values: ReadonlyArray<string> = []) {
  const { prefix } = yield* Store
  const sql = yield* SqlClient
  const rows = yield* sql.unsafe<{ readonly value: unknown }>(statement.replaceAll("$flows.", prefix), values)
  return rows.map(({ value }) => value)
})

scenarios("statements of SQL", () => {
  const submit = (flow: string, key: string) =>
    queried("SELECT $flows.signalbox_submit($1, $2, to_jsonb($2::text)) AS value", [flow, key])

  shared(
    "dbos: pg-enqueue",
    Effect.gen(function* () {
      const enqueues = Effect.gen(function* () {
        const [first] = yield* submit("once", "x")
        const [second] = yield* submit("once", "x")
        return [first === second, yield* resultOf(once, "x")]
      })
      assert.deepStrictEqual(yield* withSql([Flow.layer(once)], enqueues), [true, "x"])
      assert.deepStrictEqual(yield* Diary.read, ["x"])
    })
  )

  shared(
    "dbos: pg-enqueue, in a transaction that is rolled back",
    Effect.gen(function* () {
      const enqueues = Effect.andThen(Effect.exit(within(Effect.andThen(submit("once", "x"), rollback))), begun)
      assert.strictEqual(yield* withSql([Flow.layer(once)], enqueues), 0)
    })
  )

  shared(
    "dbos: pg-enqueue, of a flow that nobody has",
    Effect.gen(function* () {
      const error = yield* withSql([Flow.layer(once)], Effect.flip(submit("nobody", "x")))
      assert.match(inspect(error, { depth: 9 }), /no process has registered the flow nobody/)
    })
  )

  scenario(
    "restate: introspection by SQL, of executions",
    Effect.gen(function* () {
      const looks = Effect.gen(function* () {
        yield* resultOf(once, "x")
        yield* S.waiting(waits, "y")
        return yield* queried("SELECT flow || ' ' || state AS value FROM $flows.flows_executions ORDER BY flow")
      })
      const flows = [Flow.layer(once), Flow.layer(waits)]
      assert.deepStrictEqual(yield* withSql(flows, looks), ["once completed", "waits waiting"])
    })
  )

  scenario(
    "restate: introspection by SQL, of steps and waits",
    Effect.gen(function* () {
      const looks = Effect.gen(function* () {
        yield* resultOf(once, "x")
        yield* S.waiting(waits, "y")
        const steps = yield* queried("SELECT path || ' ' || state AS value FROM $flows.flows_steps")
        return [...steps, ...(yield* queried("SELECT path || ' ' || kind AS value FROM $flows.flows_waits"))]
      })
      const flows = [Flow.layer(once), Flow.layer(waits)]
      assert.deepStrictEqual(yield* withSql(flows, looks), ["say succeeded", "word signal"])
    })
  )
})
