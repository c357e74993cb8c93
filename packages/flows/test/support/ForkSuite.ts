/** Forks: executions that begin with the recorded results of another one. */
import { assert, describe, it } from "@effect/vitest"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import type { FlowEngineError } from "../../src/FlowErrors.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { begin, stands } from "./DeployedSuite.ts"
import type { Store } from "./Engines.ts"
import { until } from "./Polling.ts"

interface Suite {
  readonly name: string
  readonly store: Layer.Layer<Store, FlowEngineError>
}

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

const approval = Flow.approval("approval")
const mail = Flow.inbox("mail", Schema.String)

/** Flows, and what their steps did: the name, and the execution whose idempotency keys they used. */
const makeFlows = () => {
  const did: Array<readonly [step: string, execution: string]> = []
  const does = (name: string) =>
    Flow.step(name, {
      input: Schema.String,
      success: Schema.String,
      error: Refused,
      run: Effect.fnUntraced(function* (text) {
        const keys = yield* IdempotencyKeys
        did.push([name, (yield* keys.next).split("/")[0] ?? ""])
        if (text.endsWith("refused")) return yield* new Refused({ why: text })
        return `${name} of ${text}`
      })
    })
  const of = (
    name: string,
    run: (input: string) => Effect.Effect<string, Refused, Flow.FlowContext<never>>,
    limit: ReadonlyArray<Flow.FlowLimit<string>> = []
  ) =>
    Flow.make(name, {
      version: 1,
      input: Schema.String,
      success: Schema.String,
      error: Refused,
      idempotencyKey: (text) => text,
      signals: [approval, mail],
      tags: () => ["red"],
      limit,
      run
    })
  const orders = of(
    "orders",
    Effect.fnUntraced(function* (input) {
      yield* Flow.compensate(does("reserve")("x"), () => Effect.orDie(does("release")("x")))
      const { by } = yield* approval.receive()
      const charged = yield* does("charge")(`${by} ${input}`)
      yield* does("send")(charged)
      return charged
    })
  )
  const letters = of(
    "letters",
    Effect.fnUntraced(function* () {
      const first = yield* mail.receive()
      yield* does("print")(first)
      const second = yield* mail.receive()
      const third = yield* mail.receive()
      return [first, second, third].join()
    })
  )
  const parents = of(
    "parents",
    Effect.fnUntraced(function* () {
      const child = yield* Effect.orDie(Flow.start(letters, "child", { key: "a" }))
      const result = yield* Effect.orDie(child.result)
      yield* does("send")(result)
      return result
    })
  )
  const limited = of(
    "limited",
    Effect.fnUntraced(function* (input) {
      yield* does("reserve")(input)
      return yield* does("send")(input)
    }),
    [{ concurrency: 1 }]
  )
  const layer = Layer.mergeAll(Flow.layer(orders), Flow.layer(letters), Flow.layer(parents), Flow.layer(limited))
  /** The steps of an execution. */
  const stepsOf = (execution: string) => did.flatMap(([step, by]) => (by === execution ? [step] : []))
  return { orders, letters, parents, limited, layer, does, of: stepsOf }
}
type Made = ReturnType<typeof makeFlows>

const approves = (id: string, by = "ann") =>
  FlowExecutions.signal(id, "approval", { approved: true, by, comment: null })
const awaits = (id: string, path: string) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some((activity) => activity.path === path)))
const resultOf = (id: string) =>
  Effect.map(Effect.andThen(stands(id, "completed"), FlowExecutions.get(id)), ({ result }) => result)

export const forks = ({ name, store }: Suite) => {
  const test = (title: string, body: (made: Made) => Effect.Effect<void, unknown, FlowEngine>) =>
    it.live(title, () =>
      Effect.gen(function* () {
        const made = makeFlows()
        const { on } = yield* begin(made.layer)
        yield* on(body(made))
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(store)))
    )

  const ordered = Effect.fnUntraced(function* ({ orders }: Made, input: string) {
    const id = yield* Flow.submit(orders, input)
    yield* awaits(id, "approval")
    yield* approves(id)
    return id
  })

  describe(`a fork ${name}`, () => {
    test("runs from the step on, with keys of its own, and leaves the source as it is", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "one")
        yield* stands(id, "completed")
        const source = yield* FlowExecutions.history(id)
        const fork = yield* FlowExecutions.fork(id, { from: "charge" })
        assert.strictEqual(yield* resultOf(fork), "charge of ann one")
        assert.deepStrictEqual(made.of(fork), ["charge", "send"])
        assert.deepStrictEqual(yield* FlowExecutions.history(id), source)
        const { flow, key, parent, tags, version } = yield* FlowExecutions.get(fork)
        assert.deepStrictEqual(
          { flow, key, parent, tags, version },
          { flow: "orders", key: "one~fork-1", parent: null, tags: ["red", `fork of ${id}`], version: 1 }
        )
        const { executions } = yield* FlowExecutions.list({ tag: `fork of ${id}` })
        assert.deepStrictEqual(
          executions.map((one) => one.id),
          [fork]
        )
      }))

    test("has the next number, or the key that is given, whose repeat is the same fork", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "one")
        yield* stands(id, "completed")
        yield* FlowExecutions.fork(id, { from: "send" })
        const second = yield* FlowExecutions.fork(id, { from: "send" })
        assert.strictEqual((yield* FlowExecutions.get(second)).key, "one~fork-2")
        const named = yield* FlowExecutions.fork(id, { from: "send", key: "mine" })
        assert.strictEqual(yield* FlowExecutions.fork(id, { from: "send", key: "mine" }), named)
        const taken = yield* Effect.flip(FlowExecutions.fork(id, { from: "send", key: "one" }))
        assert.match(taken.message, /^key: another execution of orders has the key "one"$/)
      }))

    test("keeps what was received before the step, and waits anew from a wait on", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "one")
        yield* stands(id, "completed")
        const fork = yield* FlowExecutions.fork(id, { from: "approval" })
        yield* awaits(fork, "approval")
        assert.deepStrictEqual(made.of(fork), [])
        yield* approves(fork, "bob")
        assert.strictEqual(yield* resultOf(fork), "charge of bob one")
        assert.deepStrictEqual(made.of(fork), ["charge", "send"])
      }))

    test("gets the messages of an inbox that had arrived, each once", (made) =>
      Effect.gen(function* () {
        const id = yield* Flow.submit(made.letters, "one")
        yield* FlowExecutions.signal(id, "mail", "a")
        yield* awaits(id, "mail#2")
        yield* FlowExecutions.signal(id, "mail", "b")
        yield* awaits(id, "mail#3")
        const second = yield* FlowExecutions.fork(id, { from: "mail#2" })
        for (const text of ["c", "d"]) yield* FlowExecutions.signal(second, "mail", text)
        assert.strictEqual(yield* resultOf(second), "a,c,d")
        const third = yield* FlowExecutions.fork(id, { from: "mail#3" })
        yield* FlowExecutions.signal(third, "mail", "e")
        assert.strictEqual(yield* resultOf(third), "a,b,e")
        assert.deepStrictEqual([...made.of(second), ...made.of(third)], [])
      }))

    test("with another input keeps the recorded results, and the replay says what differs", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "one")
        yield* stands(id, "completed")
        const fits = yield* FlowExecutions.fork(id, { from: "charge", input: "two" })
        assert.strictEqual(yield* resultOf(fits), "charge of ann two")
        const differs = yield* FlowExecutions.fork(id, { from: "send", input: "two" })
        yield* stands(differs, "halted")
        assert.strictEqual((yield* FlowExecutions.inspect(differs)).halt?.code, "INPUT_CHANGED")
      }))

    test("of another version continues with it, and halts where the record does not fit", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "one")
        yield* stands(id, "completed")
        const { does, orders } = made
        const next = Flow.make("orders", {
          ...orders,
          version: 2,
          run: Effect.fnUntraced(function* (input) {
            yield* Flow.compensate(does("reserve")("x"), () => Effect.orDie(does("release")("x")))
            const { by } = yield* approval.receive()
            return yield* does("settle")(`${by} ${input}`)
          })
        })
        yield* Effect.gen(function* () {
          const fork = yield* FlowExecutions.fork(id, { from: "charge", version: 2 })
          assert.strictEqual(yield* resultOf(fork), "settle of ann one")
          assert.deepStrictEqual(made.of(fork), ["settle"])
          assert.strictEqual((yield* FlowExecutions.get(fork)).version, 2)
          const handle = yield* Flow.handle(orders, "one")
          const changed = yield* handle.fork({ from: "send", version: 2 })
          yield* stands(changed, "halted")
          assert.strictEqual((yield* FlowExecutions.inspect(changed)).halt?.code, "STEPS_CHANGED")
          assert.deepStrictEqual(made.of(changed), [])
        }).pipe(Effect.provide(Flow.layer(next)))
        const missing = yield* Effect.flip(FlowExecutions.fork(id, { from: "charge", version: 3 }))
        assert.match(missing.message, /^version: no running program has registered orders, version 3; registered are 1/)
      }))

    test("of one that was undone repeats what was undone", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "refused")
        yield* stands(id, "failed")
        assert.deepStrictEqual(made.of(id), ["reserve", "charge", "release"])
        const fork = yield* FlowExecutions.fork(id, { from: "charge", input: "one" })
        assert.strictEqual(yield* resultOf(fork), "charge of ann one")
        assert.deepStrictEqual(made.of(fork), ["reserve", "charge", "send"])
      }))

    test("that fails undoes what it has taken over", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "one")
        yield* stands(id, "completed")
        const fork = yield* FlowExecutions.fork(id, { from: "charge", input: "refused" })
        yield* stands(fork, "failed")
        assert.deepStrictEqual(made.of(fork), ["charge", "release"])
      }))

    test("of one that runs keeps the end of a child, and waits anew for one that has not ended", (made) =>
      Effect.gen(function* () {
        const id = yield* Flow.submit(made.parents, "one")
        const childOf = Effect.map(
          FlowExecutions.list({ flow: "letters" }),
          ({ executions }) => executions[0]?.id ?? ""
        )
        yield* until(Effect.map(childOf, (child) => child !== ""))
        const child = yield* childOf
        yield* until(
          Effect.map(FlowExecutions.inspect(id), ({ now }) =>
            now.some(({ subject }) => subject?.includes(child) === true)
          )
        )
        const path = (yield* FlowExecutions.inspect(id)).now[0]?.path ?? ""
        const waits = yield* FlowExecutions.fork(id, { from: path })
        for (const text of ["a", "b", "c"]) yield* FlowExecutions.signal(child, "mail", text)
        assert.strictEqual(yield* resultOf(waits), "a,b,c")
        assert.strictEqual(yield* resultOf(id), "a,b,c")
        const later = yield* FlowExecutions.fork(id, { from: "send" })
        assert.strictEqual(yield* resultOf(later), "a,b,c")
        assert.lengthOf((yield* FlowExecutions.list({ flow: "letters" })).executions, 1)
      }))

    test("of a flow with a limit is queued, and begins with its record", (made) =>
      Effect.gen(function* () {
        const id = yield* Flow.submit(made.limited, "one")
        yield* stands(id, "completed")
        const fork = yield* FlowExecutions.fork(id, { from: "send" })
        assert.strictEqual(yield* resultOf(fork), "send of one")
        assert.deepStrictEqual(made.of(fork), ["send"])
      }))

    test("is refused for a step that is not recorded, and for a version that no process has", (made) =>
      Effect.gen(function* () {
        const id = yield* ordered(made, "one")
        yield* stands(id, "completed")
        const absent = yield* Effect.flip(FlowExecutions.fork(id, { from: "pay" }))
        assert.strictEqual(absent.message, `from: the execution ${id} has recorded no step pay`)
        const unknown = yield* Effect.flip(FlowExecutions.fork("nothing", { from: "pay" }))
        assert.strictEqual(unknown._tag, "ExecutionNotFound")
        const later = Flow.make("orders", { ...made.orders, version: 2, run: () => Effect.succeed("later") })
        const other = yield* Flow.submit(later, "later").pipe(
          Effect.tap((id) => stands(id, "completed")),
          Effect.provide(Flow.layer(later))
        )
        const missing = yield* Effect.flip(FlowExecutions.fork(other, { from: "charge" }))
        assert.match(missing.message, /no running program has registered orders, version 2; registered are 1/)
        assert.lengthOf((yield* FlowExecutions.list({ tag: `fork of ${id}` })).executions, 0)
      }))
  })
}
