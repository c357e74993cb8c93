/**
 * Items of fifty keys on four workers, which are processes that are killed while they have items, with retries, pauses, gates and leases
 * that nobody starts: by the events no key is over its limit at any moment, every item ends, and no key that has room is passed over
 * again and again.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Workers from "@signalbox/api/Workers"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { integer, nullable, query, Row, text } from "@signalbox/sql/Table"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Integrity } from "../../src/internal/store/database/Integrity.ts"
import { keysPassedOver } from "../support/KeysPassedOver.ts"
import { layer, Service } from "../support/Service.ts"

const keys = 50
const workers = 4
const items = sized(240, 10_000)
const runsAtOnce = sized(4, 8)
const ofStep = 1
const ofProcess = 2
const kills = sized(6, 200)
const longAgo = "2020-01-01T00:00:00.000Z"

const random = (seed: number) => () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647

const script = fileURLToPath(new URL("../support/limitsWorker.ts", import.meta.url))

const spawned = (origin: string, token: string, seed: number) =>
  spawn(process.execPath, [script, origin, token, String(seed)], { stdio: ["ignore", "ignore", "inherit"] })

const killed = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    child.on("close", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** A worker whose process can be killed and started again. */
const worker = Effect.fnUntraced(function* (seed: number) {
  const { origin } = yield* Service
  const sql = yield* SqlClient.SqlClient
  const { link_token } = yield* Workers.createLinkToken()
  const { token, workerId } = yield* WorkerProtocol.link({
    origin,
    linkToken: Redacted.make(link_token),
    name: `w${seed}`,
    tasks: ["t"]
  })
  let [child, lives] = [spawned(origin, Redacted.value(token), seed), 0]
  yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
  return {
    /** Kills the process and starts another; returns how many items it had. */
    kill: Effect.gen(function* () {
      const running = sql`SELECT 1 FROM step_run WHERE worker_id = ${workerId} AND state = 'in_progress'`
      // While it has some, if it has any soon.
      yield* Effect.repeat(running, {
        until: ({ length }) => length > 0,
        schedule: Schedule.spaced("2 millis"),
        times: 200
      })
      yield* killed(child)
      const had = yield* running
      lives++
      child = spawned(origin, Redacted.value(token), seed + 100 * lives)
      return had.length
    })
  }
})

const eventRow = Row({ type: text, step_run: text, item: nullable(text), step: text, payload: nullable(text) })

/** Plays all events in their order, and counts what each key has at each moment. `second`: the step that has a limit of its own. */
const overTheirLimit = Effect.fnUntraced(function* (second: string) {
  const sql = yield* SqlClient.SqlClient
  const events = yield* query(
    eventRow,
    sql`
      SELECT event_type AS type, step_run.id AS step_run, work_item_id AS item, step_run.step_id AS step, work_item.payload
      FROM step_run_event JOIN step_run ON step_run.id = step_run_event.step_run_id
      LEFT JOIN work_item ON work_item.id = step_run_event.work_item_id
      WHERE event_type IN ('ITEM_RESERVED', 'ITEM_RELEASED', 'ITEM_FAILED', 'END')
      ORDER BY step_run_event.id`
  )
  const has = new Map<string, ReadonlyArray<readonly [bucket: string, limit: number]>>()
  const held = new Map<string, number>()
  const over: Array<string> = []
  let most = 0
  for (const { item, payload, step, step_run, type } of events) {
    for (const [bucket] of has.get(step_run) ?? []) held.set(bucket, (held.get(bucket) ?? 0) - 1)
    has.delete(step_run)
    if (type !== "ITEM_RESERVED") continue
    const customer = payload ?? assert.fail(`${item} has no payload`)
    const buckets = [
      [`process ${customer}`, ofProcess] as const,
      ...(step === second ? [[`step ${customer}`, ofStep] as const] : [])
    ]
    has.set(step_run, buckets)
    for (const [bucket, limit] of buckets) {
      const now = (held.get(bucket) ?? 0) + 1
      held.set(bucket, now)
      if (now > limit) over.push(`${bucket} has ${now}`)
      most = Math.max(most, now)
    }
  }
  return { over, most, reserved: events.filter(({ type }) => type === "ITEM_RESERVED").length }
})

withLayer(layer, { excludeTestServices: true, timeout: "10 minutes" })("limits by key", (it) => {
  it.effect("hold at every moment while workers are killed, and nothing starves or is left", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { counters } = yield* Integrity
      const next = random(45)
      const retry = { max_attempts: 9, delay_seconds: 0.02 }
      const ofBoth = { task: { name: "t" }, max_parallel: 8, retry }
      const made = yield* Processes.create({
        name: "drill",
        concurrency: { key: "/customer", limit: ofProcess },
        steps: [
          { name: "read", ...ofBoth },
          { name: "write", ...ofBoth, concurrency: { key: "/customer", limit: ofStep }, start_after: "previous_step" }
        ]
      })
      for (let run = 0; run < runsAtOnce; run++) {
        // A few keys have most items.
        const payloads = Array.from({ length: items / runsAtOnce / 2 }, () => ({
          customer: Math.floor(next() ** 2 * keys)
        }))
        yield* ProcessRuns.start(made.id, { payloads })
      }
      const all = yield* Effect.forEach(
        Array.from({ length: workers }, (_, n) => n + 1),
        worker
      )

      let [killedWithItems, killedAtAll] = [0, 0]
      const trouble = Effect.gen(function* () {
        for (let n = 0; n < kills; n++) {
          yield* Effect.sleep("150 millis")
          const step = next() < 0.5 ? undefined : made.steps[0]?.id
          yield* Processes.pause(made.id, { step })
          yield* Effect.sleep("20 millis")
          yield* Processes.resume(made.id, { step })
          const one = all[n % workers] ?? assert.fail("no worker")
          if ((yield* one.kill) > 0) killedWithItems++
          killedAtAll++
          assert.deepStrictEqual((yield* counters("", 500)).wrong, [])
        }
      })
      const ended = Effect.gen(function* () {
        while (true) {
          const open = yield* sql`SELECT 1 FROM process_run WHERE state IN ('new', 'in_progress') LIMIT 1`
          if (open.length === 0) return
          yield* Effect.sleep("200 millis")
          // As if the times had passed: what a killed process had is lost with a heartbeat of the next, and leases that nobody starts expire.
          yield* sql`UPDATE step_run SET started_at = ${longAgo} WHERE state = 'in_progress'`
          yield* sql`UPDATE step_run SET lease_expires_at = ${longAgo} WHERE lease_expires_at IS NOT NULL`
          yield* tickIn(0)
        }
      })
      yield* Effect.raceFirst(Effect.all([trouble, ended], { concurrency: "unbounded" }), keysPassedOver(2 * keys + 16))

      const { most, over, reserved } = yield* overTheirLimit(made.steps[1]?.id ?? assert.fail("no step"))
      assert.deepStrictEqual(over, [])
      // It was a drill: keys were full, and workers died with items.
      assert.strictEqual(most, ofProcess)
      assert.isAtLeast(reserved, items)
      assert.strictEqual(killedAtAll, kills)
      assert.isAbove(killedWithItems, 0)
      const left = yield* query(
        Row({ claims: integer, items: integer }),
        sql`
          SELECT (SELECT count(*) FROM limit_claim) AS claims,
            (SELECT count(*) FROM work_item WHERE state IN ('pending', 'in_progress')) AS items`
      )
      assert.deepStrictEqual(left, [{ claims: 0, items: 0 }])
    }).pipe(Effect.provide(Integrity.layer), Effect.scoped)
  )
})
