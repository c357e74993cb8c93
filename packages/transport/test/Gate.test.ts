import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Gate from "../src/Gate.ts"

const budget = (remaining: number, reset: number) => ({
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(reset)
})

const minute = 60_000

/** Admits as many concurrent requests, and returns when each of them was admitted. */
const admitted = Effect.fnUntraced(function* (gate: Gate.Gate, count: number) {
  const one = Effect.andThen(gate.admit, Clock.currentTimeMillis)
  const fiber = yield* Effect.forkChild(
    Effect.all(
      Array.from({ length: count }, () => one),
      { concurrency: count }
    )
  )
  yield* TestClock.adjust("10 minutes")
  return yield* Fiber.join(fiber)
})

it.effect("the rest of the budget is admitted immediately, and others after the reset", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    gate.learn(yield* gate.admit, budget(2, 10), 0, minute)
    assert.deepStrictEqual(yield* admitted(gate, 4), [0, 0, 10_000, 10_000])
  })
)

it.effect("requests sent after the one with the response count against the budget", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    const first = yield* gate.admit
    yield* gate.admit
    gate.learn(first, budget(2, 10), 0, minute)
    assert.deepStrictEqual(yield* admitted(gate, 2), [0, 10_000])
  })
)

it.effect("a response that overtakes an earlier one is the one that counts", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    const first = yield* gate.admit
    const second = yield* gate.admit
    gate.learn(second, budget(5, 10), 0, minute)
    gate.learn(first, budget(0, 10), 0, minute)
    assert.deepStrictEqual(yield* admitted(gate, 1), [0])
  })
)

it.effect("no reset is waited for longer than the policy allows", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    gate.learn(yield* gate.admit, budget(0, 1_800_000_000), 0, minute)
    assert.deepStrictEqual(yield* admitted(gate, 1), [minute])
  })
)

it.effect("a pause holds until its end, and a shorter one does not shorten it", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    yield* gate.pause(5000.5)
    yield* gate.pause(1000)
    assert.deepStrictEqual(yield* admitted(gate, 2), [5001, 5001])
  })
)
