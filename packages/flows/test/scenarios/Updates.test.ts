import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowRequests from "../../src/FlowRequests.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, say, scenario, scenarios, seconds } = S

const add = Flow.request("add", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: S.Refused,
  validate: (by) => (by < 0 ? "expected at least 0" : null)
})
const approval = Flow.approval("approval")
const signals = [add, approval]
type Body = Effect.Effect<Schema.Json, typeof S.Failure.Type, Flow.FlowContext<S.Diary>>
const answering = (body: Body) => S.flow("answering", () => body, { signals })

/** Adds what it is asked to, with a step for each, and refuses more than 100. */
const adds = answering(
  Effect.gen(function* () {
    for (let sum = 0; ;) {
      const { answer, input, refuse } = yield* add.receive()
      yield* say(`add ${input}`)
      if (input > 100) yield* refuse(new S.Refused({ why: "too much" }))
      else yield* answer((sum += input))
    }
  })
)
const handle = Flow.handle(adds, "x")
/** An answer, or why there is none, once that is known. */
const asked = (input: number, id?: string) =>
  Effect.gen(function* () {
    const { request } = yield* handle
    return yield* Effect.flatten(S.through(Effect.result(request(add, input, { id }))))
  }).pipe(Effect.flatMap(Effect.fromResult))

scenarios("updates", () => {
  scenario(
    "temporal: update/basic",
    Effect.gen(function* () {
      const updates = Effect.gen(function* () {
        yield* S.waiting(adds)
        const error = yield* Effect.flip(asked(101))
        return [yield* asked(2), yield* asked(3), error]
      })
      const expected = [2, 5, new S.Refused({ why: "too much" })]
      assert.deepStrictEqual(yield* program(Flow.layer(adds), updates), expected)
    })
  )

  scenario(
    "temporal: update/basic_async",
    Effect.gen(function* () {
      const updates = Effect.gen(function* () {
        const id = yield* S.waiting(adds)
        const ids = ["a", "b"]
        for (const one of ids) yield* FlowRequests.send(id, "add", 2, { id: one })
        // The answers are got by the ids, in any order.
        return yield* Effect.forEach(ids.toReversed(), (one) => asked(2, one))
      })
      assert.deepStrictEqual(yield* program(Flow.layer(adds), updates), [4, 2])
    })
  )

  scenario(
    "temporal: update/async_accepted",
    Effect.gen(function* () {
      const updates = Effect.gen(function* () {
        const id = yield* S.waiting(adds)
        yield* FlowExecutions.suspend(id)
        yield* S.reaches(id, "suspended")
        const accepted = yield* FlowRequests.send(id, "add", 2, { id: "a" })
        yield* FlowExecutions.resume(id)
        return [accepted.state, yield* asked(2, "a")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(adds), updates), ["pending", 2])
    })
  )

  scenario(
    "temporal: update/deduplication",
    Effect.gen(function* () {
      const updates = Effect.gen(function* () {
        yield* S.waiting(adds)
        const same = Effect.all([asked(2, "a"), asked(2, "a")], { concurrency: 2 })
        return [...(yield* same), yield* asked(3, "b"), yield* asked(2, "a")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(adds), updates), [2, 2, 5, 2])
      assert.deepStrictEqual(yield* Diary.read, ["add 2", "add 3"])
    })
  )

  scenario(
    "temporal: update/non_durable_reject",
    Effect.gen(function* () {
      const updates = Effect.gen(function* () {
        const id = yield* S.waiting(adds)
        const error = yield* Effect.flip(asked(-1))
        const { messages } = yield* FlowExecutions.history(id)
        return [error._tag, error.message, messages.length]
      })
      const expected = ["InvalidSignal", "input: expected at least 0", 0]
      assert.deepStrictEqual(yield* program(Flow.layer(adds), updates), expected)
    })
  )

  scenario(
    "temporal: update/validation_replay",
    Effect.gen(function* () {
      const strict = Flow.request("add", { input: Schema.Finite, success: Schema.Finite, validate: () => "never more" })
      const body = (request: Pick<typeof strict, "receive">) =>
        Effect.flatMap(request.receive(), ({ answer, input }) =>
          Effect.as(Effect.andThen(answer(input), Flow.sleep("nap", seconds(3))), input)
        )
      const lenient = answering(body(add))
      yield* program(Flow.layer(lenient), Effect.andThen(S.waiting(lenient), asked(2)))
      // What was accepted is not validated again by a later build.
      const later = S.flow("answering", () => body(strict), { signals: [strict] })
      assert.strictEqual(yield* program(Flow.layer(later), S.resultOf(later, "x")), 2)
    })
  )

  scenario(
    "temporal: update/activities",
    Effect.gen(function* () {
      yield* program(Flow.layer(adds), Effect.andThen(S.waiting(adds), asked(2)))
      assert.deepStrictEqual(yield* Diary.read, ["add 2"])
    })
  )

  scenario(
    "temporal: update/self",
    Effect.gen(function* () {
      const asks = Flow.step("ask", {
        input: Schema.Finite,
        success: Schema.Finite,
        error: Schema.Never,
        run: (by) => Effect.orDie(Effect.flatMap(handle, ({ request }) => request(add, by)))
      })
      const answers = Effect.flatMap(add.receive(), ({ answer, input }) => Effect.as(answer(input * 10), input))
      const self = S.flow("answering", () => Flow.all("both", [asks(2), answers], { concurrency: 2 }), { signals })
      assert.deepStrictEqual(yield* program(Flow.layer(self), S.resultOf(self, "x")), [20, 2])
    })
  )

  scenario(
    "temporal: update/task_failure",
    Effect.gen(function* () {
      const broken = answering(Effect.andThen(add.receive(), Effect.die(new TypeError("not yet"))))
      const mended = answering(Effect.flatMap(add.receive(), ({ answer, input }) => Effect.as(answer(input), "done")))
      const asks = Effect.gen(function* () {
        const id = yield* S.waiting(broken)
        yield* FlowRequests.send(id, "add", 2, { id: "a" })
        yield* S.reaches(id, "halted")
        return id
      })
      const id = yield* program(Flow.layer(broken), asks)
      const answered = Effect.andThen(FlowExecutions.resume(id), asked(2, "a"))
      assert.strictEqual(yield* program(Flow.layer(mended), answered), 2)
    })
  )

  scenario(
    "temporal: update/worker_restart",
    Effect.gen(function* () {
      const slow = answering(
        Effect.gen(function* () {
          const { answer, input } = yield* add.receive()
          yield* Flow.sleep("nap", seconds(5))
          yield* answer(input * 10)
          return "done"
        })
      )
      const begins = Effect.gen(function* () {
        const id = yield* S.waiting(slow)
        yield* FlowRequests.send(id, "add", 2, { id: "a" })
        yield* S.eventually(Effect.map(FlowExecutions.inspect(id), ({ now }) => now[0]?.path === "nap"))
      })
      yield* program(Flow.layer(slow), begins)
      assert.strictEqual(yield* program(Flow.layer(slow), asked(2, "a")), 20)
    })
  )

  scenario(
    "temporal: update of one that ends is abandoned",
    Effect.gen(function* () {
      const deaf = answering(Effect.as(Flow.sleep("nap", seconds(3)), "done"))
      const updates = Effect.gen(function* () {
        yield* S.waiting(deaf)
        const first = yield* Effect.flip(asked(2, "a"))
        const second = yield* Effect.flip(asked(2, "b"))
        return [first._tag, second._tag]
      })
      // The one was sent before the end, the other after it.
      const expected = ["RequestAbandoned", "ExecutionConflict"]
      assert.deepStrictEqual(yield* program(Flow.layer(deaf), updates), expected)
    })
  )

  scenario(
    "temporal: update with an id that another one had",
    Effect.gen(function* () {
      const updates = Effect.gen(function* () {
        yield* S.waiting(adds)
        yield* asked(2, "a")
        return (yield* Effect.flip(asked(3, "a")))._tag
      })
      assert.strictEqual(yield* program(Flow.layer(adds), updates), "SignalConflict")
    })
  )

  scenario(
    "restate: Counter add",
    Effect.gen(function* () {
      const updates = Effect.gen(function* () {
        yield* S.waiting(adds)
        yield* Effect.forEach([1, 2, 3], (by) => asked(by), { concurrency: 3 })
        return yield* asked(0)
      })
      assert.strictEqual(yield* program(Flow.layer(adds), updates), 6)
    })
  )
})

scenarios("approvals that say whether they counted", () => {
  const by = (name: string, approved: boolean) => ({ approved, by: name, comment: null })
  const decides = answering(
    Effect.gen(function* () {
      const { by } = yield* Flow.race("decision", {
        person: approval.receive(),
        time: Effect.as(Flow.sleep("day", seconds(20)), { by: "time" })
      })
      yield* Flow.sleep("nap", seconds(36_000))
      return by
    })
  )
  const decide = (decision: typeof Flow.Approval.Type) =>
    Effect.flatMap(handle, ({ request }) => Effect.flatten(S.through(request(approval, decision))))

  scenario(
    "restate: durable promise, a second decision does not count",
    Effect.gen(function* () {
      const [ann, bob] = [by("ann", true), by("bob", false)]
      const both = Effect.andThen(S.waiting(decides), Effect.forEach([ann, bob, ann], decide))
      assert.deepStrictEqual(yield* program(Flow.layer(decides), both), [
        { counted: true, decision: ann },
        { counted: false, decision: ann },
        { counted: true, decision: ann }
      ])
    })
  )

  scenario(
    "dbos: recv-timeout, a decision that comes late does not count",
    Effect.gen(function* () {
      const late = Effect.gen(function* () {
        const id = yield* S.waiting(decides)
        const isOver = ({ now }: FlowExecutions.Inspection) => now.some(({ path }) => path === "nap")
        yield* S.eventually(Effect.map(FlowExecutions.inspect(id), isOver))
        return yield* decide(by("ann", true))
      })
      assert.deepStrictEqual(yield* program(Flow.layer(decides), late), { counted: false, decision: null })
    })
  )

  scenario(
    "dbos: recv-recovery, a decision is answered by the next process",
    Effect.gen(function* () {
      const suspends = Effect.gen(function* () {
        const id = yield* S.waiting(decides)
        yield* FlowExecutions.suspend(id)
        yield* S.reaches(id, "suspended")
        yield* FlowExecutions.signal(id, "approval", by("ann", true))
        return id
      })
      const id = yield* program(Flow.layer(decides), suspends)
      const answered = Effect.andThen(FlowExecutions.resume(id), decide(by("ann", true)))
      assert.isTrue((yield* program(Flow.layer(decides), answered)).counted)
    })
  )
})
