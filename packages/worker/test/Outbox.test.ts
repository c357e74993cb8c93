import { assert, describe, it } from "@effect/vitest"
import { WorkItemId } from "@signalbox/api/contract/Ids"
import type { NextAsk, ReservedItem, SettledItem } from "@signalbox/api/robot/WorkerProtocol"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import * as Batching from "../src/internal/items/Batching.ts"
import * as Outbox from "../src/internal/items/Outbox.ts"
import * as WorkerSource from "../src/internal/items/WorkerSource.ts"
import * as MemorySession from "./support/MemorySession.ts"
import { lease } from "./support/Protocol.ts"

const itemOf = (n: number): ReservedItem => ({
  work_item_id: WorkItemId.make(String(n)),
  attempt: 1,
  payload: n,
  files: []
})
const done = (item: ReservedItem): SettledItem => ({
  work_item_id: item.work_item_id,
  attempt: item.attempt,
  state: "COMPLETED"
})
const settledIn = ({ ahead, settled }: NextAsk) =>
  [...(settled === null ? [] : [settled]), ...(ahead?.also_settled ?? [])].map(({ work_item_id }) => work_item_id)

/**
 * A service with items from 1 on, that gives as many ahead as are wanted, but `share` at most. It responds while it is open; `mayBegin`
 * is what it says.
 */
const makeService = Effect.fnUntraced(function* (items: number, share: number) {
  const open = yield* Latch.make(true)
  const waiting = Arr.range(1, items).map(itemOf)
  const asked: Array<NextAsk> = []
  const says = { mayBegin: true }
  let reserved = waiting.shift() ?? null
  let ahead: ReadonlyArray<ReservedItem> = []
  const respond = (ask: NextAsk) => {
    const ended = new Set<string>(settledIn(ask))
    const begun = ask.ahead?.begun?.work_item_id
    const hand = [...(reserved === null ? [] : [reserved]), ...ahead].filter((one) => !ended.has(one.work_item_id))
    if (!ask.reserve && begun === undefined) {
      waiting.unshift(...hand.splice(0))
      return { item: null, ahead: [] }
    }
    reserved = hand.shift() ?? waiting.shift() ?? null
    // Only who settles an item is given more.
    if (ended.size === 0) return { item: begun === undefined ? reserved : null, ahead: [] }
    const has = new Set<string>(ask.ahead?.not_begun)
    ahead = [...hand, ...waiting.splice(0, Math.max(0, Math.min(share, ask.ahead?.wanted ?? 0) - hand.length))]
    return { item: begun === undefined ? reserved : null, ahead: ahead.filter((one) => !has.has(one.work_item_id)) }
  }
  const nextItems: Batching.Calls["nextItems"] = Effect.fnUntraced(function* (_run, asks) {
    asked.push(...asks)
    yield* open.await
    return asks.map((ask) => ({ ...respond(ask), ...says, error: null }))
  })
  const outbox = Outbox.make(lease("a", "task"), yield* Batching.make({ nextItems }))
  return { open, asked, says, waiting, outbox }
})

/** Advances to the end; `work` is what each item takes. */
const workAll = Effect.fnUntraced(function* ({ advance }: Outbox.Outbox, work: Effect.Effect<void> = Effect.void) {
  const worked: Array<string> = []
  let item = yield* advance(null, true)
  while (item !== null) {
    worked.push(item.work_item_id)
    yield* work
    item = yield* advance(done(item), true)
  }
  return worked
})

const numbers = (last: number) => Arr.range(1, last).map(String)

describe("items ahead", () => {
  it.effect("are begun in their order while results are sent, many in a call", () =>
    Effect.gen(function* () {
      const { asked, outbox } = yield* makeService(100, 20)
      assert.deepStrictEqual(yield* workAll(outbox), numbers(100))
      assert.deepStrictEqual(asked.flatMap(settledIn), numbers(100))
      assert.isBelow(asked.length, 20)
    })
  )

  it.effect("are not asked for when items take longer than calls", () =>
    Effect.gen(function* () {
      const { asked, outbox } = yield* makeService(5, 20)
      const all = yield* Effect.forkChild(workAll(outbox, Effect.sleep("1 minute")))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* Fiber.join(all), numbers(5))
      assert.deepStrictEqual(
        asked.slice(1).map(({ ahead }) => ahead?.wanted),
        [0, 0, 0, 0, 0]
      )
    })
  )

  it.effect("take a call each where the service gives none", () =>
    Effect.gen(function* () {
      const { asked, outbox } = yield* makeService(5, 0)
      assert.deepStrictEqual(yield* workAll(outbox), numbers(5))
      assert.deepStrictEqual(asked.map(settledIn), [[], ["1"], ["2"], ["3"], ["4"], ["5"]])
    })
  )

  it.effect("are begun on, with one call under way, until none is left", () =>
    Effect.gen(function* () {
      const { asked, open, outbox } = yield* makeService(10, 3)
      const first = (yield* outbox.advance(null, true)) ?? assert.fail("no item")
      let item = (yield* outbox.advance(done(first), true)) ?? assert.fail("no item")
      yield* open.close
      for (const _ of [1, 2, 3]) {
        item = (yield* outbox.advance(done(item), true)) ?? assert.fail("no item")
        yield* TestClock.adjust(0)
      }
      const waits = yield* Effect.forkChild(outbox.advance(done(item), true))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(asked.map(settledIn), [[], ["1"], ["2"]])
      assert.isUndefined(waits.pollUnsafe())
      yield* open.open
      assert.strictEqual((yield* Fiber.join(waits))?.work_item_id, "6")
    })
  )

  it.effect("wait for a response once the service says so", () =>
    Effect.gen(function* () {
      const { asked, outbox, says } = yield* makeService(10, 3)
      const first = (yield* outbox.advance(null, true)) ?? assert.fail("no item")
      says.mayBegin = false
      let item = (yield* outbox.advance(done(first), true)) ?? assert.fail("no item")
      for (const expected of ["3", "4"]) {
        item = (yield* outbox.advance(done(item), true)) ?? assert.fail("no item")
        yield* TestClock.adjust(0)
        assert.strictEqual(item.work_item_id, expected)
        assert.isUndefined(asked.at(-1)?.ahead?.begun)
      }
    })
  )

  it.effect("are given back, and results are sent, when the step run takes no more", () =>
    Effect.gen(function* () {
      const { asked, outbox, waiting } = yield* makeService(10, 3)
      const first = (yield* outbox.advance(null, true)) ?? assert.fail("no item")
      const second = (yield* outbox.advance(done(first), true)) ?? assert.fail("no item")
      const third = (yield* outbox.advance(done(second), true)) ?? assert.fail("no item")
      assert.isNull(yield* outbox.advance(done(third), false))
      assert.deepStrictEqual(asked.flatMap(settledIn), ["1", "2", "3"])
      assert.deepStrictEqual(
        waiting.map(({ work_item_id }) => work_item_id),
        ["4", "5", "6", "7", "8", "9", "10"]
      )
    })
  )

  it.effect("that have ended are sent when the task is stopped, with the one that was begun", () =>
    Effect.gen(function* () {
      const { asked, open, outbox } = yield* makeService(10, 3)
      const first = (yield* outbox.advance(null, true)) ?? assert.fail("no item")
      let item = (yield* outbox.advance(done(first), true)) ?? assert.fail("no item")
      yield* open.close
      for (const _ of [1, 2]) item = (yield* outbox.advance(done(item), true)) ?? assert.fail("no item")
      const closing = yield* Effect.forkChild(outbox.close)
      yield* open.open
      yield* Fiber.join(closing)
      assert.deepStrictEqual(asked.flatMap(settledIn), ["1", "2", "3"])
      assert.strictEqual(asked.at(-1)?.ahead?.begun?.work_item_id, item.work_item_id)
      assert.isFalse(asked.at(-1)?.reserve)
    })
  )

  it.effect("that have ended are sent while a slow one is in progress, and that it has begun", () =>
    Effect.gen(function* () {
      const { asked, open, outbox } = yield* makeService(10, 3)
      const first = (yield* outbox.advance(null, true)) ?? assert.fail("no item")
      let item = (yield* outbox.advance(done(first), true)) ?? assert.fail("no item")
      yield* open.close
      for (const _ of [1, 2]) {
        item = (yield* outbox.advance(done(item), true)) ?? assert.fail("no item")
        yield* TestClock.adjust(0)
      }
      yield* open.open
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(asked.map(settledIn), [[], ["1"], ["2"], ["3"]])
      assert.strictEqual(asked.at(-1)?.ahead?.begun?.work_item_id, item.work_item_id)
    })
  )

  it.effect("end with the failure of the call that settles what was before them", () =>
    Effect.gen(function* () {
      let failing = false
      const nextItems: Batching.Calls["nextItems"] = Effect.fnUntraced(function* (_run, [ask]) {
        if (failing) return yield* MemorySession.refused
        const item = ask?.settled === null ? itemOf(1) : itemOf(2)
        return [{ item, ahead: [itemOf(3), itemOf(4)], mayBegin: true, error: null }]
      })
      const outbox = Outbox.make(lease("a", "task"), yield* Batching.make({ nextItems }))
      const first = (yield* outbox.advance(null, true)) ?? assert.fail("no item")
      failing = true
      const third = (yield* outbox.advance(done(first), true)) ?? assert.fail("no item")
      assert.strictEqual(third.work_item_id, "3")
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(yield* Effect.exit(outbox.advance(done(third), true)), Exit.fail(MemorySession.refused))
    })
  )
})

describe("a task", () => {
  const working = Effect.gen(function* () {
    const { asked, outbox } = yield* makeService(200, 20)
    const { actions, session } = MemorySession.make({})
    const source = WorkerSource.of(outbox, session)
    /** Settles items up to the one with this number. */
    const upTo = Effect.fnUntraced(function* (last: number, output: string) {
      let item = yield* source.advance(null, true)
      while (item !== null && item.id !== String(last)) {
        yield* source.createOutput(item.id, output, [])
        item = yield* source.advance({ id: item.id, release: { state: "COMPLETED" } }, true)
      }
      return item?.id ?? assert.fail("no item")
    })
    return { actions, asked, source, upTo }
  })

  it.effect("changes an item that was ahead after the service knows that it has begun", () =>
    Effect.gen(function* () {
      const { actions, asked, source, upTo } = yield* working
      const item = yield* upTo(5, "small")
      yield* source.setPayload(item, "new")
      assert.deepStrictEqual(asked.at(-1)?.ahead?.begun, { work_item_id: item, attempt: 1 })
      assert.deepStrictEqual(asked.flatMap(settledIn), ["1", "2", "3", "4"])
      assert.deepStrictEqual(actions, [{ did: "payload", on: item, payload: "new" }])
    })
  )

  it.effect("sends at most 20,000 characters of outputs in a call", () =>
    Effect.gen(function* () {
      const { actions, asked, upTo } = yield* working
      yield* upTo(60, "x".repeat(6000))
      const sizes = asked.map(({ ahead, settled }) => JSON.stringify([settled?.outputs, ahead?.also_settled]).length)
      assert.isBelow(Math.max(...sizes), 21_000)
      assert.isTrue(asked.some((ask) => settledIn(ask).length > 1))
      assert.deepStrictEqual(actions, [])
    })
  )
})
