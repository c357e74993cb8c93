/**
 * Commands on very many rows: all of them are processed, and no statement takes more than a chunk, between which the
 * event loop continues. Counted, not timed: rows of each statement, and the work in one turn of the loop.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { type ProcessRunId, WebhookId, WorkItemId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Deferred from "effect/Deferred"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { type StatementResultingChanges, StatementSync } from "node:sqlite"
import { NextItems } from "../src/internal/runs/NextItems.ts"
import type { Ask } from "../src/internal/runs/Reports.ts"
import { Refused } from "../src/internal/engine/Refused.ts"
import { Runs } from "../src/internal/runs/Runs.ts"
import * as Chunks from "../src/internal/store/database/Chunks.ts"
import { Database } from "../src/internal/store/database/Database.ts"
import { Deliveries } from "../src/internal/store/notifications/Deliveries.ts"
import { IdempotencyRecords } from "../src/internal/store/access/IdempotencyRecords.ts"
import { Processes } from "../src/internal/store/processes/Processes.ts"
import { ProcessRuns } from "../src/internal/store/runs/ProcessRuns.ts"
import { RunItems } from "../src/internal/store/items/RunItems.ts"
import { StepRuns } from "../src/internal/store/runs/StepRuns.ts"
import { Webhooks } from "../src/internal/store/notifications/Webhooks.ts"
import { Workers } from "../src/internal/store/workers/Workers.ts"
import { Workspaces } from "../src/internal/store/access/Workspaces.ts"
import * as Tokens from "../src/internal/vault/Tokens.ts"
import { onPostgres } from "./support/Service.ts"
import { database, runsOn, sqlite } from "./support/Storage.ts"

/** More than three chunks. */
const many = 3 * Chunks.rowsPerChunk + 200

/** Statements in one turn of the loop that may each take a chunk: what is read, changed and deleted together. */
const perTurn = 4

/** The work of an effect's statements in each turn of the event loop, on SQLite. */
const watching = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { all, run } = StatementSync.prototype
      const statements: Array<{ readonly turn: number; readonly rows: number }> = []
      let turn = 0
      const next = () => {
        turn++
        handle = setImmediate(next)
      }
      let handle = setImmediate(next)
      const note = (rows: number | bigint) => statements.push({ turn, rows: Number(rows) })
      StatementSync.prototype.run = function (...inputs) {
        const result: StatementResultingChanges = Reflect.apply(run, this, inputs)
        note(result.changes)
        return result
      }
      StatementSync.prototype.all = function (...inputs) {
        const rows: ReturnType<typeof all> = Reflect.apply(all, this, inputs)
        note(rows.length)
        return rows
      }
      return { statements, end: () => (clearImmediate(handle), Object.assign(StatementSync.prototype, { all, run })) }
    }),
    ({ statements }) =>
      Effect.map(effect, (result) => {
        const large = statements.filter(({ rows }) => rows > Chunks.rowsPerChunk / 2)
        const turns = [...Map.groupBy(large, ({ turn }) => turn).values()]
        return {
          result,
          largest: Math.max(0, ...statements.map(({ rows }) => rows)),
          busiest: Math.max(0, ...turns.map((those) => those.length)),
          turns: turns.length
        }
      }),
    ({ end }) => Effect.sync(end)
  )

/** Runs a command on `many` rows, and asserts that the loop continues between its chunks. */
const inChunks = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.map(watching(command), ({ busiest, largest, result, turns }) => {
    // On Postgres another process executes the statements.
    if (onPostgres) return result
    assert.isAtMost(largest, Chunks.rowsPerChunk)
    assert.isAtMost(busiest, perTurn)
    assert.isAtLeast(turns, 3)
    return result
  })

const insertAll = Effect.fnUntraced(function* (
  table: string,
  row: (n: number, id: string) => Readonly<Record<string, unknown>>,
  count = many
) {
  const { newId, sql } = yield* Database
  const numbers = Array.from({ length: count }, (_, n) => n)
  yield* Chunks.forEach(numbers, (some) =>
    Effect.flatMap(
      Effect.forEach(some, (n) => Effect.map(newId, (id) => ({ ...row(n, id) }))),
      (rows) => sql`INSERT INTO ${sql(table)} ${sql.insert(rows)}`
    )
  )
})

const at = "2020-01-01T00:00:00.000Z"

/** A process with new items. */
const filledWith = Effect.fnUntraced(function* (count: number, parallel: number) {
  const workspace = (yield* (yield* Workspaces).create("bulk")).id
  const task = crypto.randomUUID()
  const steps = [
    { name: "a", task: { name: task }, max_parallel: parallel },
    { name: "b", task: { name: "nobody" } }
  ]
  const process = (yield* (yield* Processes).create(workspace, { name: "p", steps })) ?? assert.fail("taken")
  const row = (_: number, id: string) => ({
    id,
    workspace_id: workspace,
    process_id: process.view.id,
    state: "new",
    created_at: at,
    payload: "1",
    attempts: 0
  })
  yield* insertAll("work_item", row, count)
  return { workspace, process, task }
})

const filled = filledWith(many, 1)

/** A worker with started step runs. */
const working = Effect.fnUntraced(function* (workspace: WorkspaceId, task: string, count: number) {
  const runs = yield* Runs
  const workers = yield* Workers
  const { link_token } = yield* workers.createLinkToken(workspace, "2999-01-01T00:00:00.000Z")
  const token = Tokens.parse(link_token) ?? assert.fail("no token")
  const { worker } = (yield* workers.link(token, "w", [task])) ?? assert.fail("not linked")
  const leases = yield* runs.lease(worker, [task], false, count)
  assert.lengthOf(leases, count)
  for (const { stepRun } of leases) yield* runs.startStepRun(stepRun)
  return { worker, leases }
})

const started = Effect.gen(function* () {
  const made = yield* filled
  const runs = yield* Runs
  const run = (yield* runs.start(made.workspace, made.process, { type: "with_inputs" })) ?? assert.fail("not started")
  return { ...made, run }
})

/** A run of which every item has failed. */
const failed = Effect.gen(function* () {
  const made = yield* started
  yield* (yield* Runs).stop(made.run, { asDone: false, terminate: false, reason: "test" })
  return { ...made, ids: yield* idsOf(made.run) }
})

const idsOf = Effect.fnUntraced(function* (run: ProcessRunId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly id: string }>`SELECT id FROM work_item WHERE process_run_id = ${run} ORDER BY id`
  return rows.map(({ id }) => WorkItemId.make(id))
})

const statesOf = Effect.fnUntraced(function* (run: ProcessRunId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly step: number; readonly state: string; readonly n: number }>`
    SELECT step, state, count(*) AS n FROM work_item WHERE process_run_id = ${run} GROUP BY step, state`
  return Object.fromEntries(rows.map(({ n, state, step }) => [`${step} ${state}`, n]))
})

const countOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly n: number }>`SELECT count(*) AS n FROM ${sql(table)}`
  return row?.n
})

/** A started step run, with `many` outputs of its reserved item. */
const withOutputs = Effect.gen(function* () {
  const { process, task, workspace } = yield* filled
  const runs = yield* Runs
  const input = { type: "with_payloads", payloads: [1] } as const
  const run = (yield* runs.start(workspace, process, input)) ?? assert.fail("not started")
  const { leases } = yield* working(workspace, task, 1)
  const [leased = assert.fail("nothing leased")] = leases
  const item = yield* runs.reserveNext(leased.stepRun)
  yield* insertAll("output", (_, id) => ({
    id,
    workspace_id: workspace,
    process_id: process.view.id,
    process_run_id: run,
    step_run_id: leased.stepRun.id,
    parent_id: item,
    created_at: at,
    payload: "1",
    released: 0
  }))
  return { run, stepRun: (yield* (yield* StepRuns).find(leased.stepRun.id)) ?? assert.fail("gone") }
})

const withDeliveries = Effect.fnUntraced(function* (state: "delivered" | "pending") {
  const workspace: WorkspaceId = (yield* (yield* Workspaces).create("bulk")).id
  const webhooks = yield* Webhooks
  const sql = yield* SqlClient.SqlClient
  const id = WebhookId.make(yield* (yield* Database).newId)
  yield* sql`INSERT INTO webhook ${sql.insert({
    id,
    workspace_id: workspace,
    endpoint: "http://localhost",
    events: "[]",
    enabled: 1,
    secret: "s",
    created_at: at
  })}`
  yield* insertAll("webhook_delivery", (_, delivery) => ({
    id: delivery,
    webhook_id: id,
    event_id: "e",
    event_type: "process_run.started",
    endpoint: "http://localhost",
    state,
    created_at: at,
    attempts: 0,
    body: "{}"
  }))
  return { workspace, webhooks, id }
})

withLayer(runsOn(database), { excludeTestServices: true, timeout: "4 minutes" })("the event loop continues", (it) => {
  it.effect("while a run takes all inputs, which are seen in it together", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* filled
      const sql = yield* SqlClient.SqlClient
      const runs = yield* Runs
      const seen = new Set<number>()
      const look = Effect.map(
        sql<{
          readonly n: number
        }>`SELECT count(*) AS n FROM work_item WHERE process_id = ${process.view.id} AND state = 'new'`,
        ([row]) => seen.add(row?.n ?? -1)
      )
      const begin = Effect.raceFirst(
        runs.start(workspace, process, { type: "with_inputs" }),
        Effect.forever(Effect.andThen(look, Effect.yieldNow))
      )
      const run = (yield* begin) ?? assert.fail("not started")
      yield* look
      assert.deepStrictEqual(seen, new Set([many, 0]))
      assert.deepStrictEqual(yield* statesOf(run), { "0 pending": many })
    })
  )

  it.effect("between the chunks of a start with inputs", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* filled
      const run = yield* inChunks((yield* Runs).start(workspace, process, { type: "with_inputs" }))
      assert.deepStrictEqual(yield* statesOf(run ?? assert.fail("not started")), { "0 pending": many })
    })
  )

  it.effect("between the chunks of a stop", () =>
    Effect.gen(function* () {
      const { run } = yield* started
      yield* inChunks((yield* Runs).stop(run, { asDone: true, terminate: false, reason: "test" }))
      assert.deepStrictEqual(yield* statesOf(run), { "0 done": many })
    })
  )

  for (const [operation, states] of [
    ["retry", { "0 pending": many }],
    ["mark_as_done", { "0 done": many }],
    ["delete", {}]
  ] as const) {
    it.effect(`between the chunks of the batch ${operation}`, () =>
      Effect.gen(function* () {
        const { ids, run, workspace } = yield* failed
        yield* inChunks((yield* Runs).batch(workspace, operation, ids))
        assert.deepStrictEqual(yield* statesOf(run), states)
      })
    )
  }

  it.effect("and a batch that names a foreign item changes nothing", () =>
    Effect.gen(function* () {
      const { ids, run, workspace } = yield* failed
      const foreign = WorkItemId.make("01900000-0000-7000-8000-000000000000")
      const refused = yield* Effect.flip((yield* Runs).batch(workspace, "mark_as_done", [...ids, foreign]))
      assert.include(refused.message, foreign)
      assert.deepStrictEqual(yield* statesOf(run), { "0 failed": many })
    })
  )

  it.effect("between the chunks of the deletion of a run", () =>
    Effect.gen(function* () {
      const { run } = yield* failed
      yield* inChunks((yield* Runs).remove(run))
      assert.deepStrictEqual(yield* idsOf(run), [])
    })
  )

  it.effect("between the chunks of the deletion of a process", () =>
    Effect.gen(function* () {
      const { process, run, workspace } = yield* failed
      yield* inChunks((yield* Runs).removeProcess(workspace, process.view.id))
      assert.deepStrictEqual(yield* idsOf(run), [])
    })
  )

  it.effect("while the outputs of a step run become items of the next step", () =>
    Effect.gen(function* () {
      const { run, stepRun } = yield* withOutputs
      yield* inChunks((yield* Runs).finish(stepRun, null))
      assert.deepStrictEqual(yield* statesOf(run), { "0 done": 1, "1 pending": many })
      const [first] = yield* (yield* RunItems).dueIds(run, 1, 1)
      assert.isDefined(first)
    })
  )

  it.effect("while the outputs of a failed item are deleted", () =>
    Effect.gen(function* () {
      const { run, stepRun } = yield* withOutputs
      yield* inChunks((yield* Runs).finish(stepRun, { code: "TIMEOUT", message: "test" }))
      assert.deepStrictEqual(yield* statesOf(run), { "0 failed": 1 })
      assert.strictEqual(yield* countOf("output"), 0)
    })
  )

  it.effect(
    "until every item of a long run has been worked, and the run ends",
    () =>
      Effect.gen(function* () {
        const count = sized(600, 100_000)
        const parallel = 100
        const { process, task, workspace } = yield* filledWith(count, parallel)
        const runs = yield* Runs
        const { next } = yield* NextItems
        const run = (yield* runs.start(workspace, process, { type: "with_inputs" })) ?? assert.fail("not started")
        const { leases, worker } = yield* working(workspace, task, parallel)
        const worked = new Set<string>()
        let asks = leases.map(({ leaseToken, stepRun }): Ask => ({
          stepRun: stepRun.id,
          leaseToken,
          settled: [],
          reserve: true,
          ahead: null
        }))
        while (asks.length > 0) {
          const given = (yield* next(worker, run, asks)) ?? assert.fail("no run")
          asks = asks.flatMap((ask, index): ReadonlyArray<Ask> => {
            const answer = given[index]
            if (answer === undefined || answer instanceof Refused || answer.item === null) return []
            const { item } = answer
            worked.add(item.id)
            return [
              {
                ...ask,
                settled: [{ item: item.id, attempt: item.attempt, exception: null, outputs: [], dropOutputs: false }]
              }
            ]
          })
        }
        const stepRuns = yield* StepRuns
        for (const { stepRun } of leases) {
          yield* runs.finish((yield* stepRuns.find(stepRun.id)) ?? assert.fail("gone"), null)
        }
        assert.strictEqual(worked.size, count)
        assert.deepStrictEqual(yield* statesOf(run), { "0 done": count })
        assert.strictEqual((yield* (yield* ProcessRuns).get(workspace, run))?.state, "completed")
      }),
    600_000
  )

  it.effect("between the chunks of a sweep of idempotency records", () =>
    Effect.gen(function* () {
      const workspace = (yield* (yield* Workspaces).create("bulk")).id
      yield* insertAll("idempotency_key", (n) => ({
        workspace_id: workspace,
        key: `key-${n}`,
        fingerprint: "f",
        status: 200,
        body: "{}",
        created_at: at,
        expires_at: at
      }))
      yield* inChunks(Chunks.sweep((yield* IdempotencyRecords).sweep))
      assert.strictEqual(yield* countOf("idempotency_key"), 0)
    })
  )

  it.effect("between the chunks of a sweep of deliveries", () =>
    Effect.gen(function* () {
      yield* withDeliveries("delivered")
      yield* inChunks(Chunks.sweep((yield* Deliveries).sweep))
      assert.strictEqual(yield* countOf("webhook_delivery"), 0)
    })
  )

  it.effect("while the deliveries of a webhook that is disabled are given up, and of one that is deleted deleted", () =>
    Effect.gen(function* () {
      const { id, webhooks, workspace } = yield* withDeliveries("pending")
      const sql = yield* SqlClient.SqlClient
      yield* inChunks(webhooks.disable(id, "test"))
      assert.lengthOf(yield* sql`SELECT id FROM webhook_delivery WHERE state = 'failed'`, many)
      assert.isTrue(yield* inChunks(webhooks.remove(workspace, id)))
      assert.strictEqual(yield* countOf("webhook_delivery"), 0)
      assert.isFalse(yield* webhooks.remove(workspace, id))
    })
  )
})

// On Postgres a transaction does not block those on other rows.
withLayer(runsOn(sqlite), { timeout: "4 minutes" })("behind a long transaction", (it) => {
  it.effect.skipIf(onPostgres)("no worker is lost because its heartbeat waits", () =>
    Effect.gen(function* () {
      const { process, task, workspace } = yield* filledWith(1, 1)
      const runs = yield* Runs
      yield* runs.start(workspace, process, { type: "with_inputs" })
      const { leases } = yield* working(workspace, task, 1)
      const [leased = assert.fail("nothing leased")] = leases
      const sql = yield* SqlClient.SqlClient
      const opened = yield* Deferred.make<void>()
      const closing = yield* Deferred.make<void>()
      const long = sql.withTransaction(Effect.andThen(Deferred.succeed(opened, undefined), Deferred.await(closing)))
      const transaction = yield* Effect.forkChild(long)
      yield* Deferred.await(opened)
      const tick = yield* Effect.forkChild(runs.tick, { startImmediately: true })
      yield* TestClock.adjust("12 seconds")
      yield* Deferred.succeed(closing, undefined)
      yield* Fiber.join(transaction)
      yield* Fiber.join(tick)
      const stateNow = Effect.map((yield* StepRuns).find(leased.stepRun.id), (found) => found?.state)
      assert.strictEqual(yield* stateNow, "in_progress")
      // It had time for another heartbeat, and sent none.
      yield* TestClock.adjust("11 seconds")
      yield* runs.tick
      assert.strictEqual(yield* stateNow, "failed")
    })
  )
})
