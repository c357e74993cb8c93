/**
 * A walk through the pages of a list returns everything exactly once, while others insert and delete: what exists all
 * the time once, what is deleted at most once, and nothing twice.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { UserId, WorkerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as HttpClient from "effect/http/HttpClient"
import * as SqlClient from "effect/sql/SqlClient"
import { AccountSessions } from "../src/internal/store/access/AccountSessions.ts"
import * as Tokens from "../src/internal/vault/Tokens.ts"
import { lists } from "./support/Endpoints.ts"
import { bodyAs, multipart, send } from "./support/Http.ts"
import { manySecrets } from "./support/ManySecrets.ts"
import { headersOf, quiet, seed, type Seed } from "./support/Seed.ts"
import { type RawRequest, Service, workerAt } from "./support/Service.ts"

const Identified = Schema.Struct({ id: Schema.String })
const JobMade = Schema.Struct({ bulk_operation: Identified })
const Form = Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
const anyPage = Schema.Struct({
  data: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
  has_more: Schema.Boolean,
  next: Schema.NullOr(Schema.String)
})

/** A list, how something is added, and how it is deleted, if possible. One field identifies things. */
interface Walk {
  readonly path: string
  readonly field: string
  readonly make: Effect.Effect<string, unknown, Service | HttpClient.HttpClient | SqlClient.SqlClient>
  readonly remove?: (name: string) => Effect.Effect<unknown, unknown, Service>
  /** How many exist before; the size of a page is fixed for some. */
  readonly before?: number
  readonly makeMany?: (
    count: number
  ) => Effect.Effect<ReadonlyArray<string>, unknown, Service | ControlRoom | SqlClient.SqlClient>
}

const ask = Effect.fnUntraced(function* (method: string, path: string, json?: unknown, request: RawRequest = {}) {
  const { raw } = yield* Service
  const answer = yield* raw(method, path, json === undefined ? request : { ...request, json })
  assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
  return answer
})

const post = (path: string, json?: unknown, request?: RawRequest) =>
  Effect.map(ask("POST", path, json, request), (answer) => bodyAs(Identified, answer).id)

const unique = () => `walk_${crypto.randomUUID().replaceAll("-", "_")}`

const removeAt = (list: string) => (id: string) => ask("DELETE", `${list}/${id}`)

/** Every list of the contract, in the workspace of a seed. */
const walksIn = Effect.fnUntraced(function* (of: Seed) {
  const { origin, workspaceId } = yield* Service
  const id = (name: string) => of.ids[name] ?? assert.fail(`no ${name}`)
  const steps = [{ name: "s", task: { name: unique() } }]
  const process = yield* post("processes", { name: unique(), steps })
  const run = yield* post(`processes/${process}/process-runs`)
  const task = steps[0]?.task.name ?? ""
  const identity: WorkerProtocol.WorkerIdentity = {
    workerId: WorkerId.make(id("worker_id")),
    workspaceId: WorkspaceId.make(workspaceId),
    token: Redacted.make(of.tokens.worker),
    heartbeatSeconds: 3
  }
  const worker = yield* workerAt(origin, identity, [task])
  yield* worker.stayAlive
  const yearly = { process: { id: process }, cron: "0 0 1 1 *" }
  const hourly = yield* post("schedules", {
    name: unique(),
    process: { id: process },
    every: "1 hour",
    overlap: "allow"
  })
  let hours = 0
  /** The next occurrence of the hourly schedule. */
  const occurrence = Effect.gen(function* () {
    const { scheduleIn } = yield* Service
    yield* scheduleIn(++hours * 3_600_000)
    const [newest] = bodyAs(anyPage, yield* ask("GET", `schedules/${hourly}/occurrences?limit=1`)).data
    return String(newest?.["id"])
  })
  const receiver = { type: "webhook", url: "http://127.0.0.1:9/alerts" }
  const fullDisk = { type: "disk_above", percent: 99 }
  const channel = id("channel_id")
  let firings = 0
  const firing = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const row = {
      workspace_id: workspaceId,
      id: `01900000-0000-7000-8000-${String(++firings).padStart(12, "0")}`,
      alert_id: id("alert_id"),
      state: "over",
      subject: "disk",
      message: "full",
      began_at: "2026-11-20T08:15:30.000Z",
      ended_at: "2026-11-20T08:15:31.000Z"
    }
    yield* sql`INSERT INTO alert_firing ${sql.insert(row)}`
    return row.id
  })
  let groups = 0
  /** An item that has failed like no other. */
  const failureGroup = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const item = yield* post("work-items", { process: { id: process } })
    // Ids say nothing of the order.
    const group = unique()
    const at = new Date(Date.UTC(2026, 10, 20) + ++groups).toISOString()
    yield* sql`INSERT INTO failure_group ${sql.insert({
      workspace_id: workspaceId,
      id: group,
      process_id: process,
      type: "business",
      code: "C",
      message: group,
      created_at: at,
      updated_at: at,
      last_seen_at: at,
      state: "open"
    })}`
    yield* sql`UPDATE work_item SET ${sql.update({ state: "failed", failure: group, state_updated_at: at })} WHERE id = ${item}`
    return group
  })
  const asWorker = { key: null, headers: headersOf("worker", of.tokens.worker) }
  const stepRun = `/worker-v1/step-runs/${of.ids["step_run_id"]}`
  const leased = { lease_token: of.leaseToken }
  const timestamp = "2026-11-20T08:15:30.000Z"

  let lines = 1
  const sendLines = Effect.fnUntraced(function* (count: number) {
    const messages = Array.from({ length: count }, () => ({ timestamp, message: unique() }))
    yield* ask("POST", `${stepRun}/console`, { ...leased, offset: lines, messages }, asWorker)
    lines += count
    return messages.map(({ message }) => message)
  })
  let events = 0
  const sendEvent = Effect.gen(function* () {
    const event_type = `W_${crypto.randomUUID().replaceAll("-", "_").toUpperCase()}`
    const one = { ...leased, offset: events, events: [{ timestamp, event_type }] }
    yield* ask("POST", `${stepRun}/events`, one, asWorker)
    events++
    return event_type
  })
  const addArtifact = Effect.gen(function* () {
    const name = unique()
    const answer = yield* ask("POST", `${stepRun}/artifacts`, { ...leased, name, size: 1 }, asWorker)
    const form = bodyAs(Schema.Struct({ upload: Form }), answer).upload
    const fields = Object.entries(form.form_data).map(([field, value]) => ({ name: field, value }))
    const body = multipart([...fields, { name: "file", filename: "f", value: "x" }])
    const uploaded = yield* send(origin, "POST", new URL(form.url).pathname, body)
    assert.strictEqual(uploaded.status, 204)
    return name
  })
  /** Step runs of one run, one after the other: each fails, and its item is retried. */
  const nextStepRun = Effect.gen(function* () {
    const { lease } = yield* worker.take
    yield* worker.protocol.finish(lease, { code: "ROBOT_FAILURE", message: "once more" })
    yield* ask("POST", "work-items/batch", { batch_operation: "retry", work_item_ids: [lease.work_item_id] })
    return lease.step_run_id
  })
  /** Outputs appear when their step run ends: some runs of the process, each with one. */
  const outputsOf = Effect.gen(function* () {
    const name = unique()
    const made = yield* post("processes", { name, steps: [{ name: "s", task: { name }, max_parallel: 100 }] })
    const payloads = Array.from({ length: 40 }, (_, index) => index)
    const withMany = yield* post(`processes/${made}/process-runs`, { type: "with_payloads", payloads })
    const own = yield* workerAt(origin, worker.identity, [name])
    const make = Effect.gen(function* () {
      const { lease, session } = yield* own.take
      const output = yield* session.createOutput(lease.work_item_id, 1)
      yield* own.protocol.finish(lease, null)
      return String(output)
    })
    return { run: withMany, make }
  })
  const outputs = yield* outputsOf
  const group = yield* post("worker-groups", { name: unique() })
  const taskPackage = id("task_package_id")
  const addVersion = Effect.gen(function* () {
    const form = bodyAs(Form, yield* ask("GET", `task-packages/${taskPackage}/upload`))
    const fields = Object.entries(form.form_data).map(([field, value]) => ({ name: field, value }))
    const zip = yield* zipOf({ "robot.yaml": robotYaml("Help"), [unique()]: "" })
    const body = multipart([...fields, { name: "file", filename: "f", value: zip }])
    assert.strictEqual((yield* send(origin, "POST", new URL(form.url).pathname, body)).status, 204)
    const [newest] = bodyAs(anyPage, yield* ask("GET", `task-packages/${taskPackage}/versions?limit=1`)).data
    return String(newest?.["version"])
  })
  const linkOne = Effect.gen(function* () {
    const answer = yield* ask("POST", "workers/link-tokens", {})
    const { link_token } = bodyAs(Schema.Struct({ link_token: Schema.String }), answer)
    const linked = yield* WorkerProtocol.link({
      origin,
      linkToken: Redacted.make(link_token),
      name: "walk",
      tasks: []
    })
    return String(linked.workerId)
  })
  const user = yield* post("users", { login: "walker", role: "viewer" })
  const accountSessions = yield* AccountSessions
  const item = post("work-items", { process: { id: process } })
  const removeItem = (name: string) =>
    ask("POST", "work-items/batch", { batch_operation: "delete", work_item_ids: [name] })
  const stopping = { set_remaining_work_items_as_done: true, terminate_ongoing_activity_runs: true }
  const endedRun = Effect.tap(post(`processes/${process}/process-runs`), (one) =>
    ask("POST", `process-runs/${one}/stop`, stopping)
  )
  const addSecret = Effect.gen(function* () {
    const name = unique()
    yield* ask("POST", "secrets", { name, items: {} })
    return name
  })

  const walks: Readonly<Record<string, Walk>> = {
    listAssets: {
      path: "assets",
      field: "id",
      make: Effect.suspend(() => post("assets", { name: unique() })),
      remove: removeAt("assets")
    },
    listAuditEntries: {
      path: `audit?resource_id=${process}`,
      field: "id",
      make: Effect.suspend(() => ask("POST", `processes/${process}`, { name: unique(), steps })).pipe(
        Effect.andThen(ask("GET", `audit?resource_id=${process}&limit=1`)),
        Effect.map((answer) => String(bodyAs(anyPage, answer).data[0]?.["id"]))
      )
    },
    listAssistants: {
      path: "assistants",
      field: "id",
      make: Effect.suspend(() =>
        post("assistants", { name: unique(), task: { name: "Help", package_id: taskPackage } })
      )
    },
    listAssistantRuns: {
      path: `assistant-runs?assistant_id=${id("assistant_id")}`,
      field: "id",
      make: post(`assistants/${id("assistant_id")}/runs`)
    },
    listProcesses: {
      path: "processes",
      field: "id",
      make: Effect.suspend(() => post("processes", { name: unique(), steps: [] })),
      remove: removeAt("processes")
    },
    listProcessRuns: {
      path: `process-runs?process_id=${process}&state=completed`,
      field: "id",
      make: endedRun,
      remove: removeAt("process-runs")
    },
    listOutputs: { path: `outputs?process_run_id=${outputs.run}`, field: "id", make: outputs.make },
    listStepRuns: { path: `step-runs?process_run_id=${run}`, field: "id", make: nextStepRun },
    listStepRunEvents: { path: `step-runs/${id("step_run_id")}/events`, field: "event_type", make: sendEvent },
    listStepRunArtifacts: { path: `step-runs/${id("step_run_id")}/artifacts`, field: "name", make: addArtifact },
    listStepRunConsoleMessages: {
      path: `step-runs/${id("step_run_id")}/console-messages`,
      field: "message",
      make: Effect.map(
        Effect.suspend(() => sendLines(1)),
        ([first = ""]) => first
      ),
      makeMany: (count) =>
        Effect.map(
          Effect.forEach(Array.from({ length: Math.ceil(count / 500) }), () => sendLines(500)),
          (sent) => sent.flat()
        ),
      before: 1500
    },
    listWorkItems: {
      path: `work-items?process_id=${process}&state=new&include_data=true`,
      field: "id",
      make: item,
      remove: removeItem
    },
    listTaskPackages: {
      path: "task-packages",
      field: "id",
      make: Effect.suspend(() => post("task-packages", { name: unique(), type: "zip" })),
      remove: removeAt("task-packages")
    },
    listTaskPackageVersions: {
      path: `task-packages/${taskPackage}/versions`,
      field: "version",
      make: addVersion
    },
    listSecrets: {
      path: "secrets",
      field: "name",
      make: addSecret,
      remove: removeAt("secrets"),
      before: 1005,
      makeMany: (count) => manySecrets(unique(), count)
    },
    listWebhooks: {
      path: "webhooks",
      field: "id",
      make: post("webhooks", { endpoint: "http://127.0.0.1:9/", enabled_events: ["process_run.completed"] }),
      remove: removeAt("webhooks")
    },
    listWebhookDeliveries: {
      path: `webhooks/${id("webhook_id")}/deliveries`,
      field: "id",
      make: post(`webhooks/${id("webhook_id")}/test`)
    },
    listSchedules: {
      path: "schedules",
      field: "id",
      make: Effect.suspend(() => post("schedules", { ...yearly, name: unique() })),
      remove: removeAt("schedules")
    },
    listScheduleOccurrences: { path: `schedules/${hourly}/occurrences`, field: "id", make: occurrence },
    listTriggers: {
      path: "triggers",
      field: "id",
      make: Effect.suspend(() => post("triggers", { name: unique(), process: { id: process }, webhook: {} })),
      remove: removeAt("triggers")
    },
    listAlerts: {
      path: "alerts",
      field: "id",
      make: Effect.suspend(() => post("alerts", { name: unique(), rule: fullDisk, channels: [{ id: channel }] })),
      remove: removeAt("alerts")
    },
    listAlertChannels: {
      path: "alert-channels",
      field: "id",
      make: Effect.suspend(() => post("alert-channels", { name: unique(), settings: receiver })),
      remove: removeAt("alert-channels")
    },
    listAlertFirings: { path: "alert-firings", field: "id", make: firing },
    listAlertMessages: {
      path: `alerts/${id("alert_id")}/messages`,
      field: "id",
      make: Effect.map(ask("POST", `alerts/${id("alert_id")}/test`), (answer) => {
        const [message] = bodyAs(Schema.Struct({ messages: Schema.Array(Identified) }), answer).messages
        return message?.id ?? assert.fail("no message")
      })
    },
    listFailures: { path: "failures", field: "id", make: failureGroup },
    listBulkOperations: {
      path: "bulk-operations",
      field: "id",
      make: Effect.gen(function* () {
        const body = { operation: "retry", filter: { process_id: process } }
        return bodyAs(JobMade, yield* ask("POST", "bulk-operations", body)).bulk_operation.id
      })
    },
    listWorkers: { path: "workers", field: "id", make: linkOne, remove: removeAt("workers") },
    listWorkerGroups: {
      path: "worker-groups",
      field: "id",
      make: Effect.suspend(() => post("worker-groups", { name: unique() })),
      remove: removeAt("worker-groups")
    },
    listGroupLinkTokens: {
      path: `worker-groups/${group}/link-tokens`,
      field: "id",
      make: post(`worker-groups/${group}/link-tokens`, { name: "walk" }),
      remove: removeAt(`worker-groups/${group}/link-tokens`)
    },
    listApiKeys: {
      path: "api-keys",
      field: "id",
      make: post("api-keys", { name: "walk", permissions: ["Vault.read_secrets"] }),
      remove: removeAt("api-keys")
    },
    listUsers: {
      path: "users",
      field: "id",
      make: Effect.suspend(() => post("users", { login: unique().replaceAll(" ", "-"), role: "viewer" })),
      remove: removeAt("users")
    },
    listUserSessions: {
      path: `users/${user}/sessions`,
      field: "id",
      make: Effect.map(
        accountSessions.open(UserId.make(user), { address: null, browser: "walk" }),
        (token) => Tokens.parse(token)?.id ?? ""
      )
    }
  }
  return walks
})

/** All other lists return the newest first. */
const oldestFirst = new Set(["listUsers", "listOutputs", "listStepRunEvents", "listStepRunConsoleMessages"])

/** Walks a list while things are added and deleted between its pages. */
const walk = Effect.fnUntraced(function* (name: string, { before = 11, field, make, makeMany, path, remove }: Walk) {
  const { raw } = yield* Service
  const made =
    makeMany === undefined ? yield* Effect.forEach(Array.from({ length: before }), () => make) : yield* makeMany(before)
  const staying = new Set(made)
  const gone = new Set<string>()
  const seen: Array<string> = []
  const take = Effect.fnUntraced(function* (victim: string | undefined) {
    if (remove === undefined || victim === undefined) return
    yield* remove(victim)
    staying.delete(victim)
    gone.add(victim)
  })
  const limit = before > 100 ? "" : `${path.includes("?") ? "&" : "?"}limit=2`
  let pages = 0
  for (let next: string | null = `${path}${limit}`; next !== null; pages++) {
    const page: typeof anyPage.Type = bodyAs(anyPage, yield* raw("GET", next))
    seen.push(...page.data.map((row) => String(row[field])))
    assert.strictEqual(page.has_more, page.next !== null, name)
    next = page.next
    if (pages > 100) assert.fail(`${name}: the walk does not end`)
    // New items must not make an oldest-first walk endless.
    if (pages < 5) yield* make
    // Deletes one that was returned, sometimes the last of the page, and one that was not.
    const mine = seen.filter((one) => staying.has(one))
    yield* take(pages % 2 === 0 ? mine.at(-1) : mine[0])
    yield* take([...staying].find((one) => !seen.includes(one)))
  }
  assert.isAtLeast(pages, before > 100 ? 2 : 4, name)
  // In the order of their creation, or reversed.
  const order = oldestFirst.has(name) ? made : made.toReversed()
  assert.deepStrictEqual(
    seen.filter((one) => made.includes(one)),
    order.filter((one) => seen.includes(one)),
    name
  )
  const counted = new Map<string, number>()
  for (const one of seen) counted.set(one, (counted.get(one) ?? 0) + 1)
  for (const one of staying) assert.strictEqual(counted.get(one), 1, `${name}: ${one} is there all the time`)
  for (const one of gone) assert.isAtMost(counted.get(one) ?? 0, 1, name)
  // Events of the service have no names.
  if (field !== "event_type") assert.strictEqual(counted.size, seen.length, `${name}: something was seen twice`)
})

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("a walk through the pages", (it) => {
  it.effect("of every list sees everything exactly once while things come and go", () =>
    Effect.gen(function* () {
      const walks = yield* walksIn(yield* seed)
      const known = lists.map(({ identifier }) => identifier)
      assert.deepStrictEqual(Object.keys(walks).sort(), known.sort())
      for (const [name, list] of Object.entries(walks)) yield* walk(name, list)
    })
  )

  it.effect("continues from a cursor whose item was deleted", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* post("processes", { name: unique(), steps: [] })
      const ids = yield* Effect.forEach([1, 2, 3, 4], () => post("work-items", { process: { id: process } }))
      const first = bodyAs(anyPage, yield* raw("GET", `work-items?process_id=${process}&limit=2`))
      yield* ask("POST", "work-items/batch", { batch_operation: "delete", work_item_ids: ids.slice(2) })
      const second = bodyAs(anyPage, yield* raw("GET", first.next ?? assert.fail("no next")))
      assert.deepStrictEqual(
        second.data.map((row) => row["id"]),
        [ids[1], ids[0]]
      )
      assert.isFalse(second.has_more)
    })
  )
})
