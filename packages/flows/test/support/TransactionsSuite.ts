/** One commit for rows of a program and for what flows record, over any engine whose database it can write. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { engineOf } from "../../src/internal/engine/EngineOf.ts"
import { until } from "./Polling.ts"
import { stateOf } from "./Running.ts"

interface Options<E> {
  readonly name: string
  /** An engine, and a client of the program. */
  readonly layer: Layer.Layer<FlowEngine | SqlClient, E>
  /** A client of another database. */
  readonly other: Layer.Layer<SqlClient, unknown>
}

class Refused extends Schema.TaggedError<Refused>()("Refused", { order: Schema.String }) {}

const paid = Flow.signal("paid", Schema.Finite)
const common = { version: 1, input: Schema.String, idempotencyKey: (order: string) => order } as const

const waits = Flow.make("waits", {
  ...common,
  success: Schema.Finite,
  error: Schema.Never,
  signals: [paid],
  run: () => paid.receive()
})
const limited = Flow.make("limited", {
  ...common,
  success: Schema.String,
  error: Schema.Never,
  limit: [{ concurrency: 1 }],
  run: (order) => Effect.as(Flow.sleep("a moment", "1 millis"), order)
})

const add = Effect.fnUntraced(function* (table: string, order: string) {
  const sql = yield* SqlClient
  yield* sql`INSERT INTO ${sql.literal(table)} (id) VALUES (${order})`
})
const book = Flow.transaction("book", {
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  run: Effect.fnUntraced(function* (order) {
    yield* add("ledger", order)
    if (order.startsWith("refused")) return yield* new Refused({ order })
    return `booked ${order}`
  })
})
const books = Flow.make("books", {
  ...common,
  success: Schema.String,
  error: Flow.errorsOf(book),
  run: (order) => book(order)
})

const idsIn = (table: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    Effect.map(sql<{ readonly id: string }>`SELECT id FROM ${sql.literal(table)} ORDER BY id`, (rows) =>
      rows.map(({ id }) => id)
    )
  )
const keys = Effect.map(FlowExecutions.list(), ({ executions }) => executions.map(({ key }) => key).toSorted())
const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient, (sql) => sql.withTransaction(effect))

const tables = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient
    for (const table of ["orders", "ledger"]) {
      yield* sql`CREATE TABLE ${sql.literal(table)} (id VARCHAR(100) PRIMARY KEY)`
      yield* Effect.addFinalizer(() => Effect.ignore(sql`DROP TABLE ${sql.literal(table)}`))
    }
  })
)

export const transactions = <E>({ layer, name, other }: Options<E>) => {
  const program = Layer.mergeAll(Flow.layer(waits), Flow.layer(limited), Flow.layer(books), tables).pipe(
    Layer.provideMerge(layer)
  )
  const test = <E2>(title: string, body: Effect.Effect<void, E2, FlowEngine | SqlClient>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(program)))

  describe(`one commit, ${name}`, () => {
    test(
      "an execution begins after the commit of the transaction that submits it",
      Effect.gen(function* () {
        const id = yield* within(
          Effect.gen(function* () {
            yield* add("orders", "one")
            const id = yield* Flow.submitWithin(waits, "one")
            // The names of the program mean what they meant before.
            yield* add("orders", "two")
            assert.strictEqual(yield* Flow.submitWithin(waits, "one"), id)
            return id
          })
        )
        yield* until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length > 0))
        assert.deepStrictEqual(yield* idsIn("orders"), ["one", "two"])
        assert.strictEqual(yield* Flow.submitWithin(waits, "one"), id)
      })
    )

    test(
      "neither the rows nor the execution exist when it is rolled back",
      Effect.gen(function* () {
        const failed = yield* Effect.exit(
          within(
            Effect.gen(function* () {
              yield* add("orders", "one")
              yield* Flow.submitWithin(waits, "one")
              return yield* new Refused({ order: "one" })
            })
          )
        )
        assert.isTrue(Exit.isFailure(failed))
        assert.deepStrictEqual([yield* keys, yield* idsIn("orders")], [[], []])
      })
    )

    test(
      "refuses an input that does not fit, and the rows of its transaction with it",
      Effect.gen(function* () {
        const numbers = Flow.define("waits", {
          ...common,
          input: Schema.Finite,
          idempotencyKey: String,
          success: Schema.Void,
          error: Schema.Never
        })
        const refused = yield* Effect.flip(
          within(Effect.andThen(add("orders", "one"), Flow.submitWithin(numbers, Number.NaN)))
        )
        assert.propertyVal(refused, "_tag", "InvalidInput")
        assert.deepStrictEqual(yield* idsIn("orders"), [])
      })
    )

    test(
      "a signal is sent with the commit, also to an execution of the same transaction",
      Effect.gen(function* () {
        yield* Effect.exit(
          within(
            Effect.gen(function* () {
              yield* Flow.submitWithin(waits, "one")
              yield* Flow.signalWithin(waits, "one", paid, 1)
              return yield* new Refused({ order: "one" })
            })
          )
        )
        yield* within(Effect.andThen(Flow.submitWithin(waits, "one"), Flow.signalWithin(waits, "one", paid, 2)))
        assert.strictEqual(yield* Flow.execute(waits, "one"), 2)
        const conflict = yield* Effect.flip(within(Flow.signalWithin(waits, "one", paid, 3)))
        assert.propertyVal(conflict, "_tag", "SignalConflict")
        const missing = yield* Effect.flip(within(Flow.signalWithin(waits, "two", paid, 3)))
        assert.propertyVal(missing, "_tag", "ExecutionNotFound")
        const id = yield* Flow.submit(waits, "waiting")
        yield* until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length > 0))
        yield* within(Flow.signalWithin(waits, "waiting", paid, 4))
        assert.strictEqual(yield* Flow.execute(waits, "waiting"), 4)
      })
    )

    test(
      "executions of a flow with limits are queued with the commit",
      Effect.gen(function* () {
        yield* within(Effect.forEach(["a", "b", "c"], (order) => Flow.submitWithin(limited, order), { discard: true }))
        for (const order of ["a", "b", "c"]) assert.strictEqual(yield* Flow.execute(limited, order), order)
      })
    )

    test(
      "a step commits its rows and its result together, once for all attempts",
      Effect.gen(function* () {
        const { engine } = yield* engineOf
        const sql = yield* SqlClient
        let runs = 0
        const attempt = engine.journal.once(
          sql,
          { execution: "one", scope: "one/book" },
          Effect.suspend(() => {
            runs++
            return Effect.as(add("ledger", "one"), `run ${runs}`)
          })
        )
        const values = yield* Effect.all([attempt, attempt, attempt], { concurrency: "unbounded" })
        assert.deepStrictEqual([values, runs], [["run 1", "run 1", "run 1"], 1])
        assert.deepStrictEqual(yield* idsIn("ledger"), ["one"])
        assert.strictEqual(yield* Flow.execute(books, "two"), "booked two")
        assert.deepStrictEqual(yield* idsIn("ledger"), ["one", "two"])
      })
    )

    test(
      "a step that fails writes nothing, and fails with its error, or with that of a refused statement",
      Effect.gen(function* () {
        const refused = yield* Effect.flip(Flow.execute(books, "refused"))
        assert.deepStrictEqual(refused, new Refused({ order: "refused" }))
        assert.deepStrictEqual(yield* idsIn("ledger"), [])
        yield* add("ledger", "twice")
        const failed = yield* Effect.flip(Flow.execute(books, "twice"))
        assert.deepInclude(failed, { _tag: "TransactionFailed", step: "book", passing: false })
      })
    )

    test(
      "a plain run is a plain transaction",
      Effect.gen(function* () {
        assert.strictEqual(yield* Flow.run(books, "one"), "booked one")
        yield* Effect.flip(Flow.run(books, "refused"))
        assert.deepStrictEqual(yield* idsIn("ledger"), ["one"])
      })
    )

    it.live("an execution of a version that is drained is refused, and one that exists is joined", () =>
      Effect.gen(function* () {
        const id = yield* Effect.provide(Flow.submit(waits, "there"), Flow.layer(waits))
        yield* Effect.gen(function* () {
          const refused = yield* Effect.flip(within(Effect.andThen(add("orders", "x"), Flow.submitWithin(waits, "x"))))
          assert.deepInclude(refused, { _tag: "FlowDraining", flow: "waits", version: 1 })
          assert.deepStrictEqual([yield* keys, yield* idsIn("orders")], [["there"], []])
          assert.strictEqual(yield* within(Flow.submitWithin(waits, "there")), id)
        }).pipe(Effect.provide(Layer.merge(Flow.layer(waits, { drain: true }), tables)))
      }).pipe(Effect.provide(Layer.fresh(layer)))
    )

    test(
      "a client of another database is refused",
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Effect.provide(Flow.submitWithin(waits, "one"), other))
        assert.isTrue(Exit.isFailure(exit))
        const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : null
        assert.propertyVal(defect, "_tag", "FlowDefect")
        assert.deepStrictEqual(yield* keys, [])
      })
    )

    test(
      "what is recorded of a transaction leaves with its execution",
      Effect.gen(function* () {
        yield* Flow.execute(books, "one")
        const id = yield* Flow.submit(books, "one")
        assert.strictEqual(yield* stateOf(id), "completed")
        const { journal } = (yield* engineOf).engine
        const recorded = Effect.map(
          journal.sql`SELECT scope FROM flow_transaction WHERE execution = ${id}`,
          (rows) => rows.length
        )
        assert.strictEqual(yield* recorded, 1)
        yield* journal.expire(["completed"], Number.MAX_SAFE_INTEGER, 10)
        assert.strictEqual(yield* recorded, 0)
      })
    )
  })
}
