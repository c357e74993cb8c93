/**
 * The items of a step run as a stream: when each is released, and how.
 */
import { assert, describe, it } from "@effect/vitest"
import { WorkItemId } from "@signalbox/api/contract/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { inputs } from "../src/internal/items/ItemLoop.ts"
import * as SessionSource from "../src/internal/items/SessionSource.ts"
import { BusinessFailure } from "../src/Task.ts"
import * as MemorySession from "./support/MemorySession.ts"

type Fail = Parameters<typeof MemorySession.make>[1]

const begin = (fail?: Fail) => {
  const items = { one: { payload: 1 }, two: { payload: 2 }, three: { payload: 3 } }
  const { actions, session } = MemorySession.make(items, fail)
  const source = SessionSource.make(session, WorkItemId.make("one"))
  const done = () =>
    actions.map((action) => {
      if (action.did !== "release") return action.did
      return action.how.state === "COMPLETED" ? action.item : `${action.item} ${action.how.exception.code}`
    })
  return { items: inputs(source), done }
}

describe("the stream of items", () => {
  it.effect("holds one at a time", () =>
    Effect.gen(function* () {
      const { done, items } = begin()
      const seen: Array<readonly [unknown, ReadonlyArray<string>]> = []
      yield* Stream.runForEach(items, ({ payload }) => Effect.sync(() => seen.push([payload, done()])))
      assert.deepStrictEqual(seen, [
        [1, []],
        [2, ["one"]],
        [3, ["one", "two"]]
      ])
      assert.deepStrictEqual(done(), ["one", "two", "three"])
    })
  )

  it.effect("fails the reserved item as its consumer fails, and reserves no more", () =>
    Effect.gen(function* () {
      const { done, items } = begin()
      const failure = new BusinessFailure({ code: "BAD", message: "bad" })
      const work = items.pipe(
        Stream.mapEffect(({ payload }) => (payload === 2 ? Effect.fail(failure) : Effect.void)),
        Stream.runDrain
      )
      assert.strictEqual(yield* Effect.flip(work), failure)
      assert.deepStrictEqual(done(), ["one", "two BAD"])
    })
  )

  it.effect("completes the reserved item when no more are pulled, and leaves the rest", () =>
    Effect.gen(function* () {
      const { done, items } = begin()
      yield* Stream.runDrain(Stream.take(items, 1))
      assert.deepStrictEqual(done(), ["one"])
    })
  )

  it.effect("leaves the reserved item to the service when it is interrupted", () =>
    Effect.gen(function* () {
      const { done, items } = begin()
      const started = yield* Deferred.make<void>()
      const work = Stream.runForEach(items, () => Effect.andThen(Deferred.succeed(started, undefined), Effect.never))
      const fiber = yield* Effect.forkChild(work)
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(done(), [])
    })
  )

  it.effect("fails an item that cannot be fetched, and continues", () =>
    Effect.gen(function* () {
      const { done, items } = begin((call, item) =>
        call === "payload" && item === "two" ? MemorySession.refused : undefined
      )
      const seen = yield* Stream.runCollect(Stream.map(items, ({ payload }) => payload))
      assert.deepStrictEqual(seen, [1, 3])
      assert.deepStrictEqual(done(), ["one", "two ControlRoomError", "three"])
    })
  )

  it.effect("ends when the step run is lost, and releases nothing", () =>
    Effect.gen(function* () {
      const { done, items } = begin((call) => (call === "release" ? MemorySession.leaseLost : undefined))
      const error = yield* Effect.flip(Stream.runDrain(items))
      assert.strictEqual(error._tag, "LeaseLost")
      assert.deepStrictEqual(done(), [])
    })
  )
})
