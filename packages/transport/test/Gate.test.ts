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

it.effect(
  "the rest of the budget is admitted immediately, and one after the reset, whose response the others wait for",
  () =>
    Effect.gen(function* () {
      const gate = Gate.make()
      gate.learn(yield* gate.admit, budget(2, 10), 0, minute)
      const times: Array<number> = []
      const call = Effect.gen(function* () {
        const request = yield* gate.admit
        const at = yield* Clock.currentTimeMillis
        times.push(at)
        yield* Effect.sleep("50 millis")
        // Three are there again.
        if (at >= 10_000) gate.learn(request, budget(request === 4 ? 2 : 0, 10), at + 50, minute)
      })
      const fiber = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 6 }, () => call),
          { concurrency: 6 }
        )
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(times, [0, 0, 10_000, 10_050, 10_050, 20_100])
    })
)

it.effect("those behind one whose response takes long go without it: two after a second, then four", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    gate.learn(yield* gate.admit, budget(0, 10), 0, minute)
    assert.deepStrictEqual(yield* admitted(gate, 7), [10_000, 11_000, 11_000, 12_000, 12_000, 12_000, 12_000])
  })
)

it.effect("while nothing responds, the next goes as soon as one is known to have got no response", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    const call = Effect.andThen(gate.admit, Effect.delay(gate.lost, "5 millis"))
    const fiber = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: 30 }, () => call),
        { concurrency: 30 }
      )
    )
    yield* TestClock.adjust("200 millis")
    yield* Fiber.join(fiber)
  })
)

it.effect("ten go before anything is known, and all when the first response names no budget", () =>
  Effect.gen(function* () {
    const gate = Gate.make()
    let count = 0
    const call = Effect.andThen(
      gate.admit,
      Effect.sync(() => count++)
    )
    const fiber = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: 100 }, () => call),
        { concurrency: 100 }
      )
    )
    yield* TestClock.adjust(0)
    assert.strictEqual(count, 10)
    gate.learn(1, {}, 0, minute)
    yield* Fiber.join(fiber)
    assert.strictEqual(count, 100)
  })
)

for (const perSecond of [3, 100]) {
  it.effect(`of 2,000 calls at once at ${perSecond} a second, those alone are refused that nothing was known of`, () =>
    Effect.gen(function* () {
      const gate = Gate.make()
      let tokens = perSecond
      let filled = 0
      const refusals: Array<number> = []
      const call = Effect.gen(function* () {
        for (let attempts = 1; ; attempts++) {
          const request = yield* gate.admit
          const now = yield* Clock.currentTimeMillis
          tokens = Math.min(perSecond, tokens + ((now - filled) * perSecond) / 1000)
          filled = now
          const isTaken = tokens >= 1
          if (isTaken) tokens--
          const left = budget(Math.floor(tokens), 1)
          yield* Effect.sleep("5 millis")
          gate.learn(request, left, yield* Clock.currentTimeMillis, minute)
          if (isTaken) return attempts
          refusals.push(request)
          yield* gate.pause(1000 / perSecond)
        }
      })
      const fiber = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 2000 }, () => call),
          { concurrency: 2000 }
        )
      )
      yield* TestClock.adjust("1 hour")
      assert.isAtMost(Math.max(...(yield* Fiber.join(fiber))), 2)
      assert.isAtMost(Math.max(0, ...refusals), 10)
    })
  )
}

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
