/**
 * Items of fifty keys on four workers, with retries, pauses, gates, lost workers and leases that nobody starts: no key is over its
 * limit at any moment, every item ends, and no key that has room is passed over again and again.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import type { WorkerId } from "@signalbox/api/contract/Ids"
import { integer, nullable, query, Row, text } from "@signalbox/sql/Table"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { Integrity } from "../../src/internal/store/database/Integrity.ts"
import { Database } from "../../src/internal/store/database/Database.ts"
import { Pauses } from "../../src/internal/store/processes/Pauses.ts"
import { Workers } from "../../src/internal/store/workers/Workers.ts"
import * as LimitsRoom from "../support/LimitsRoom.ts"

const keys = 50
const workers = 4
const items = sized(240, 10_000)
const runsAtOnce = 4
const ofStep = 1
const ofProcess = 2
const longAgo = "2020-01-01T00:00:00.000Z"

const random = (seed: number) => () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647

withLayer(LimitsRoom.layer, { excludeTestServices: true, timeout: "10 minutes" })("limits by key", (it) => {
  it.effect("hold at every moment, and nothing starves or is left", () =>
    Effect.gen(function* () {
      const room = yield* LimitsRoom.make
      const runs = yield* Runs
      const pauses = yield* Pauses
      const known = yield* Workers
      const { sql } = yield* Database
      const next = random(45)
      const concurrency = { key: "/customer", limit: ofStep }
      const steps = [
        { max_parallel: 8, concurrency, retry: { max_attempts: 9, delay_seconds: 0.02 } },
        { max_parallel: 8, concurrency, start_after: "previous_step", retry: { max_attempts: 9, delay_seconds: 0.02 } }
      ] as const
      const process = yield* room.process("p", steps, { concurrency: { key: "/customer", limit: ofProcess } })
      for (let run = 0; run < runsAtOnce; run++) {
        // A few keys have most items.
        const customers = Array.from({ length: items / runsAtOnce / 2 }, () => Math.floor(next() ** 2 * keys))
        yield* room.start(
          process,
          customers.map((customer) => ({ customer }))
        )
      }

      /** What is in the hands of workers: of what the service has given, what it certainly has not freed. */
      const hands = new Map<string, number>()
      const started: Array<WorkerId> = []
      let lives = 0
      let most = 0
      const customerOf = ({ item, leased }: LimitsRoom.Hand) => {
        const { customer } = item.payload as { readonly customer: number }
        return [`p ${customer}`, `${leased.stepRun.stepId} ${customer}`] as const
      }
      const count = (hand: LimitsRoom.Hand, by: 1 | -1) => {
        for (const [index, name] of customerOf(hand).entries()) {
          const held = (hands.get(name) ?? 0) + by
          hands.set(name, held)
          assert.isAtMost(held, index === 0 ? ofProcess : ofStep, name)
          if (index === 0) most = Math.max(most, held)
        }
      }
      // Who kills takes all: it would end what another has just been given.
      const gate = yield* Semaphore.make(workers)
      const alone = gate.withPermits(1)

      const process1 = Effect.fnUntraced(function* (first: LimitsRoom.Hand, by: typeof room.worker) {
        let hand: LimitsRoom.Hand | null = first
        while (hand !== null) {
          const held: LimitsRoom.Hand = hand
          const life = lives
          yield* Effect.sleep(Math.floor(next() * 2))
          hand = yield* alone(
            Effect.gen(function* () {
              // All workers were killed meanwhile.
              if (life !== lives) return null
              count(held, -1)
              const fate = next()
              if (fate < 0.02) {
                yield* runs.finish(held.leased.stepRun, { code: "WORKER_LOST", message: "killed" })
                return null
              }
              const fails = fate < 0.1
              const then = yield* room.next(held, {
                by,
                exception: fails ? LimitsRoom.failure : null,
                outputs: fails ? [] : [held.item.payload]
              })
              if (then !== null) count(then, 1)
              return then
            })
          ).pipe(Effect.catchTag("Refused", () => Effect.succeed(null)))
        }
      })

      const work = Effect.gen(function* () {
        const by = yield* room.newWorker
        started.push(by.id)
        while (true) {
          yield* known.seen(by.id)
          const taken = yield* alone(
            Effect.gen(function* () {
              const leased = yield* room.lease(3, by)
              const all: Array<LimitsRoom.Hand> = []
              for (const one of leased) {
                // Some leases are never started.
                if (next() < 0.03) continue
                const hand = yield* room.begin(one, by)
                count(hand, 1)
                all.push(hand)
              }
              return all
            })
          )
          yield* Effect.forEach(taken, (hand) => process1(hand, by), { concurrency: "unbounded" })
          if (taken.length === 0) yield* Effect.sleep(5)
        }
      })

      const trouble = Effect.gen(function* () {
        while (true) {
          yield* Effect.sleep(200)
          const by = { type: "api_key", id: "k", name: "k" } as const
          const subject = next() < 0.5 ? process.view.id : (process.steps[0]?.id ?? assert.fail("no step"))
          yield* pauses.pause(room.workspaceId, subject, { by, note: null, again: false })
          yield* Effect.sleep(20)
          yield* pauses.resume(room.workspaceId, subject)
          // All workers start again without their step runs, and leases that were not started expire.
          yield* gate.withPermits(workers)(
            Effect.gen(function* () {
              lives++
              hands.clear()
              yield* sql`UPDATE step_run SET started_at = ${longAgo} WHERE state = 'in_progress'`
              yield* sql`UPDATE step_run SET lease_expires_at = ${longAgo} WHERE lease_expires_at IS NOT NULL`
              yield* Effect.forEach(started, (id) => runs.heard(id, []))
              yield* runs.tick
              assert.deepStrictEqual((yield* counters("", 500)).wrong, [])
            })
          )
        }
      })

      const laneRow = Row({
        run: text,
        step: integer,
        lane: text,
        given_at: integer,
        given: integer,
        blocked_by: nullable(text)
      })
      /** Lanes that wait with room, and how much their step had given when they began to. */
      const passed = new Map<string, number>()
      let given = 0
      const watch = Effect.gen(function* () {
        while (true) {
          yield* Effect.sleep(50)
          const rows = yield* query(
            laneRow,
            sql`
              SELECT process_run_id AS run, step, lane, given_at, blocked_by,
                (SELECT count(*) FROM step_run_event JOIN step_run ON step_run.id = step_run_event.step_run_id
                  WHERE step_run.process_run_id = limit_lane.process_run_id AND step_run.step = limit_lane.step
                    AND event_type = 'ITEM_RESERVED') AS given
              FROM limit_lane
              WHERE blocked_by IS NULL AND EXISTS (
                SELECT 1 FROM work_item WHERE work_item.process_run_id = limit_lane.process_run_id
                  AND work_item.step = limit_lane.step AND work_item.lane = limit_lane.lane
                  AND state = 'pending' AND step_run_id IS NULL AND not_before IS NULL)`
          )
          const now = new Set(rows.map(({ given_at, lane, run, step }) => `${run} ${step} ${lane} ${given_at}`))
          for (const name of passed.keys()) if (!now.has(name)) passed.delete(name)
          for (const { given: total, given_at, lane, run, step } of rows) {
            const name = `${run} ${step} ${lane} ${given_at}`
            const since = passed.get(name) ?? total
            passed.set(name, since)
            // Each other key is given one item at most, and some step runs have theirs already.
            assert.isAtMost(total - since, 2 * keys + 16, name)
            given = Math.max(given, total - since)
          }
        }
      })

      const { counters } = yield* Integrity
      const ended = Effect.gen(function* () {
        while (true) {
          yield* runs.tick
          const open = yield* sql`SELECT 1 FROM process_run WHERE state IN ('new', 'in_progress') LIMIT 1`
          if (open.length === 0) return
          yield* Effect.sleep(50)
        }
      })
      const fibers = yield* Effect.forEach([...Array.from({ length: workers }, () => work), trouble, watch], (one) =>
        Effect.forkChild(one)
      )
      yield* Effect.raceFirst(ended, Effect.raceAllFirst(fibers.map(Fiber.join)))
      yield* Effect.forEach(fibers, Fiber.interrupt)
      const left = yield* query(
        Row({ claims: integer, items: integer }),
        sql`
          SELECT (SELECT count(*) FROM limit_claim) AS claims,
            (SELECT count(*) FROM work_item WHERE state IN ('pending', 'in_progress')) AS items`
      )
      assert.deepStrictEqual(left, [{ claims: 0, items: 0 }])
      assert.isAbove(most, 1)
    })
  )
})
