import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { program, scenario, scenarios } = S

/** A flow that passes its input through a step. */
const echoOf = <A extends Flow.Codec>(schema: A) => {
  const pass = Flow.step("pass", { input: schema, success: schema, error: Schema.Never, run: Effect.succeed })
  return Flow.make("echo", {
    version: 1,
    input: schema,
    success: schema,
    error: Schema.Never,
    idempotencyKey: () => "echo",
    run: (value) => pass(value)
  })
}

/** What comes back from the step, from the record, and what stands in the record. */
const echoed = <A extends Flow.Codec>(schema: A, value: A["Type"]) => {
  const echo = echoOf(schema)
  const both = Effect.gen(function* () {
    const first = yield* Effect.flatten(S.through(Flow.execute(echo, value)))
    const again = yield* Effect.flatten(S.through(Flow.execute(echo, value)))
    assert.deepStrictEqual(again, first)
    const { id } = yield* Flow.handle(echo, "echo")
    const { input, result } = yield* FlowExecutions.get(id)
    assert.deepStrictEqual(result, input)
    return { value: first, json: input }
  })
  return program(Flow.layer(echo), both)
}

scenarios("values", () => {
  scenario(
    "temporal: data_converter/json",
    Effect.gen(function* () {
      const { json, value } = yield* echoed(Schema.Struct({ spec: Schema.Boolean }), { spec: true })
      assert.deepStrictEqual(value, { spec: true })
      assert.deepStrictEqual(json, { spec: true })
    })
  )

  scenario(
    "temporal: data_converter/binary",
    Effect.gen(function* () {
      const bytes = new Uint8Array([0xde, 0xad, 0xbe, 0xef])
      const { json, value } = yield* echoed(Schema.Uint8ArrayFromBase64, bytes)
      assert.deepStrictEqual(value, bytes)
      assert.strictEqual(json, "3q2+7w==")
    })
  )

  scenario(
    "temporal: data_converter/empty",
    Effect.gen(function* () {
      const { json, value } = yield* echoed(Schema.Null, null)
      assert.isNull(value)
      assert.isNull(json)
    })
  )

  scenario(
    "dbos: return-void",
    Effect.gen(function* () {
      const { value } = yield* echoed(Schema.Void, undefined)
      assert.isUndefined(value)
    })
  )

  scenario(
    "dbos: test-input-schema-date-roundtrip",
    Effect.gen(function* () {
      const at = new Date("2026-11-20T08:00:00.000Z")
      const { json, value } = yield* echoed(Schema.Struct({ at: Schema.Date }), { at })
      assert.deepStrictEqual(value, { at })
      assert.deepStrictEqual(json, { at: "2026-11-20T08:00:00.000Z" })
    })
  )

  scenario(
    "dbos: test-input-schema-coercion",
    Effect.gen(function* () {
      const { json, value } = yield* echoed(Schema.FiniteFromString, 42)
      assert.strictEqual(value, 42)
      assert.strictEqual(json, "42")
    })
  )

  scenario(
    "dbos: Replace revive bigint",
    Effect.gen(function* () {
      const { value } = yield* echoed(Schema.BigIntFromString, 2n ** 70n)
      assert.strictEqual(value, 2n ** 70n)
    })
  )

  scenario(
    "dbos: test-input-schema-rejects-bad-input",
    Effect.gen(function* () {
      const echo = echoOf(Schema.Struct({ amount: Schema.Finite.check(Schema.isGreaterThan(0)) }))
      const refused = Effect.gen(function* () {
        const error = yield* Effect.flip(Flow.submit(echo, { amount: -4 }))
        const { executions } = yield* FlowExecutions.list()
        return { error, begun: executions.length }
      })
      const { begun, error } = yield* program(Flow.layer(echo), refused)
      assert.strictEqual(error._tag, "InvalidInput")
      assert.propertyVal(error, "path", "amount")
      assert.strictEqual(begun, 0)
    })
  )

  for (const [name, input, value, where] of [
    ["nonserializable-step-return", "step", Number.NaN, /the result of the step broken/],
    ["nonserializable-wf-return", "body", Number.NaN, /the result of the flow broken/]
  ] as const) {
    scenario(
      `dbos: ${name}`,
      Effect.gen(function* () {
        const step = Flow.step("broken", {
          input: Schema.Void,
          success: Schema.Finite,
          error: Schema.Never,
          run: () => Effect.succeed(input === "step" ? value : 1)
        })
        const broken = Flow.make("broken", {
          version: 1,
          input: Schema.String,
          success: Schema.Finite,
          error: Schema.Never,
          idempotencyKey: (text) => text,
          run: () => Effect.map(step(undefined), (result) => (input === "body" ? value : result))
        })
        const halt = yield* program(Flow.layer(broken), S.haltOf(broken, "x"))
        assert.match(halt.message, where)
      })
    )
  }
})
