import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, scenario, scenarios, seconds, take } = S

/** The customer of an order such as `a1`. */
const customer = (text: string) => text.slice(0, 1)
const order = (name: string, limit: ReadonlyArray<Flow.FlowLimit<string>>, took = 1) =>
  S.flow(name, (text) => take({ name: text, seconds: took }), { limit })
/** One after the other: those of one millisecond have no order. */
const submitAll = (flow: ReturnType<typeof S.flow>, ...texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) => Effect.tap(Flow.submit(flow, text), () => S.elapse(2)))
const resultsOf = (flow: ReturnType<typeof S.flow>, ...texts: ReadonlyArray<string>) =>
  Effect.flatten(S.through(Effect.forEach(texts, (text) => Flow.execute(flow, text), { concurrency: "unbounded" })))

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

scenarios("queues with keys", () => {
  scenario(
    "dbos: partitioned-queues",
    Effect.gen(function* () {
      const queue = order("queue", [{ key: customer, concurrency: 1 }], 10)
      yield* program(Flow.layer(queue), resultsOf(queue, "a1", "a2", "b1", "b2"))
      const lines = yield* Diary.read
      assert.deepStrictEqual([mostAtOnce(lines, "a"), mostAtOnce(lines, "b"), mostAtOnce(lines)], [1, 1, 2])
    })
  )

  scenario(
    "dbos: runs one workflow at a time per partition, in FIFO order",
    Effect.gen(function* () {
      const queue = order("queue", [{ key: customer, concurrency: 1 }], 0.2)
      const texts = ["a3", "a1", "b1", "a2", "b2"]
      yield* program(Flow.layer(queue), Effect.andThen(submitAll(queue, ...texts), resultsOf(queue, ...texts)))
      const first = (yield* begun).filter((line) => line.startsWith("a"))
      assert.deepStrictEqual(first, ["a3 begins", "a1 begins", "a2 begins"])
    })
  )

  scenario(
    "dbos: does not starve partitions the queue-wide limit cannot serve at once",
    Effect.gen(function* () {
      const queue = order("queue", [{ key: customer, concurrency: 1 }, { concurrency: 1 }], 0.5)
      const texts = ["a1", "a2", "a3", "a4", "b1"]
      yield* program(Flow.layer(queue), Effect.andThen(submitAll(queue, ...texts), resultsOf(queue, ...texts)))
      const lines = yield* begun
      // The keys take turns: who came last with a key of its own does not wait for all of the other.
      assert.isAtMost(lines.indexOf("b1 begins"), 2)
      assert.strictEqual(mostAtOnce(yield* Diary.read), 1)
    })
  )

  scenario(
    "dbos: binds a per-partition rate limit and a queue-wide rate limit at once",
    Effect.gen(function* () {
      const queue = order("queue", [{ key: customer, concurrency: 2 }, { concurrency: 3 }], 2)
      const texts = ["a1", "a2", "a3", "b1", "b2", "b3"]
      yield* program(Flow.layer(queue), resultsOf(queue, ...texts))
      const lines = yield* Diary.read
      assert.isAtMost(mostAtOnce(lines, "a"), 2)
      assert.isAtMost(mostAtOnce(lines), 3)
    })
  )

  scenario(
    "restate: virtual object, one handler at a time for each key",
    Effect.gen(function* () {
      // A counter that would lose additions that run beside each other.
      const counts = new Map<string, number>()
      const add = Flow.step("add", {
        input: Schema.String,
        success: Schema.Finite,
        error: Schema.Never,
        run: Effect.fnUntraced(function* (key) {
          const before = counts.get(key) ?? 0
          yield* Effect.sleep(seconds(0.2))
          counts.set(key, before + 1)
          return before + 1
        })
      })
      const counter = S.flow("counter", (text) => add(customer(text)), { limit: [{ key: customer, concurrency: 1 }] })
      const texts = ["a1", "b1", "a2", "b2", "a3"]
      yield* program(Flow.layer(counter), resultsOf(counter, ...texts))
      assert.deepStrictEqual(Object.fromEntries(counts), { a: 3, b: 2 })
    })
  )
})
