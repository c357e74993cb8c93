import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds, take } = S

/** The customer of an order such as `a1`. */
const customer = (text: string) => text.slice(0, 1)
const order = (name: string, limit: ReadonlyArray<Flow.FlowLimit<string>>, took = 1) =>
  S.flow(name, (text) => take({ name: text, seconds: took }), { limit })
/** Holds its place until it is told to go on. */
const go = Flow.signal("go", Schema.Void)
const held = (limit: ReadonlyArray<Flow.FlowLimit<string>>, version = 1) =>
  S.flow("held", (text) => Effect.andThen(say(text), Effect.as(go.receive(), text)), { limit, signals: [go], version })
const release = (id: string) => FlowExecutions.signal(id, "go", null)

/** One after the other: those of one millisecond have no order. */
const submitAll = (flow: ReturnType<typeof S.flow>, ...texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) => Effect.tap(Flow.submit(flow, text), () => S.elapse(2)))
const resultsOf = (flow: ReturnType<typeof S.flow>, ...texts: ReadonlyArray<string>) =>
  Effect.flatten(S.through(Effect.forEach(texts, (text) => Flow.execute(flow, text), { concurrency: "unbounded" })))
const states = (ids: ReadonlyArray<string>) => Effect.forEach(ids, S.stateOf)

/** The most that ran at once, of those whose name begins so, by what the diary says. */
const mostAtOnce = (lines: ReadonlyArray<string>, prefix = "") => {
  let running = 0
  let most = 0
  for (const line of lines) {
    if (!line.startsWith(prefix)) continue
    running += line.endsWith("begins") ? 1 : -1
    most = Math.max(most, running)
  }
  return most
}

const begun = Effect.map(Diary.read, (lines) => lines.filter((line) => line.endsWith("begins")))

scenarios("queues", () => {
  scenario(
    "dbos: simple-queue",
    Effect.gen(function* () {
      const queue = order("queue", [{ concurrency: 10 }])
      assert.deepStrictEqual(yield* program(Flow.layer(queue), resultsOf(queue, "a1", "b1")), ["a1", "b1"])
    })
  )

  scenario(
    "dbos: one-at-a-time",
    Effect.gen(function* () {
      const queue = order("queue", [{ concurrency: 1 }])
      yield* program(Flow.layer(queue), resultsOf(queue, "a1", "a2", "a3", "a4"))
      assert.strictEqual(mostAtOnce(yield* Diary.read), 1)
    })
  )

  scenario(
    "dbos: test_wait_first_queue",
    Effect.gen(function* () {
      const queue = order("queue", [{ concurrency: 1 }])
      const inOrder = Effect.gen(function* () {
        yield* submitAll(queue, "c1", "a1", "b1")
        yield* resultsOf(queue, "c1", "a1", "b1")
      })
      yield* program(Flow.layer(queue), inOrder)
      assert.deepStrictEqual(yield* begun, ["c1 begins", "a1 begins", "b1 begins"])
    })
  )

  scenario(
    "dbos: child-wfs-queue",
    Effect.gen(function* () {
      const queue = order("queue", [{ concurrency: 2 }])
      const parent = S.flow("parent", () =>
        Flow.forEach("child", ["a", "b", "c", "d"], { key: (text) => text, concurrency: 4 }, (text) =>
          Effect.flatMap(Flow.start(queue, text), ({ result }) => result)
        )
      )
      const both = [Flow.layer(parent), Flow.layer(queue)]
      assert.deepStrictEqual(yield* program(both, resultOf(parent, "x")), ["a", "b", "c", "d"])
      assert.isAtMost(mostAtOnce(yield* Diary.read), 2)
    })
  )

  scenario(
    "dbos: test-queue_rate_limit",
    Effect.gen(function* () {
      const queue = S.flow("queue", (text) => say(text), { limit: [{ rate: "2/h" }] })
      const limited = Effect.gen(function* () {
        const [, , ...rest] = yield* submitAll(queue, "a", "b", "c", "d")
        yield* resultsOf(queue, "a", "b")
        const { queue: place } = yield* FlowExecutions.inspect(rest[0] ?? "")
        assert.isNumber(place?.admitsAt)
        return yield* states(rest)
      })
      // Two begin together, and then one each half an hour.
      assert.deepStrictEqual(yield* program(Flow.layer(queue), limited), ["queued", "queued"])
      assert.sameMembers([...(yield* Diary.read)], ["a", "b"])
    })
  )

  scenario(
    "dbos: test_one_at_a_time_with_limiter",
    Effect.gen(function* () {
      const queue = order("queue", [{ concurrency: 1, rate: "50/s" }])
      yield* program(Flow.layer(queue), resultsOf(queue, "a", "b", "c"))
      assert.strictEqual(mostAtOnce(yield* Diary.read), 1)
    })
  )

  scenario(
    "dbos: test_multiple_queues",
    Effect.gen(function* () {
      const one = held([{ concurrency: 1 }])
      const other = order("other", [{ concurrency: 1 }])
      const both = Effect.gen(function* () {
        yield* submitAll(one, "blocks", "waits")
        return yield* resultsOf(other, "a1", "a2")
      })
      const results = yield* program([Flow.layer(one), Flow.layer(other)], both)
      assert.deepStrictEqual(results, ["a1", "a2"])
    })
  )

  scenario(
    "dbos: duplicate-workflow-id",
    Effect.gen(function* () {
      const queue = held([{ concurrency: 1 }])
      const twice = Effect.gen(function* () {
        const [first = "", second = "", same = ""] = yield* submitAll(queue, "a", "b", "b")
        assert.strictEqual(second, same)
        yield* release(first)
        yield* release(second)
        return yield* resultsOf(queue, "a", "b")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(queue), twice), ["a", "b"])
      assert.deepStrictEqual(yield* Diary.read, ["a", "b"])
    })
  )

  scenario(
    "dbos: test_one_at_a_time_with_crash",
    Effect.gen(function* () {
      const queue = held([{ concurrency: 1 }])
      const begins = Effect.tap(submitAll(queue, "a", "b"), ([first = ""]) => S.reaches(first, "waiting"))
      const [first = "", second = ""] = yield* program(Flow.layer(queue), begins)
      const continues = Effect.gen(function* () {
        assert.deepStrictEqual(yield* states([first, second]), ["waiting", "queued"])
        yield* release(first)
        yield* release(second)
        return yield* resultsOf(queue, "a", "b")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(queue), continues), ["a", "b"])
      assert.deepStrictEqual(yield* Diary.read, ["a", "b"])
    })
  )

  scenario(
    "dbos: test-queue-recovery",
    Effect.gen(function* () {
      const naps = S.flow("naps", (text) => Effect.andThen(Flow.sleep("nap", seconds(3)), say(text)), {
        limit: [{ concurrency: 2 }]
      })
      const texts = ["a", "b", "c", "d", "e"]
      yield* program(Flow.layer(naps), submitAll(naps, ...texts))
      assert.deepStrictEqual(yield* program(Flow.layer(naps), resultsOf(naps, ...texts)), texts)
      assert.sameMembers([...(yield* Diary.read)], texts)
    })
  )

  scenario(
    "dbos: test-queue-concurrency-under-recovery",
    Effect.gen(function* () {
      const queue = held([{ concurrency: 2 }])
      const begins = Effect.gen(function* () {
        const ids = yield* submitAll(queue, "a", "b", "c")
        for (const id of ids.slice(0, 2)) yield* S.reaches(id, "waiting")
        return ids
      })
      const ids = yield* program(Flow.layer(queue), begins)
      const recovered = yield* program(Flow.layer(queue), Effect.andThen(S.pass(5), states(ids)))
      // Those that were begun keep their places over the restart.
      assert.deepStrictEqual(recovered, ["waiting", "waiting", "queued"])
    })
  )

  scenario(
    "dbos: test-cancel-queues",
    Effect.gen(function* () {
      const queue = held([{ concurrency: 1 }])
      const cancels = Effect.gen(function* () {
        const [first = "", second = "", third = ""] = yield* submitAll(queue, "a", "b", "c")
        yield* S.reaches(first, "waiting")
        yield* FlowExecutions.cancel(second)
        assert.strictEqual(yield* S.stateOf(second), "cancelled")
        yield* FlowExecutions.cancel(first)
        yield* S.reaches(third, "waiting")
      })
      yield* program(Flow.layer(queue), cancels)
      assert.deepStrictEqual(yield* Diary.read, ["a", "c"])
    })
  )

  scenario(
    "dbos: test-resume-queues",
    Effect.gen(function* () {
      const queue = held([{ concurrency: 1 }])
      const resumes = Effect.gen(function* () {
        const [first = "", second = "", third = ""] = yield* submitAll(queue, "a", "b", "c")
        yield* S.reaches(first, "waiting")
        yield* FlowExecutions.suspend(second)
        yield* release(first)
        yield* S.reaches(third, "waiting")
        yield* release(third)
        yield* FlowExecutions.resume(second)
        yield* S.reaches(second, "waiting")
      })
      yield* program(Flow.layer(queue), resumes)
      assert.deepStrictEqual(yield* Diary.read, ["a", "c", "b"])
    })
  )

  scenario(
    "dbos: test-concurrency-across-versions",
    Effect.gen(function* () {
      const one = held([{ concurrency: 1 }], 1)
      const two = held([{ concurrency: 1 }], 2)
      const across = Effect.gen(function* () {
        const [first = ""] = yield* submitAll(one, "of one")
        yield* S.reaches(first, "waiting")
        const [second = ""] = yield* submitAll(two, "of two")
        assert.strictEqual(yield* S.stateOf(second), "queued")
        yield* release(first)
        yield* S.reaches(second, "waiting")
      })
      yield* program([Flow.layer(one), Flow.layer(two)], across)
      assert.deepStrictEqual(yield* Diary.read, ["of one", "of two"])
    })
  )

  scenario(
    "dbos: dynamic-concurrency-takes-effect-on-running-worker",
    Effect.gen(function* () {
      const tight = held([{ concurrency: 1 }])
      const wide = held([{ concurrency: 2 }])
      const begins = Effect.tap(submitAll(tight, "a", "b", "c"), ([first = ""]) => S.reaches(first, "waiting"))
      const [, second = "", third = ""] = yield* program(Flow.layer(tight), begins)
      yield* program(Flow.layer(wide), S.reaches(second, "waiting"))
      assert.strictEqual(yield* program(Flow.layer(wide), S.stateOf(third)), "queued")
    })
  )

  scenario(
    "dbos: test-list-queues",
    Effect.gen(function* () {
      const queue = held([{ key: customer, concurrency: 1 }])
      const lists = Effect.gen(function* () {
        const [first = "", , third = ""] = yield* submitAll(queue, "a1", "a2", "a3")
        yield* S.reaches(first, "waiting")
        const { executions } = yield* FlowExecutions.list({ state: "queued" })
        const { queue: place } = yield* FlowExecutions.inspect(third)
        return { queued: executions.length, place, first }
      })
      const { first, place, queued } = yield* program(Flow.layer(queue), lists)
      assert.strictEqual(queued, 2)
      assert.deepInclude(place, { limit: 0, key: "a", place: 2, holders: [first] })
    })
  )

  scenario(
    "dbos: singleton, collision returns existing handle",
    Effect.gen(function* () {
      const single = S.flow("single", () => Effect.as(go.receive(), "done"), {
        signals: [go],
        key: () => "the only one"
      })
      const collides = Effect.gen(function* () {
        const ids = yield* submitAll(single, "a", "b")
        yield* release(ids[0] ?? "")
        return [ids[0] === ids[1], ...(yield* resultsOf(single, "a", "b"))]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(single), collides), [true, "done", "done"])
    })
  )

  scenario(
    "dbos: a failed one leaves its place to the next",
    Effect.gen(function* () {
      const fails = S.flow(
        "fails",
        (text) =>
          Effect.gen(function* () {
            return text === "bad" ? yield* S.refuse(text) : yield* say(text)
          }),
        { limit: [{ concurrency: 1 }] }
      )
      const both = Effect.andThen(submitAll(fails, "bad", "good"), resultsOf(fails, "good"))
      assert.deepStrictEqual(yield* program(Flow.layer(fails), both), ["good"])
      assert.deepStrictEqual(yield* Diary.read, ["bad", "good"])
    })
  )

  scenario(
    "restate: ConcurrencyLimitTest concurrencyLimitIsRespected",
    Effect.gen(function* () {
      const queue = held([{ concurrency: 2 }])
      const limited = Effect.gen(function* () {
        const ids = yield* submitAll(queue, "a", "b", "c", "d")
        const waiting = Effect.map(FlowExecutions.list({ state: "waiting" }), ({ executions }) => executions.length)
        yield* S.eventually(Effect.map(waiting, (count) => count === 2))
        yield* S.pass(2)
        assert.strictEqual(yield* waiting, 2)
        for (const id of ids) yield* release(id)
        return yield* resultsOf(queue, "a", "b", "c", "d")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(queue), limited), ["a", "b", "c", "d"])
    })
  )
})
