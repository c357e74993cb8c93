/** Who of the workers that wait looks for work when there is some, over a queue in memory. */
import { assert, describe, it } from "@effect/vitest"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as TestClock from "effect/testing/TestClock"
import * as IdleWorkers from "../src/internal/runs/IdleWorkers.ts"
import { WorkSignal } from "../src/internal/runs/WorkSignal.ts"

const wanted = { workspace: WorkspaceId.make("w"), tasks: ["read"], packages: false, labels: undefined }

const signal = Layer.effect(
  WorkSignal,
  Effect.map(PubSub.sliding<void>(1), (signals) =>
    WorkSignal.of({
      afterCommit: Effect.asVoid(PubSub.publish(signals, undefined)),
      listen: Effect.map(PubSub.subscribe(signals), (subscription) => Effect.asVoid(PubSub.take(subscription)))
    })
  )
)

/** Step runs that wait, each for one of the workers with these numbers, and workers that look for them. */
const room = Effect.gen(function* () {
  const { lease } = yield* IdleWorkers.make
  const { afterCommit } = yield* WorkSignal
  const waiting: Array<(worker: number) => boolean> = []
  const looks: Array<number> = []
  /** A look takes a millisecond, and sees what waits when it begins. */
  const take = (worker: number) =>
    Effect.gen(function* () {
      looks.push(worker)
      const index = waiting.findIndex((isFor) => isFor(worker))
      const taken = index === -1 ? [] : waiting.splice(index, 1)
      yield* Effect.sleep(1)
      return taken
    })
  const worker = (n: number, of = wanted) =>
    lease(of, { take: take(n), somethingWaits: Effect.sync(() => waiting.length > 0) }, 20_000)
  const idle = (count: number) =>
    Effect.gen(function* () {
      const fibers = yield* Effect.forEach(
        Array.from({ length: count }, (_, n) => worker(n)),
        (one) => Effect.forkScoped(one)
      )
      yield* TestClock.adjust(10)
      looks.length = 0
      return fibers
    })
  const announce = (count: number, isFor: (worker: number) => boolean = () => true) =>
    Effect.suspend(() => {
      for (let n = 0; n < count; n++) waiting.push(isFor)
      return afterCommit
    })
  const queue = (...args: Parameters<typeof announce>) => Effect.andThen(announce(...args), TestClock.adjust(500))
  return { announce, idle, looks, queue, waiting, worker }
}).pipe(Effect.provide(signal))

const ended = (fibers: ReadonlyArray<Fiber.Fiber<unknown>>) =>
  fibers.filter((fiber) => fiber.pollUnsafe() !== undefined)

describe("of a thousand idle workers", () => {
  it.effect("one step run is looked for by three", () =>
    Effect.gen(function* () {
      const { idle, looks, queue, waiting } = yield* room
      const fibers = yield* idle(1000)
      yield* queue(1)
      assert.lengthOf(waiting, 0)
      assert.lengthOf(ended(fibers), 1)
      assert.isAtMost(looks.length, 3)
    })
  )

  it.effect("as many as there are step runs get one, with at most three looks for each", () =>
    Effect.gen(function* () {
      const { idle, looks, queue, waiting } = yield* room
      const fibers = yield* idle(1000)
      yield* queue(300)
      assert.lengthOf(waiting, 0)
      assert.lengthOf(ended(fibers), 300)
      assert.isAtMost(looks.length, 901)
    })
  )

  it.effect("the only one that can take a step run gets it", () =>
    Effect.gen(function* () {
      const { idle, queue, waiting } = yield* room
      const fibers = yield* idle(1000)
      yield* queue(1, (worker) => worker === 777)
      assert.lengthOf(waiting, 0)
      assert.deepStrictEqual(
        fibers.flatMap((fiber, n) => (fiber.pollUnsafe() === undefined ? [] : [n])),
        [777]
      )
    })
  )

  it.effect("those that want something else look once each", () =>
    Effect.gen(function* () {
      const { idle, looks, queue, worker } = yield* room
      yield* idle(10)
      const other = yield* Effect.forkScoped(worker(5000, { ...wanted, tasks: ["write"] }))
      yield* TestClock.adjust(10)
      looks.length = 0
      yield* queue(1, (worker) => worker === 5000)
      assert.isDefined(other.pollUnsafe())
      assert.strictEqual(looks.filter((n) => n === 5000).length, 1)
    })
  )
})

describe("a worker", () => {
  it.effect("that leaves when it was woken passes that on, wherever it was", () =>
    Effect.forEach(
      Array.from({ length: 20 }, (_, turns) => turns),
      (turns) =>
        Effect.gen(function* () {
          const { announce, idle, waiting } = yield* room
          const [first = assert.fail("no worker"), second] = yield* idle(2)
          yield* announce(1, (worker) => worker === 1)
          for (let n = 0; n < turns; n++) yield* Effect.yieldNow
          yield* Fiber.interrupt(first)
          yield* TestClock.adjust(500)
          assert.lengthOf(waiting, 0, `after ${turns} turns`)
          assert.isDefined(second?.pollUnsafe())
        }),
      { discard: true }
    )
  )

  it.effect("that is looking when work is announced looks again", () =>
    Effect.gen(function* () {
      const { queue, waiting, worker } = yield* room
      const fiber = yield* Effect.forkScoped(worker(1))
      // In the middle of its first look.
      yield* Effect.yieldNow
      yield* queue(1)
      assert.lengthOf(waiting, 0)
      assert.isDefined(fiber.pollUnsafe())
    })
  )

  it.effect("gets nothing after the time that it waits, and looks a last time then", () =>
    Effect.gen(function* () {
      const { idle, looks } = yield* room
      const [fiber = assert.fail("no worker")] = yield* idle(1)
      yield* TestClock.adjust(Duration.seconds(20))
      assert.deepStrictEqual(yield* Fiber.join(fiber), [])
      assert.deepStrictEqual(looks, [0])
    })
  )
})
