/** What spaces the attempts of ready steps before a busy control room. */
import { assert, describe, it } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Pacing from "../src/internal/body/Pacing.ts"

const room = ControlRoom.layerHttpClient({
  baseUrl: "http://localhost:1",
  workspaceId: WorkspaceId.make("00000000-0000-0000-0000-000000000001"),
  apiKey: Redacted.make("key")
}).pipe(Layer.provide(FetchHttpClient.layer))

const perSecond = 25

/** A service that accepts so many requests a second, ten of them together, and responds after 40 ms. */
const busyService = () => {
  let left = 10
  let at = 0
  let refusals = 0
  const send = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    left = Math.min(left + ((now - at) / 1_000) * perSecond, 10)
    at = now
    const admitted = left >= 1
    if (admitted) left--
    else refusals++
    yield* Effect.sleep("40 millis")
    return yield* admitted ? Effect.void : Effect.fail("busy")
  })
  return { send, refusals: () => refusals }
}

const transient = () => ({ retryAfterMillis: 40, isBusy: true })

describe("the gate before a control room", () => {
  it.effect("spaces the attempts of thousands so that few are refused, and little time is lost", () =>
    Effect.gen(function* () {
      const { refusals, send } = busyService()
      const gates = Pacing.make()
      const attempts = 2_000
      const all = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: attempts }),
          () => Effect.retry(gates.pass(send, transient), { while: () => true }),
          { concurrency: "unbounded", discard: true }
        )
      )
      let seconds = 0
      for (; all.pollUnsafe() === undefined && seconds < 10_000; seconds++) yield* TestClock.adjust("1 second")
      yield* Fiber.join(all)
      assert.isBelow(refusals(), attempts / 5)
      assert.isBelow(seconds, (2 * attempts) / perSecond)
    }).pipe(Effect.provide(room))
  )

  it.effect("lets others pass while attempts take long", () =>
    Effect.gen(function* () {
      const gates = Pacing.make()
      const long = Effect.forEach(Array.from({ length: 100 }), () => gates.pass(Effect.never, transient), {
        concurrency: "unbounded"
      })
      yield* Effect.forkChild(long)
      const short = yield* Effect.forkChild(gates.pass(Effect.succeed("passed"), transient))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(short), "passed")
    }).pipe(Effect.provide(room))
  )

  it.effect("an attempt that is interrupted while it waits, or runs, leaves room for the next", () =>
    Effect.gen(function* () {
      const gates = Pacing.make()
      for (let round = 0; round < 20; round++) {
        const fibers = yield* Effect.forEach(Array.from({ length: 40 }), () =>
          Effect.forkChild(gates.pass(Effect.never, transient))
        )
        yield* TestClock.adjust("10 millis")
        yield* Fiber.interruptAll(fibers)
      }
      const next = yield* Effect.forkChild(gates.pass(Effect.succeed("passed"), transient))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(next), "passed")
    }).pipe(Effect.provide(room))
  )
})
