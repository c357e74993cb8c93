/** Whose turn it is: between processes that want the same workers. */
import { assert, describe, it as plain, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { millisPerPoint } from "../../src/internal/engine/Order.ts"
import { handedOver, inTurn, type Running, turnMillis, type Waiting } from "../../src/internal/engine/Turns.ts"
import { Pauses } from "../../src/internal/store/processes/Pauses.ts"
import { WorkerGroups } from "../../src/internal/store/workers/WorkerGroups.ts"
import { Turns } from "../../src/internal/store/runs/Turns.ts"
import { recorded } from "../support/Plans.ts"
import { onPostgres } from "../support/Service.ts"
import * as TurnsRoom from "../support/TurnsRoom.ts"

const now = 1_000_000_000

/** One that has waited for so many seconds. */
const waiting = (process: string, seconds: number, priority = 0): Waiting => ({
  id: `${process} ${seconds}`,
  process,
  sortKey: now - seconds * 1000 - priority * millisPerPoint,
  priority
})

describe("the order of what waits", () => {
  plain("is that of its sort keys while nobody has a worker", () => {
    const order = inTurn([waiting("b", 1), waiting("a", 3), waiting("c", 2)], new Map(), now)
    assert.deepStrictEqual(order, ["a 3", "c 2", "b 1"])
  })

  plain("has one process after the other, in which what came first is first", () => {
    const flood = [9, 8, 7].map((seconds) => waiting("a", seconds))
    const order = inTurn([...flood, waiting("b", 2), waiting("b", 1)], new Map(), now)
    assert.deepStrictEqual(order, ["a 9", "b 2", "a 8", "b 1", "a 7"])
  })

  plain("begins with a process that has no worker, and then with the one that has the fewest", () => {
    const shares = new Map([
      ["a", { held: 2, endedAt: null }],
      ["b", { held: 1, endedAt: null }]
    ])
    const order = inTurn([waiting("a", 9), waiting("b", 5), waiting("c", 1)], shares, now)
    assert.deepStrictEqual(order, ["c 1", "b 5", "a 9"])
  })

  plain("counts the waiting of a process from when it last had a worker", () => {
    const shares = new Map([["a", { held: 0, endedAt: now - 2000 }]])
    assert.deepStrictEqual(inTurn([waiting("a", 9), waiting("b", 3)], shares, now), ["b 3", "a 9"])
    assert.deepStrictEqual(inTurn([waiting("a", 9), waiting("b", 1)], shares, now), ["a 9", "b 1"])
  })

  plain("lets a priority ahead, by ten minutes for each point", () => {
    const shares = new Map([["a", { held: 3, endedAt: null }]])
    const urgent = waiting("a", 1, 2)
    assert.deepStrictEqual(inTurn([waiting("b", 19 * 60), urgent], shares, now), ["a 1", "b 1140"])
    assert.deepStrictEqual(inTurn([waiting("b", 21 * 60), urgent], shares, now), ["b 1260", "a 1"])
  })

  plain("has no further penalty for a low priority than its sort key", () => {
    const shares = new Map([["a", { held: 1, endedAt: null }]])
    const low = waiting("a", 100 * 10 * 60 + 60, -100)
    assert.deepStrictEqual(inTurn([waiting("b", -1), low], shares, now), [low.id, "b -1"])
  })
})

describe("a step run", () => {
  const running = (process: string, seconds: number, priority = 0): Running => ({
    id: `running ${process}`,
    process,
    priority,
    startedAt: now - seconds * 1000
  })
  const over = (mine: Running, others: ReadonlyArray<Waiting>, held: Readonly<Record<string, number>>) =>
    handedOver([mine], others, new Map(Object.entries(held).map(([of, held]) => [of, { held, endedAt: null }])), now)
      .size === 1

  plain("hands over when another process waits that has two workers less", () => {
    assert.isTrue(over(running("a", 1), [waiting("b", 1)], { a: 2 }))
    assert.isTrue(over(running("a", 1), [waiting("b", 1)], { a: 4, b: 2 }))
    assert.isFalse(over(running("a", 1), [waiting("b", 1)], { a: 2, b: 1 }))
  })

  plain("keeps its worker for a turn where there are more processes than workers", () => {
    assert.isFalse(over(running("a", turnMillis / 1000 - 1), [waiting("b", 1)], { a: 1 }))
    assert.isTrue(over(running("a", turnMillis / 1000), [waiting("b", 1)], { a: 1 }))
    assert.isFalse(over(running("a", turnMillis / 1000), [waiting("b", 1)], { a: 1, b: 1 }))
  })

  plain("keeps it while only its own process waits, or what is behind in priority", () => {
    assert.isFalse(over(running("a", 60), [waiting("a", 30)], { a: 4 }))
    assert.isFalse(over(running("a", 60, 50), [waiting("b", 30)], { a: 4 }))
  })

  plain("counts what others of its request hand over", () => {
    const mine = [1, 2, 3].map((n) => ({ ...running("a", 1), id: `${n}` }))
    const held = new Map([["a", { held: 3, endedAt: null }]])
    assert.deepStrictEqual([...handedOver(mine, [waiting("b", 1)], held, now)], ["1"])
  })
})

withLayer(TurnsRoom.layer, { excludeTestServices: true, timeout: "4 minutes" })("a worker", (it) => {
  it.effect("is given step runs by turns between processes, and all of one when no other waits", () =>
    Effect.gen(function* () {
      const { at, process, start, take } = yield* TurnsRoom.make
      const many = yield* process("many", { parallel: 5 })
      const few = yield* process("few")
      yield* at(0)(start(many, 5))
      yield* at(1000)(start(few))
      const given = [...(yield* at(2000)(take(1))), ...(yield* at(3000)(take(1))), ...(yield* at(4000)(take(10)))]
      assert.deepStrictEqual(
        given.map((hand) => hand.process),
        [many.view.id, few.view.id, many.view.id, many.view.id, many.view.id, many.view.id]
      )
    })
  )

  it.effect("takes them in turns in one request too", () =>
    Effect.gen(function* () {
      const { at, process, start, take } = yield* TurnsRoom.make
      const many = yield* process("many", { parallel: 5 })
      const few = yield* process("few", { parallel: 2 })
      yield* at(0)(start(many, 5))
      yield* at(1000)(start(few, 2))
      const given = yield* at(2000)(take(4))
      assert.deepStrictEqual(
        given.map((hand) => hand.process),
        [many.view.id, few.view.id, many.view.id, few.view.id]
      )
    })
  )

  it.effect("finds the first of many processes without those behind it, where nobody else leases meanwhile", () =>
    Effect.gen(function* () {
      const { process, start, worker } = yield* TurnsRoom.make
      for (let n = 0; n < 11; n++) yield* start(yield* process(`of ${n}`, { parallel: 3 }), 3)
      const turns = yield* Turns
      const { statements } = yield* recorded(turns.next(worker, { tasks: ["t"], packages: false }, 1))
      // The worker, and the processes with the first of each; other nodes may hold some of these.
      assert.lengthOf(statements, onPostgres ? 3 : 2)
    })
  )

  it.effect("is handed over by a process with many items, which goes on when the other has ended", () =>
    Effect.gen(function* () {
      const { at, next, process, start, take } = yield* TurnsRoom.make
      const many = yield* process("many", { parallel: 2 })
      const few = yield* process("few")
      yield* at(0)(start(many, 10))
      const [one, two] = yield* at(0)(take(2))
      const kept = (yield* at(1000)(next(one ?? assert.fail("not given")))) ?? assert.fail("handed over")
      yield* at(1500)(start(few))
      assert.isNull(yield* at(2000)(next(two ?? assert.fail("not given"))))
      const [other] = yield* at(2000)(take(1))
      assert.strictEqual(other?.process, few.view.id)
      // One worker each: it is kept for a turn, and nobody else waits.
      assert.isNotNull(yield* at(2500)(next(kept)))
      assert.isNull(yield* at(3000)(next(other ?? assert.fail("not given"))))
      assert.strictEqual((yield* at(3000)(take(1)))[0]?.process, many.view.id)
    })
  )

  it.effect("goes by turns between two processes with many items each", () =>
    Effect.gen(function* () {
      const { at, next, process, start, take } = yield* TurnsRoom.make
      const a = yield* process("a")
      const b = yield* process("b")
      yield* at(0)(start(a, 100))
      yield* at(1000)(start(b, 100))
      const given: Array<string> = []
      let [hand] = yield* at(1500)(take(1))
      // Items of three seconds each.
      for (let seconds = 3; seconds < 60; seconds += 3) {
        const { process = assert.fail("not given") } = hand ?? {}
        given.push(process === a.view.id ? "a" : "b")
        hand =
          (yield* at(seconds * 1000)(next(hand ?? assert.fail("not given")))) ?? (yield* at(seconds * 1000)(take(1)))[0]
      }
      assert.strictEqual(given.join(""), "aaaabbbbaaaabbbbaaa")
    })
  )

  it.effect("is kept while what waits is paused, or needs another worker", () =>
    Effect.gen(function* () {
      const { at, next, process, start, take, workspaceId } = yield* TurnsRoom.make
      const group = yield* (yield* WorkerGroups).create(workspaceId, "others")
      const many = yield* process("many", { parallel: 2 })
      const paused = yield* process("paused")
      const bound = yield* process("bound", { group: (group ?? assert.fail("taken")).id })
      const other = yield* process("other", { task: "other" })
      yield* at(0)(start(many, 10))
      const [one] = yield* at(0)(take(2))
      yield* (yield* Pauses).pause(workspaceId, paused.view.id, {
        by: { type: "api_key", id: null, name: null },
        note: null,
        again: false
      })
      for (const waits of [paused, bound, other]) yield* at(1000)(start(waits))
      assert.isNotNull(yield* at(60_000)(next(one ?? assert.fail("not given"))))
      assert.lengthOf(yield* at(60_000)(take(1)), 0)
    })
  )
})
