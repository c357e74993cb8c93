/** How many items are in hand and begin, of each key: commands without HTTP, in virtual time. */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { Pauses } from "../../src/internal/store/processes/Pauses.ts"
import { Database } from "../../src/internal/store/database/Database.ts"
import { Integrity } from "../../src/internal/store/database/Integrity.ts"
import { WorkItems } from "../../src/internal/store/items/WorkItems.ts"
import { Blocked } from "../../src/internal/store/runs/Blocked.ts"
import { ProcessRuns } from "../../src/internal/store/runs/ProcessRuns.ts"
import * as LimitsRoom from "../support/LimitsRoom.ts"

const { payloads } = LimitsRoom

/** One item of a customer in hand at a time. */
const one = { key: "/customer", limit: 1 } as const
const of = (customer: string | number | null, n: number) => ({ customer, n })

withLayer(LimitsRoom.layer, { excludeTestServices: true, timeout: "1 minute" })("limits by key", (it) => {
  describe("a limit of a step", () => {
    it.effect("gives so many items of a key at a time, and those of others meanwhile", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const process = yield* room.process("p", [{ max_parallel: 5, concurrency: one }])
        yield* room.start(process, [of("a", 1), of("a", 2), of("b", 1), of("a", 3)])
        const hands = yield* room.take(5)
        assert.deepStrictEqual(payloads(hands), [of("a", 1), of("b", 1)])
      })
    )

    it.effect("hands a key on to the next item of the same key", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const process = yield* room.process("p", [{ concurrency: one }])
        yield* room.start(process, [of("a", 1), of("a", 2)])
        const [hand = assert.fail("nothing")] = yield* room.take(5)
        const next = yield* room.next(hand)
        assert.deepStrictEqual(next?.item.payload, of("a", 2))
      })
    )

    it.effect("wakes a run whose step runs are free when another run frees its key", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const process = yield* room.process("p", [{ max_parallel: 2, concurrency: one }])
        yield* room.start(process, [of("a", 1)])
        const [hand = assert.fail("nothing")] = yield* room.take(5)
        yield* room.start(process, [of("a", 2), of("b", 1)])
        assert.deepStrictEqual(payloads(yield* room.take(5)), [of("b", 1)])
        assert.isNull(yield* room.next(hand))
        assert.deepStrictEqual(payloads(yield* room.take(5)), [])
        yield* room.look
        assert.deepStrictEqual(payloads(yield* room.take(5)), [of("a", 2)])
      })
    )

    it.effect("gives a freed key to what has waited for it longer in another run", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const process = yield* room.process("p", [{ max_parallel: 2, concurrency: one }])
        yield* room.at(0)(room.start(process, [of("a", 1), of("a", 2), of("a", 3)]))
        const [hand = assert.fail("nothing")] = yield* room.at(0)(room.take(5))
        yield* room.at(1000)(room.start(process, [of("a", 4)]))
        assert.deepStrictEqual(yield* room.at(1500)(room.take(5)), [])
        const second = yield* room.at(5000)(room.next(hand))
        assert.deepStrictEqual(second?.item.payload, of("a", 2))
        // The key was given to this run at 5000, and the other waits since 1000.
        assert.isNull(yield* room.at(6000)(room.next(second ?? assert.fail("nothing"))))
        yield* room.at(6000)(room.look)
        assert.deepStrictEqual(payloads(yield* room.at(6100)(room.take(5))), [of("a", 4)])
      })
    )

    it.effect("takes a text and a number for one key, and no value for no limit", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const process = yield* room.process("p", [{ max_parallel: 9, concurrency: one }])
        const free = [of(null, 1), of(null, 2), { n: 3 }, 4]
        yield* room.start(process, [of("70", 1), of(70, 2), ...free])
        assert.sameDeepMembers(payloads(yield* room.take(9)), [of("70", 1), ...free])
      })
    )

    it.effect("without a key counts all items together", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const process = yield* room.process("p", [{ max_parallel: 9, concurrency: { limit: 2 } }])
        yield* room.start(process, [1, 2, 3, 4])
        yield* room.start(process, [5])
        const [hand = assert.fail("nothing"), ...others] = yield* room.take(9)
        assert.deepStrictEqual(payloads([hand, ...others]), [1, 2])
        assert.strictEqual((yield* room.next(hand))?.item.payload, 3)
      })
    )
  })

  it.effect("a limit of the process counts its steps together, and nothing is held behind a gate", () =>
    Effect.gen(function* () {
      const room = yield* LimitsRoom.make
      const steps = [{ max_parallel: 2 }, { max_parallel: 2, start_after: "previous_step" }] as const
      const process = yield* room.process("p", steps, { concurrency: one })
      yield* room.start(process, [of("a", 1), of("a", 2)])
      const [hand = assert.fail("nothing"), ...none] = yield* room.take(5)
      assert.deepStrictEqual(none, [])
      // The output waits behind the gate, which waits for the second item.
      const second = (yield* room.next(hand, { outputs: [of("a", 3)] })) ?? assert.fail("held up")
      assert.isNull(yield* room.next(second))
      yield* room.look
      assert.deepStrictEqual(payloads(yield* room.take(5)), [of("a", 3)])
    })
  )

  it.effect("what waits behind a gate does not keep earlier steps from going on", () =>
    Effect.gen(function* () {
      const room = yield* LimitsRoom.make
      const runs = yield* Runs
      const steps = [{ retry: { max_attempts: 2, delay_seconds: 1 } }, { start_after: "previous_step" }] as const
      const process = yield* room.process("p", steps, { concurrency: one })
      yield* room.at(0)(room.start(process, [of("a", 1), of("a", 2)]))
      const [hand = assert.fail("nothing")] = yield* room.at(0)(room.take(5))
      const second = (yield* room.at(0)(room.next(hand, { outputs: [of("a", 3)] }))) ?? assert.fail("held up")
      // The step run ends: its output waits behind the gate, and the second item for its retry.
      assert.isNull(yield* room.at(0)(room.next(second, { exception: LimitsRoom.failure })))
      yield* room.at(2000)(runs.tick)
      assert.deepStrictEqual(payloads(yield* room.at(2000)(room.take(5))), [of("a", 2)])
    })
  )

  describe("a key is free again", () => {
    it.effect("when a lease expires that was not started", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const runs = yield* Runs
        const process = yield* room.process("p", [{ concurrency: one }])
        yield* room.at(0)(room.start(process, [of("a", 1)]))
        assert.strictEqual((yield* room.at(0)(room.lease(1))).length, 1)
        assert.strictEqual((yield* room.at(0)(room.lease(1))).length, 0)
        yield* room.at(60_000)(runs.tick)
        assert.deepStrictEqual(payloads(yield* room.at(60_000)(room.take(1))), [of("a", 1)])
      })
    )

    it.effect("while an item waits for its retry", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const runs = yield* Runs
        const retry = { max_attempts: 2, delay_seconds: 1 }
        const process = yield* room.process("p", [{ concurrency: one, retry }])
        yield* room.at(0)(room.start(process, [of("a", 1), of("a", 2)]))
        const [hand = assert.fail("nothing")] = yield* room.at(0)(room.take(1))
        const second = yield* room.at(0)(room.next(hand, { exception: LimitsRoom.failure }))
        assert.deepStrictEqual(second?.item.payload, of("a", 2))
        yield* room.at(2000)(runs.tick)
        const again = yield* room.at(2000)(room.next(second ?? assert.fail("nothing")))
        assert.deepStrictEqual(again?.item.payload, of("a", 1))
      })
    )

    it.effect("when its run is stopped", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const runs = yield* Runs
        const process = yield* room.process("p", [{ concurrency: one }])
        const run = yield* room.start(process, [of("a", 1), of("a", 2)])
        assert.strictEqual((yield* room.lease(1)).length, 1)
        yield* room.start(process, [of("a", 3)])
        assert.deepStrictEqual(yield* room.lease(1), [])
        yield* runs.stop(run, { asDone: true, terminate: true, reason: "test" })
        yield* room.look
        assert.deepStrictEqual(payloads(yield* room.take(2)), [of("a", 3)])
      })
    )
  })

  describe("the number is that of the process now", () => {
    const changed = (limit: number | null) =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const step = { name: "s0", task: { name: "t" }, max_parallel: 9 }
        const process = yield* room.process("p", [{ max_parallel: 9, concurrency: { key: "/customer", limit: 2 } }])
        yield* room.start(
          process,
          [1, 2, 3, 4].map((n) => of("a", n))
        )
        const hands = yield* room.take(9)
        assert.strictEqual(hands.length, 2)
        const concurrency = limit === null ? {} : { concurrency: { key: "/customer", limit } }
        yield* room.change(process, { name: "p", steps: [{ ...step, ...concurrency }] })
        return { room, hands }
      })

    it.effect("a lower one holds at once", () =>
      Effect.gen(function* () {
        const { hands, room } = yield* changed(1)
        const [first = assert.fail("nothing"), second = assert.fail("nothing")] = hands
        assert.isNull(yield* room.next(first, { keep: true }))
        assert.deepStrictEqual((yield* room.next(second))?.item.payload, of("a", 3))
      })
    )

    it.effect("a lifted one holds no more", () =>
      Effect.gen(function* () {
        const { room } = yield* changed(null)
        yield* room.look
        assert.deepStrictEqual(payloads(yield* room.take(9)), [of("a", 3), of("a", 4)])
      })
    )
  })

  it.effect("an item whose payload changes while it waits has another key", () =>
    Effect.gen(function* () {
      const room = yield* LimitsRoom.make
      const { transaction } = yield* Database
      const items = yield* WorkItems
      const runs = yield* ProcessRuns
      const process = yield* room.process("p", [{ max_parallel: 2, concurrency: one }])
      const run = yield* room.start(process, [of("a", 1), of("a", 2)])
      assert.strictEqual((yield* room.take(2)).length, 1)
      const filter = { processId: null, processRunId: run, state: "pending" } as const
      const [waiting = assert.fail("none waits")] = (yield* items.list(room.workspaceId, filter, {
        after: null,
        limit: 9
      })).rows
      assert.strictEqual(yield* items.runOfLane(room.workspaceId, waiting.id), run)
      const changed = Effect.gen(function* () {
        const locked = (yield* runs.lock(run)) ?? assert.fail("no run")
        assert.isTrue(yield* items.updatePayload(waiting.id, JSON.stringify(of("b", 2))))
        yield* (yield* Runs).enterAgain(locked, waiting.id)
      })
      yield* transaction(changed)
      assert.deepStrictEqual(payloads(yield* room.take(2)), [of("b", 2)])
    })
  )

  it.effect("what waits is shown with what has the key", () =>
    Effect.gen(function* () {
      const room = yield* LimitsRoom.make
      const blocked = yield* Blocked
      const process = yield* room.process("p", [{ max_parallel: 9, concurrency: one }])
      const run = yield* room.start(process, [of("a", 1), of("a", 2), of("a", 3), of("b", 1)])
      const [hand = assert.fail("nothing")] = yield* room.take(9)
      yield* room.start(process, [of("a", 4)])
      const [waits, ...others] = yield* blocked.waits(process.view.id)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(waits, { limit: 1, in_hand: 1, waiting: 3, room_at: null })
      assert.deepInclude(waits?.bucket, { kind: "concurrency", key: "/customer", value: "a" })
      assert.deepStrictEqual(
        waits?.held_by.map(({ process_run_id, work_item_id }) => [process_run_id, work_item_id]),
        [[run, hand.item.id]]
      )
    })
  )

  it.effect("the check of a room finds what is counted and in no hand, and what waits in no lane", () =>
    Effect.gen(function* () {
      const room = yield* LimitsRoom.make
      const { sql } = yield* Database
      const { counters } = yield* Integrity
      const process = yield* room.process("p", [{ max_parallel: 2, concurrency: one }])
      const run = yield* room.start(process, [of("a", 1), of("a", 2), of("b", 1)])
      const [hand = assert.fail("nothing"), other = assert.fail("nothing")] = yield* room.take(2)
      const isWrong = Effect.map(counters("", 500), ({ wrong }) => wrong.includes(run))
      assert.isFalse(yield* isWrong)
      yield* sql`UPDATE limit_claim SET given_at = NULL WHERE item_id = ${hand.item.id}`
      assert.isTrue(yield* isWrong)
      yield* sql`UPDATE limit_claim SET given_at = 1 WHERE item_id = ${hand.item.id}`
      assert.isFalse(yield* isWrong)
      yield* sql`DELETE FROM limit_lane WHERE process_run_id = ${run}`
      assert.isTrue(yield* isWrong)
      assert.isNull(yield* room.next(other))
    })
  )

  it.effect("nothing is given while its step is paused", () =>
    Effect.gen(function* () {
      const room = yield* LimitsRoom.make
      const pauses = yield* Pauses
      const process = yield* room.process("p", [{ concurrency: one }])
      yield* room.start(process, [of("a", 1), of("a", 2)])
      const [hand = assert.fail("nothing")] = yield* room.take(1)
      const by = { type: "api_key", id: "k", name: "k" } as const
      yield* pauses.pause(room.workspaceId, process.view.id, { by, note: null, again: false })
      assert.isNull(yield* room.next(hand))
    })
  )

  describe("a rate", () => {
    it.effect("begins so many attempts together, and the others evenly spaced", () =>
      Effect.gen(function* () {
        const room = yield* LimitsRoom.make
        const process = yield* room.process("p", [{ max_parallel: 9, rate: { limit: 2, per: "minute" } }])
        yield* room.at(0)(room.start(process, [1, 2, 3, 4]))
        assert.deepStrictEqual(payloads(yield* room.at(0)(room.take(1))), [1])
        // The clock of a database may be set back by a millisecond.
        assert.deepStrictEqual(payloads(yield* room.at(10)(room.take(9))), [2])
        const next = yield* room.at(10)(room.look)
        assert.isNotNull(next)
        yield* room.at(29_000)(room.look)
        assert.deepStrictEqual(payloads(yield* room.at(29_000)(room.take(9))), [])
        yield* room.at(30_010)(room.look)
        assert.deepStrictEqual(payloads(yield* room.at(30_010)(room.take(9))), [3])
        // However long it was idle.
        yield* room.at(3_600_000)(room.start(process, [5, 6]))
        yield* room.at(3_600_000)(room.look)
        assert.strictEqual((yield* room.at(3_600_000)(room.take(1))).length, 1)
        assert.strictEqual((yield* room.at(3_600_010)(room.take(9))).length, 1)
      })
    )
  })

  describe("keys take turns", () => {
    const inTurn = Effect.fnUntraced(function* (priority: number) {
      const room = yield* LimitsRoom.make
      const process = yield* room.process("p", [{ concurrency: { key: "/customer", limit: 9 } }])
      const flood = Array.from({ length: 5 }, (_, n) => of("a", n))
      yield* room.at(0)(room.start(process, [...flood, of("b", 1), of("b", 2), of("c", 1)], priority))
      let hand: LimitsRoom.Hand | null = (yield* room.at(1000)(room.take(1)))[0] ?? null
      const given: Array<unknown> = []
      for (let time = 2000; hand !== null; time += 1000) {
        given.push(`${JSON.stringify(hand.item.payload)}`)
        hand = yield* room.at(time)(room.next(hand))
      }
      return given
    })

    it.effect("one item after the other", () =>
      Effect.gen(function* () {
        const expected = [
          of("a", 0),
          of("b", 1),
          of("c", 1),
          of("a", 1),
          of("b", 2),
          of("a", 2),
          of("a", 3),
          of("a", 4)
        ]
        assert.deepStrictEqual(
          yield* inTurn(0),
          expected.map((payload) => JSON.stringify(payload))
        )
      })
    )
  })
})
