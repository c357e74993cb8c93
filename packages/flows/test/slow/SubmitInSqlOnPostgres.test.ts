/** `signalbox_submit` and `signalbox_signal`: what a trigger or a program in another language starts, and sends. */
import { assert, describe, it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { partitionOf } from "../../src/internal/model/Partitions.ts"
import { stands } from "../support/DeployedSuite.ts"
import { postgresOptions, postgresUrl, temporarySchema } from "../support/Engines.ts"
import { until } from "../support/Polling.ts"
import { inspect } from "node:util"

const Order = Schema.Struct({ id: Schema.String, lines: Schema.Array(Schema.Finite) })
const gate = Flow.signal("gate", Schema.Void)
const Price = Schema.Struct({ cents: Schema.Int, "with space": Schema.optionalKey(Schema.String) })
const price = Flow.signal("price", Price)
const mail = Flow.inbox("mail", Schema.String)
/** Waits for a price of `a]b\\c`, and then for two messages. */
const quotes = Flow.make("quotes", {
  version: 1,
  input: Schema.String,
  success: Schema.Array(Schema.Unknown),
  error: Schema.Never,
  idempotencyKey: (key) => key,
  signals: [price, mail],
  run: Effect.fnUntraced(function* () {
    const found = yield* price.receive({ key: "a]b\\c" })
    return [found, yield* mail.receive(), yield* mail.receive()]
  })
})
const flowOf = (version: number, limit: ReadonlyArray<Flow.FlowLimit<typeof Order.Type>> = []) =>
  Flow.make("orders", {
    version,
    input: Order,
    success: Schema.Finite,
    error: Schema.Never,
    idempotencyKey: ({ id }) => id,
    tags: ({ lines }) => [`${lines.length} lines`],
    signals: [gate],
    limit,
    run: Effect.fnUntraced(function* ({ id, lines }) {
      if (id.startsWith("waits")) yield* gate.receive()
      return lines.reduce((sum, line) => sum + line, version * 1_000)
    })
  })

/** A program with flows, and another one that only knows the database. */
const test = (
  title: string,
  flows: Layer.Layer<never, never, FlowEngine>,
  body: (other: {
    readonly sql: SqlClient.SqlClient
    readonly schema: string
    readonly submit: (flow: string, key: string, input: unknown, version?: number) => Effect.Effect<string, unknown>
    readonly signal: (key: string, signal: string, value: unknown, message?: string) => Effect.Effect<string, unknown>
  }) => Effect.Effect<void, unknown, FlowEngine>
) =>
  it.live(title, () =>
    Effect.gen(function* () {
      const schema = yield* temporarySchema
      const client = yield* Layer.build(Layer.fresh(PgClient.layer({ url: Redacted.make(postgresUrl) })))
      const sql = Context.get(client, SqlClient.SqlClient)
      const program = Layer.provideMerge(flows, FlowEngine.layerPostgres(postgresOptions(schema)))
      const submit = (flow: string, key: string, input: unknown, version?: number) =>
        Effect.map(
          sql.unsafe<{ readonly id: string }>(
            `SELECT ${schema}.signalbox_submit($1, $2, $3::text::jsonb, $4::float8) AS id`,
            [flow, key, JSON.stringify(input), version ?? null]
          ),
          ([row]) => row?.id ?? ""
        )
      const signal = (key: string, name: string, value: unknown, message?: string) =>
        Effect.map(
          sql.unsafe<{ readonly id: string }>(
            `SELECT ${schema}.signalbox_signal($1, $2, $3, $4::text::jsonb, $5) AS id`,
            ["quotes", key, name, JSON.stringify(value), message ?? null]
          ),
          ([row]) => row?.id ?? ""
        )
      yield* Effect.provide(body({ sql, schema, signal, submit }), Layer.fresh(program))
    }).pipe(Effect.scoped)
  )

const one = { id: "one", lines: [1, 2] }

describe("signalbox_submit", () => {
  test(
    "starts an execution of the newest version that runs, and returns its id; a repeated key returns the same",
    Layer.merge(Flow.layer(flowOf(1)), Flow.layer(flowOf(2))),
    ({ sql, schema, submit }) =>
      Effect.gen(function* () {
        const id = yield* submit("orders", "one", one)
        yield* stands(id, "completed")
        const execution = yield* FlowExecutions.get(id)
        assert.deepInclude(execution, { flow: "orders", version: 2, key: "one", input: one, result: 2_003 })
        assert.deepStrictEqual(execution.tags, ["2 lines"])
        assert.strictEqual(yield* submit("orders", "one", { other: true }), id)
        assert.strictEqual(yield* Flow.submit(flowOf(2), one), id)
        const older = yield* submit("orders", "older", { ...one, id: "older" }, 1)
        yield* stands(older, "completed")
        assert.strictEqual((yield* FlowExecutions.get(older)).result, 1_003)
        const [row] = yield* sql.unsafe<{ readonly partition_no: number }>(
          `SELECT partition_no FROM ${schema}.flow_run WHERE id = $1`,
          [id]
        )
        assert.strictEqual(Number(row?.partition_no), partitionOf(id))
      })
  )

  test("is part of the transaction of a trigger", Flow.layer(flowOf(1)), ({ sql, schema }) =>
    Effect.gen(function* () {
      for (const statement of [
        `CREATE TABLE ${schema}.invoice (id text PRIMARY KEY, total int NOT NULL)`,
        `CREATE FUNCTION ${schema}.on_invoice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          PERFORM ${schema}.signalbox_submit('orders', NEW.id, jsonb_build_object('id', NEW.id, 'lines', json_build_array(NEW.total)));
          RETURN NEW;
        END $$`,
        `CREATE TRIGGER on_invoice AFTER INSERT ON ${schema}.invoice FOR EACH ROW EXECUTE FUNCTION ${schema}.on_invoice()`
      ]) {
        yield* sql.unsafe(statement)
      }
      const insert = (id: string) => sql.unsafe(`INSERT INTO ${schema}.invoice VALUES ('${id}', 7)`)
      yield* Effect.ignore(sql.withTransaction(Effect.andThen(insert("undone"), Effect.fail("no"))))
      yield* sql.withTransaction(insert("a"))
      const handle = yield* Flow.handle(flowOf(1), "a")
      assert.strictEqual(yield* handle.result, 1_007)
      assert.strictEqual((yield* Effect.flip(Flow.handle(flowOf(1), "undone")))._tag, "ExecutionNotFound")
    })
  )

  test("with an input that does not fit ends as failed, and says why", Flow.layer(flowOf(1)), ({ submit }) =>
    Effect.gen(function* () {
      const id = yield* submit("orders", "bad", { id: "bad", lines: ["x"] })
      yield* stands(id, "failed")
      const { failure } = yield* FlowExecutions.get(id)
      assert.strictEqual(failure?.tag, "InvalidInput")
      assert.match(failure?.message ?? "", /^the input of the flow orders: lines\.0: Expected/)
      const none = yield* submit("orders", "null", null)
      yield* stands(none, "failed")
    })
  )

  test(
    "of a flow with a limit waits in its queue",
    Flow.layer(flowOf(1, [{ concurrency: 1, key: ({ lines }) => `${lines.length}` }])),
    ({ submit }) =>
      Effect.gen(function* () {
        const first = yield* submit("orders", "waits 1", { id: "waits 1", lines: [1] })
        yield* until(Effect.map(FlowExecutions.inspect(first), ({ now }) => now.length === 1))
        const second = yield* submit("orders", "waits 2", { id: "waits 2", lines: [1] })
        yield* until(Effect.map(FlowExecutions.get(second), ({ queuedAt }) => queuedAt !== null))
        const { execution, queue } = yield* FlowExecutions.inspect(second)
        assert.deepInclude(execution, { state: "queued", limits: ["1"], tags: ["1 lines"] })
        assert.deepInclude(queue, { key: "1", place: 1, holders: [first] })
        const free = yield* submit("orders", "free", { id: "free", lines: [1, 2] })
        yield* stands(free, "completed")
        assert.deepInclude(yield* FlowExecutions.get(second), { state: "queued", epoch: 1 })
        for (const id of [first, second]) {
          yield* until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length === 1))
          yield* FlowExecutions.signal(id, "gate", null)
          yield* stands(id, "completed")
        }
      })
  )

  test(
    "is refused for a flow that nobody has, and for who was not granted it",
    Flow.layer(flowOf(1)),
    ({ schema, sql, submit }) =>
      Effect.gen(function* () {
        const unknown = yield* Effect.flip(submit("absent", "one", {}))
        assert.match(inspect(unknown, { depth: 9 }), /signalbox_submit: no process has registered the flow absent/)
        // With its version it waits for a program.
        assert.isNotEmpty(yield* submit("absent", "one", {}, 3))
        assert.isNotEmpty(yield* submit("absent", "two", {}))
        const [versions] = yield* sql.unsafe(`SELECT version FROM ${schema}.flow_run WHERE flow_key = 'two'`)
        assert.deepStrictEqual(versions, { version: 3 })
        const [granted] = yield* sql.unsafe(
          `SELECT has_function_privilege('pg_monitor', '${schema}.signalbox_submit(text, text, jsonb, float8)', 'EXECUTE') AS may`
        )
        assert.deepStrictEqual(granted, { may: false })
      })
  )

  test("gets another priority before its input is read, and no other start", Layer.empty, ({ submit }) =>
    Effect.gen(function* () {
      const id = yield* submit("orders", "one", one, 1)
      const refused = yield* Effect.flip(FlowExecutions.reschedule(id, { after: "1 hour" }))
      assert.match(
        refused.message,
        /^after: the execution \S+ was submitted in SQL, and no process has read its input yet/
      )
      yield* FlowExecutions.reschedule(id, { priority: 7 })
      yield* Effect.provide(stands(id, "completed"), Flow.layer(flowOf(1)))
      assert.deepInclude(yield* FlowExecutions.get(id), { priority: 7, tags: ["2 lines"] })
    })
  )

  test("takes keys of any length, as programs do", Flow.layer(flowOf(1)), ({ submit }) =>
    Effect.gen(function* () {
      for (const key of ["k".repeat(500), "k".repeat(501), "𝔵".repeat(250), "𝔵".repeat(251), "a\u{10fffe}b"]) {
        const id = yield* submit("orders", key, { id: key, lines: [1] })
        assert.strictEqual(yield* Flow.submit(flowOf(1), { id: key, lines: [1] }), id)
        assert.strictEqual((yield* FlowExecutions.get(id)).key, key)
        yield* stands(id, "completed")
      }
    })
  )
})

describe("signalbox_signal", () => {
  const awaits = (id: string, kind: string) =>
    until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some((one) => one.kind === kind)))
  const said = <A>(call: Effect.Effect<A, unknown>) =>
    Effect.map(Effect.flip(call), (error) => inspect(error, { depth: 9 }))
  const address = String.raw`price[a\]b\\c]`

  test("sends a signal and messages, which wake the execution in its process", Flow.layer(quotes), ({ signal }) =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(quotes, "one")
      yield* awaits(id, "signal")
      assert.strictEqual(yield* signal("one", address, { cents: 5, "with space": 'a "b" \u0001 \u2028 é 𝔵' }), id)
      yield* awaits(id, "inbox")
      for (const message of ["1", "1", 'm\u0007\n"𝔵'.repeat(200)]) yield* signal("one", "mail", "hello", message)
      yield* stands(id, "completed")
      const first = { cents: 5, "with space": 'a "b" \u0001 \u2028 é 𝔵' }
      assert.deepStrictEqual((yield* FlowExecutions.get(id)).result, [first, "hello", "hello"])
    })
  )

  test(
    "is the signal that the API sends: repeated equal, and refused with another value",
    Flow.layer(quotes),
    (other) =>
      Effect.gen(function* () {
        const { signal } = other
        const id = yield* Flow.submit(quotes, "early", { after: "1 day" })
        yield* signal("early", "price[x]", { cents: 1.0 })
        yield* FlowExecutions.signal(id, "price[x]", { cents: 1 })
        yield* FlowExecutions.signal(id, "price[y]", { "with space": "", cents: 2 })
        yield* signal("early", "price[y]", { cents: 2, "with space": "" })
        const conflict = yield* Effect.flip(FlowExecutions.signal(id, "price[x]", { cents: 3 }))
        assert.strictEqual(conflict._tag, "SignalConflict")
        assert.match(
          yield* said(signal("early", "price[y]", { cents: 3 })),
          /already has another value for the signal price\[y\]/
        )
        const message = "long \u0007 𝔵 ".repeat(90)
        yield* FlowExecutions.signal(id, "mail", "a", { id: message })
        yield* signal("early", "mail", "a", message)
        const { execution } = yield* FlowExecutions.inspect(id)
        assert.deepInclude(execution, { mail: 3, state: "queued", wakeAt: execution.startsAt })
      })
  )

  test("is part of the transaction of its caller", Flow.layer(quotes), ({ sql, signal }) =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(quotes, "one")
      yield* awaits(id, "signal")
      yield* Effect.ignore(sql.withTransaction(Effect.andThen(signal("one", address, { cents: 1 }), Effect.fail("no"))))
      yield* sql.withTransaction(signal("one", address, { cents: 2 }))
      yield* Effect.forEach(["1", "2"], (message) => signal("one", "mail", message, message))
      yield* stands(id, "completed")
      assert.deepStrictEqual((yield* FlowExecutions.get(id)).result, [{ cents: 2 }, "1", "2"])
    })
  )

  test("is taken by the next process, when none runs", Layer.empty, ({ signal, submit }) =>
    Effect.gen(function* () {
      const id = yield* submit("quotes", "one", "one", 1)
      yield* signal("one", address, { cents: 7 })
      yield* Effect.forEach(["1", "2"], (message) => signal("one", "mail", message, message))
      yield* Effect.provide(stands(id, "completed"), Flow.layer(quotes))
    })
  )

  test("refuses what cannot be sent, and records nothing", Flow.layer(quotes), ({ schema, sql, signal }) =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(quotes, "one", { after: "1 day" })
      const ended = yield* Flow.submit(quotes, "ended", { after: "1 day" })
      yield* FlowExecutions.cancel(ended)
      for (const [call, expected] of [
        [signal("absent", "price", {}), /no execution of the flow quotes has the key absent/],
        [signal("ended", "price", {}), /the execution \S+ has ended and accepts no signals/],
        [signal("one", "price[", {}), /expected the name of a signal, or one with a key as in name\[a\], not price\[/],
        [signal("one", "[a]", {}), /expected the name of a signal/],
        [signal("one", "mail", "x", ""), /message_id: expected at least one character/],
        [signal("one", "mail", "x".repeat(1_000_000), "1"), /value: is 1000002 bytes of JSON, more than 1000000/],
        [signal("one", "mail", "signalbox-encrypted:1:x", "1"), /which marks encrypted values/]
      ] as const) {
        assert.match(yield* said(call), expected)
      }
      assert.deepInclude(yield* FlowExecutions.get(id), { mail: 0 })
      const [granted] = yield* sql.unsafe(
        `SELECT has_function_privilege('pg_monitor', '${schema}.signalbox_signal(text, text, text, jsonb, text)', 'EXECUTE') AS may`
      )
      assert.deepStrictEqual(granted, { may: false })
    })
  )
})
