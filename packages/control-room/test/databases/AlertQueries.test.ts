/** What each rule of alerts reads of large tables: steps in an index, however much is stored. */
import { assert, layer as withLayer } from "@effect/vitest"
import type { AlertRule, AlertRuleType } from "@signalbox/api/contract/Alerts"
import { alertRuleTypes } from "@signalbox/api/contract/Alerts"
import { AlertId, ScheduleId, WebhookId } from "@signalbox/api/contract/Ids"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Sql from "@signalbox/sql/Sql"
import * as AlertQueries from "../../src/internal/store/notifications/AlertQueries.ts"
import * as Chunks from "../../src/internal/store/database/Chunks.ts"
import { Processes } from "../../src/internal/store/processes/Processes.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import { analysed, indexedPlanOf, planOf, recorded } from "../support/Plans.ts"
import { database } from "../support/Storage.ts"

const many = sized(4_000, 100_000)

const now = Date.parse("2026-11-20T12:00:00.000Z")
const minute = 60_000
const at = (millis: number) => new Date(millis).toISOString()
const since = at(now - 60 * minute)
const before = at(now - 300 * minute)

/** Ids in the order of the numbers; of a time long ago. */
const idOf = (kind: number, n: number) => `01900000-000${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`

const numbers = Array.from({ length: many }, (_, n) => n)

/** Tables that have more rows with each day; of the others a rule may read all rows of its workspace. */
const large = "work_item|process_run|webhook_delivery|schedule_occurrence|failure_group|alert_firing"

/** The indexes that each rule walks. */
const walked: Readonly<Record<AlertRuleType, ReadonlyArray<RegExp>>> = {
  run_unresolved: [/process_run_unresolved|process_run_by_end/, /alert_firing_open/],
  failure_group: [/failure_group_by_state/, /work_item_by_failure_time/],
  nothing_completed: [/process_run_completed/],
  item_waits: [/work_item_by_process /],
  no_worker: [],
  schedule_missed: [/schedule_occurrence_(1|pkey)/],
  deliveries_fail: [/webhook_delivery_by_state/, /webhook_delivery_retried/],
  queue_above: [/work_item_by_process /],
  disk_above: [],
  paused_by_itself: []
}

const seed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const workspace = (yield* (yield* Workspaces).create("alerts")).id
  const definition = { name: "p", steps: [{ name: "s", task: { name: "t" } }] }
  const { view } = (yield* (yield* Processes).create(workspace, definition)) ?? assert.fail("taken")
  const process = view.id
  const insert = (table: string, rows: ReadonlyArray<Record<string, string | number | null>>) =>
    Chunks.forEach(rows, (some) => sql`INSERT INTO ${sql(table)} ${sql.insert(some)}`)
  const ofWorkspace = { workspace_id: workspace }
  const ofProcess = { ...ofWorkspace, process_id: process }
  const run = {
    ...ofProcess,
    process_name: "p",
    created_at: before,
    started_by: "{}",
    steps: "[]",
    counts: "[]",
    failed: 1
  }
  // All but the last one ended before the alert watched.
  const last = idOf(0, many - 1)
  const runEnd = (id: string) => (id === last ? at(now - minute) : before)
  yield* insert(
    "process_run",
    numbers.flatMap((n) => [
      { ...run, id: idOf(0, n), state: "unresolved", ended_at: runEnd(idOf(0, n)) },
      { ...run, id: idOf(1, n), state: "completed", ended_at: before }
    ])
  )
  const item = { ...ofProcess, created_at: before, payload: "1", attempts: 1 }
  const groups = Array.from({ length: 40 }, (_, n) => `group ${n}`)
  yield* insert(
    "work_item",
    numbers.flatMap((n) => [
      // Of the last group, new ones alone.
      {
        ...item,
        id: idOf(2, n),
        state: "failed",
        failure: groups[n % 40] ?? "",
        state_updated_at: n % 40 === 39 ? at(now - minute) : before
      },
      // Retried a minute ago, but for the last of them.
      {
        ...item,
        id: idOf(3, n),
        state: "pending",
        failure: null,
        state_updated_at: n === many - 1 ? before : at(now - minute)
      }
    ])
  )
  const group = { ...ofProcess, type: "business", code: "C", message: "m", created_at: before, updated_at: before }
  yield* insert(
    "failure_group",
    [...groups, ...numbers.slice(0, 2_000).map((n) => `resolved ${n}`)].map((id) => ({
      ...group,
      id,
      last_seen_at: before,
      state: id.startsWith("group") ? "open" : "resolved"
    }))
  )
  const webhook = WebhookId.make(idOf(4, 0))
  yield* insert("webhook", [
    {
      ...ofWorkspace,
      id: webhook,
      endpoint: "http://a.test",
      events: "[]",
      enabled: 1,
      secret: "s",
      created_at: before
    }
  ])
  const delivery = {
    webhook_id: webhook,
    event_id: "e",
    event_type: "t",
    endpoint: "http://a.test",
    created_at: before,
    body: "{}"
  }
  yield* insert(
    "webhook_delivery",
    numbers.flatMap((n) => [
      { ...delivery, id: idOf(5, n), state: "delivered", attempts: 1, last_attempt_at: before },
      // The first is retried, all others wait for it.
      {
        ...delivery,
        id: idOf(6, n),
        state: "pending",
        ...(n === 0 ? { attempts: 3, last_attempt_at: at(now - minute) } : { attempts: 0, last_attempt_at: null })
      }
    ])
  )
  const schedule = ScheduleId.make(idOf(7, 0))
  yield* insert("schedule", [
    {
      ...ofProcess,
      id: schedule,
      name: "s",
      definition: "{}",
      inputs: "{}",
      created_at: before,
      state: "active",
      starting: "[]",
      waits: 0
    }
  ])
  yield* insert(
    "schedule_occurrence",
    numbers.map((n) => ({
      ...ofWorkspace,
      schedule_id: schedule,
      id: idOf(8, n),
      at: at(now - (many - n) * 1000),
      outcome: "skipped",
      recorded_at: at(now - minute),
      reason: "missed",
      why: "nobody was there"
    }))
  )
  const alert = idOf(9, 0)
  yield* insert("alert", [{ ...ofWorkspace, id: alert, name: "a", enabled: 0, rule: "{}", created_at: before, since }])
  const firing = { ...ofWorkspace, alert_id: alert, message: "m", began_at: before }
  yield* insert(
    "alert_firing",
    numbers.map((n) => ({ ...firing, id: idOf(9, n), subject: idOf(0, n), state: n === many - 1 ? "firing" : "over" }))
  )
  yield* insert("pause", [
    {
      ...ofWorkspace,
      subject_id: process,
      detail: JSON.stringify({ by: { type: "failures" }, since: before, note: null })
    }
  ])
  yield* insert("node_disk", [{ node: "n", used_percent: 95, measured_at: at(now - minute) }])
  yield* analysed
  return { workspace, process, last }
})

withLayer(database, { excludeTestServices: true, timeout: "4 minutes" })("a check of alerts", (it) => {
  it.effect(`finds what it looks for among ${many} rows of each table, by an index`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { last, process, workspace } = yield* seed
      const find = (rule: AlertRule) =>
        recorded(
          AlertQueries.find(Sql.make(sql), rule, {
            workspaceId: workspace,
            id: AlertId.make(idOf(9, 0)),
            since,
            now,
            open: [last]
          })
        )
      const cases: ReadonlyArray<readonly [rule: AlertRule, found: ReadonlyArray<string>]> = [
        [{ type: "run_unresolved" }, [last]],
        [{ type: "failure_group" }, ["group 39"]],
        [{ type: "failure_group", grows: { items: many / 40, within_seconds: 3600 } }, ["group 39"]],
        [{ type: "failure_group", grows: { items: many / 40 + 1, within_seconds: 3600 } }, []],
        [{ type: "nothing_completed", process: { id: process }, seconds: 60 }, [process]],
        [{ type: "item_waits", seconds: 7200 }, [process]],
        [{ type: "item_waits", seconds: 7200 * 12 }, []],
        [{ type: "no_worker", seconds: 60 }, [workspace]],
        [{ type: "schedule_missed" }, [idOf(7, 0)]],
        [{ type: "deliveries_fail" }, [idOf(4, 0)]],
        [{ type: "queue_above", items: 1000 }, [process]],
        [{ type: "disk_above", percent: 90 }, ["n"]],
        [{ type: "paused_by_itself" }, [process]]
      ]
      assert.deepStrictEqual(new Set(cases.map(([rule]): AlertRuleType => rule.type)), new Set(alertRuleTypes))
      for (const [rule, found] of cases) {
        const what = JSON.stringify(rule)
        const { result, statements } = yield* find(rule)
        assert.deepStrictEqual(
          result.map(({ subject }) => subject),
          found,
          what
        )
        // Those that wait for a short time only are passed over a thousand at a time.
        assert.isAtMost(statements.length, rule.type === "item_waits" ? 2 + many / 1000 : 2, what)
        const plans = yield* Effect.forEach(statements, soak ? planOf : indexedPlanOf)
        for (const index of walked[rule.type]) assert.match(plans.join("\n"), index, what)
        for (const plan of plans) {
          assert.notMatch(plan, new RegExp(`SCAN (${large})|Seq Scan on (${large})`), `${what}\n${plan}`)
        }
      }
    })
  )
})
