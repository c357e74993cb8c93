/** Requests to executions, which their flows answer, and approvals that say whether they counted. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import type { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowRequests from "../src/FlowRequests.ts"
import { FlowSignals } from "../src/FlowSignals.ts"
import { Diary, defectOf, note, Refused } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { memory, restarting } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

class TooMuch extends Schema.TaggedError<TooMuch>()("TooMuch", { most: Schema.Finite }) {}

const add = Flow.request("add", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: TooMuch,
  validate: (amount) => (amount < 0 ? "expected at least 0" : null)
})
const approval = Flow.approval("approval")
const price = Flow.signal("price", Schema.Finite)

/** Adds what it is asked to, until it gets a 0. */
const account = Flow.make("account", {
  version: 1,
  input: Schema.String,
  success: Schema.Finite,
  error: Refused,
  idempotencyKey: (owner) => owner,
  signals: [add, price],
  run: Effect.fnUntraced(function* () {
    let balance = 0
    while (true) {
      const { answer, input, refuse } = yield* add.receive()
      if (input === 0) return balance
      yield* note(`add ${input}`)
      if (input > 100) yield* refuse(new TooMuch({ most: 100 }))
      else {
        balance += input
        yield* answer(balance)
      }
    }
  })
})

const result = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flatten(throughTime(effect))

const begun = Effect.fnUntraced(function* (owner: string) {
  yield* Flow.submit(account, owner)
  yield* advance("1 second")
  return yield* Flow.handle(account, owner)
})

const test = <E>(title: string, body: () => Effect.Effect<void, E, FlowEngine | Diary>) =>
  it.effect(title, () => Effect.provide(body(), Layer.provideMerge(Flow.layer(account), memory)))

describe("a request", () => {
  test("is answered by the body", () =>
    Effect.gen(function* () {
      const { request } = yield* begun("ann")
      assert.strictEqual(yield* result(request(add, 2)), 2)
      assert.strictEqual(yield* result(request(add, 3)), 5)
    }))

  test("is refused by the body with an error of its schema", () =>
    Effect.gen(function* () {
      const { request } = yield* begun("ann")
      const error = yield* Effect.flip(result(request(add, 101)))
      assert.deepStrictEqual(error, new TooMuch({ most: 100 }))
    }))

  test("that is sent again with its id gets the same answer, and is received once", () =>
    Effect.gen(function* () {
      const { request } = yield* begun("ann")
      const both = Effect.all([request(add, 2, { id: "1" }), request(add, 2, { id: "1" })], { concurrency: 2 })
      assert.deepStrictEqual(yield* result(both), [2, 2])
      assert.strictEqual(yield* result(request(add, 3, { id: "2" })), 5)
      assert.strictEqual(yield* result(request(add, 2, { id: "1" })), 2)
      assert.deepStrictEqual(yield* Diary.read, ["add 2", "add 3"])
    }))

  test("with an id that another one had is a conflict, before and after its answer", () =>
    Effect.gen(function* () {
      const { id, request, suspend } = yield* begun("ann")
      yield* suspend
      yield* advance("1 second")
      yield* FlowRequests.send(id, "add", 2, { id: "1" })
      assert.strictEqual((yield* Effect.flip(request(add, 3, { id: "1" })))._tag, "SignalConflict")
      yield* FlowExecutions.resume(id)
      yield* result(request(add, 2, { id: "1" }))
      assert.strictEqual((yield* Effect.flip(request(add, 3, { id: "1" })))._tag, "SignalConflict")
    }))

  test("that the validation of the flow refuses is not recorded", () =>
    Effect.gen(function* () {
      const { id, request } = yield* begun("ann")
      const error = yield* Effect.flip(request(add, -1))
      assert.strictEqual(error._tag, "InvalidSignal")
      assert.strictEqual(error.message, "input: expected at least 0")
      const sent = yield* Effect.flip(FlowExecutions.signal(id, "add", -1))
      assert.strictEqual(sent.message, "value: expected at least 0")
      assert.deepStrictEqual((yield* FlowExecutions.history(id)).messages, [])
    }))

  test("that takes too long fails with its id, and is answered when it is sent again", () =>
    Effect.gen(function* () {
      const { request, resume, suspend } = yield* begun("ann")
      yield* suspend
      yield* advance("1 second")
      const error = yield* Effect.flip(result(request(add, 2, { within: "5 seconds" })))
      assert(error._tag === "RequestUnanswered")
      assert.strictEqual(error.afterMillis, 5_000)
      yield* resume()
      assert.strictEqual(yield* result(request(add, 2, { id: error.id })), 2)
    }))

  test("that is unanswered when the execution ends is abandoned at once, whatever that end is", () =>
    Effect.gen(function* () {
      for (const end of ["cancel", "terminate"] as const) {
        const handle = yield* begun(end)
        yield* handle.suspend
        yield* advance("1 second")
        const waiting = yield* Effect.forkChild(Effect.flip(handle.request(add, 2, { id: "1" })))
        yield* advance("1 second")
        yield* handle[end]
        assert.strictEqual((yield* result(Fiber.join(waiting)))._tag, "RequestAbandoned")
        assert.strictEqual((yield* Effect.flip(handle.request(add, 2, { id: "1" })))._tag, "RequestAbandoned")
        assert.strictEqual((yield* Effect.flip(handle.request(add, 3, { id: "2" })))._tag, "ExecutionConflict")
      }
      const handle = yield* begun("result")
      // Received, and not answered.
      assert.strictEqual((yield* Effect.flip(result(handle.request(add, 0))))._tag, "RequestAbandoned")
    }))

  test("to what is no request, or to nobody, is refused by name", () =>
    Effect.gen(function* () {
      const { id } = yield* begun("ann")
      const { message } = yield* Effect.flip(FlowRequests.send(id, "price", 2))
      assert.strictEqual(message, "request: price is a signal, which answers nothing: send it")
      assert.include((yield* Effect.flip(FlowRequests.send(id, "other", 2))).message, "expected one of add, price")
      assert.strictEqual((yield* Effect.flip(FlowRequests.send("nobody", "add", 2)))._tag, "ExecutionNotFound")
    }))

  it.effect("is answered once over restarts, at any point", () =>
    Effect.gen(function* () {
      const slow = Flow.make("slow", {
        version: 1,
        input: Schema.Void,
        success: Schema.Array(Schema.Finite),
        error: Refused,
        idempotencyKey: () => "one",
        signals: [add],
        run: Effect.fnUntraced(function* () {
          const got: Array<number> = []
          for (let n = 0; n < 3; n++) {
            const { answer, id, input } = yield* add.receive()
            got.push(input)
            yield* answer(input * 10)
            yield* Flow.sleep("nap", "1 hour")
            yield* note(`${id} was ${input}`)
          }
          return got
        })
      })
      const inNext = <A, E, R>(effect: Effect.Effect<A, E, R>) => inProcess(Flow.layer(slow), effect)
      yield* inNext(Flow.submit(slow, undefined))
      const ask = (n: number) =>
        Effect.flatMap(Flow.handle(slow, "one"), (handle) => result(handle.request(add, n, { id: `id ${n}` })))
      for (const n of [1, 2, 3]) {
        assert.strictEqual(yield* inNext(ask(n)), n * 10)
        yield* inNext(advance("20 minutes"))
        assert.strictEqual(yield* inNext(ask(n)), n * 10)
        yield* inNext(advance("1 hour"))
      }
      assert.deepStrictEqual(yield* inNext(result(Flow.execute(slow, undefined))), [1, 2, 3])
      assert.deepStrictEqual(yield* Diary.read, ["id 1 was 1", "id 2 was 2", "id 3 was 3"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect(
    "of a chapter that ends is abandoned when it was received, and is left to the next one when it was not",
    () =>
      Effect.gen(function* () {
        const chapters = Flow.make("chapters", {
          version: 1,
          input: Schema.Finite,
          success: Schema.Void,
          error: Schema.Never,
          idempotencyKey: () => "one",
          signals: [add],
          run: Effect.fnUntraced(function* (n) {
            const asked = yield* add.receive()
            yield* Flow.sleep("nap", "1 hour")
            if (n === 1) return yield* Flow.continueAs({ name: "chapters", input: Schema.Finite }, 2)
            yield* asked.answer(asked.input)
            yield* Flow.sleep("nap", "1 day")
          })
        })
        yield* Effect.gen(function* () {
          const id = yield* Flow.submit(chapters, 1)
          yield* FlowRequests.send(id, "add", 1, { id: "received" })
          yield* FlowRequests.send(id, "add", 2, { id: "not received" })
          yield* advance("3 hours")
          const { request } = yield* Flow.handle(chapters, "one")
          assert.strictEqual((yield* Effect.flip(request(add, 1, { id: "received" })))._tag, "RequestAbandoned")
          assert.strictEqual(yield* request(add, 2, { id: "not received" }), 2)
        }).pipe(Effect.provide(Flow.layer(chapters)))
      }).pipe(Effect.provide(memory))
  )

  it.effect("keeps its first answer when a retry gives another one", () =>
    Effect.gen(function* () {
      let answered = 0
      const counts = Flow.make("counts", {
        version: 1,
        input: Schema.Void,
        success: Schema.Finite,
        error: Schema.Never,
        idempotencyKey: () => "one",
        signals: [add],
        run: Effect.fnUntraced(function* () {
          const { answer } = yield* add.receive()
          const now = yield* Flow.now("now")
          yield* answer(++answered)
          return DateTime.toEpochMillis(now)
        })
      })
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(counts, undefined)
        yield* FlowRequests.send(id, "add", 1, { id: "1" })
        yield* advance("1 second")
        yield* FlowExecutions.retry(id, { from: "now" })
        yield* advance("1 second")
        assert.deepInclude(yield* FlowExecutions.get(id), { state: "completed", round: 1 })
        assert.isAbove(answered, 1)
        assert.deepInclude(yield* FlowRequests.send(id, "add", 1, { id: "1" }), { state: "answered", value: 1 })
      }).pipe(Effect.provide(Flow.layer(counts)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("that is answered twice is a defect, in a script too", () =>
    Effect.gen(function* () {
      const twice = Flow.make("twice", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        signals: [add],
        run: Effect.fnUntraced(function* () {
          const { answer, refuse } = yield* add.receive()
          yield* answer(1)
          yield* refuse(new TooMuch({ most: 1 }))
        })
      })
      const script = Effect.provideService(Flow.run(twice, undefined), FlowSignals, {
        receive: () => Effect.succeed(1)
      })
      assert.include((yield* defectOf(script))?.message, "the request add with the id add was answered before")
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(twice, undefined)
        yield* FlowRequests.send(id, "add", 1, { id: "1" })
        yield* advance("1 second")
        const { failure, state } = yield* FlowExecutions.get(id)
        assert.strictEqual(state, "halted")
        assert.include(failure?.message, "the request add with the id 1 was answered before")
        // The first answer counts.
        assert.deepStrictEqual(yield* FlowRequests.send(id, "add", 1, { id: "1" }), {
          id: "1",
          state: "answered",
          value: 1
        })
      }).pipe(Effect.provide(Flow.layer(twice)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("in branches is received by its key", () =>
    Effect.gen(function* () {
      const both = Flow.make("both", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        signals: [add],
        run: () =>
          Effect.asVoid(
            Flow.forEach("part", ["a", "b/c"], { key: (key) => key, concurrency: 2 }, (key) =>
              Effect.flatMap(add.receive({ key }), ({ answer, input }) => answer(input + key.length))
            )
          )
      })
      yield* Effect.gen(function* () {
        yield* Flow.submit(both, undefined)
        const { request } = yield* Flow.handle(both, "one")
        assert.strictEqual(yield* result(request(add, 1, { key: "b/c" })), 4)
        assert.strictEqual(yield* result(request(add, 1, { key: "a" })), 2)
      }).pipe(Effect.provide(Flow.layer(both)))
    }).pipe(Effect.provide(memory))
  )
})

describe("an approval that is sent as a request", () => {
  const approve = { approved: true, by: "ann", comment: null }
  const reject = { approved: false, by: "bob", comment: "no" }
  const deciding = Flow.make("deciding", {
    version: 1,
    input: Schema.Void,
    success: Schema.String,
    error: Schema.Never,
    idempotencyKey: () => "one",
    signals: [approval],
    run: Effect.fnUntraced(function* () {
      const by = yield* Flow.race("decided", {
        person: Effect.map(approval.receive(), ({ by }) => by),
        time: Effect.as(Flow.sleep("a day", "1 day"), "time")
      })
      yield* Flow.sleep("later", "1 hour")
      return by
    })
  })
  type Handle = Flow.Handle<string, never>
  const decides = (title: string, body: (handle: Handle) => Effect.Effect<void, unknown, FlowEngine>) =>
    it.effect(title, () =>
      Effect.gen(function* () {
        yield* Flow.submit(deciding, undefined)
        yield* advance("1 second")
        yield* body(yield* Flow.handle(deciding, "one"))
      }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(deciding), memory)))
    )
  decides("counts when it decides, also when it is sent again", ({ request }) =>
    Effect.gen(function* () {
      const counted = { counted: true, decision: approve }
      assert.deepStrictEqual(yield* result(request(approval, approve)), counted)
      assert.deepStrictEqual(yield* result(request(approval, approve)), counted)
    })
  )

  decides("does not count after another decision, which it gets", ({ request, signal }) =>
    Effect.gen(function* () {
      yield* signal(approval, approve)
      assert.deepStrictEqual(yield* result(request(approval, reject)), { counted: false, decision: approve })
      yield* advance("2 hours")
      assert.deepStrictEqual(yield* result(request(approval, reject)), { counted: false, decision: approve })
    })
  )

  decides("does not count, and is not recorded, when the flow does not wait for it any more", ({ id, request }) =>
    Effect.gen(function* () {
      yield* advance("1 day")
      const late = { counted: false, decision: null }
      assert.deepStrictEqual(yield* result(request(approval, approve)), late)
      yield* advance("2 hours")
      assert.deepStrictEqual(yield* result(request(approval, approve)), late)
      assert.deepStrictEqual((yield* FlowExecutions.history(id)).messages, [])
    })
  )

  decides("that comes early is answered when it decides", ({ request, resume, suspend }) =>
    Effect.gen(function* () {
      yield* suspend
      yield* advance("1 second")
      const waiting = yield* Effect.forkChild(request(approval, approve))
      yield* advance("1 second")
      assert.isUndefined(waiting.pollUnsafe())
      yield* resume()
      assert.deepStrictEqual(yield* result(Fiber.join(waiting)), { counted: true, decision: approve })
    })
  )
})
