/** Ids inside requests: those of another workspace, and those of what was deleted, reach nothing, now or when the work is done. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { type Endpoint, endpoints, fill } from "./support/Endpoints.ts"
import { assertError, bodyAs, multipart, send } from "./support/Http.ts"
import { headersOf, quiet, type Seed, seed } from "./support/Seed.ts"
import { Service } from "./support/Service.ts"

const Identified = Schema.Struct({ id: Schema.String })
const Form = Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
const ofKeys = endpoints.filter(({ door }) => door === "key")

/** What senders of events call an id is theirs, and the audit has what is gone: its filters compare texts. */
const namesNothing = new Set(["event_id", "actor_id", "resource_id"])

/** Members of requests that name something else: `id` and `ids`, whatever is before them. */
const namesAnother = (name: string) => /(^|_)ids?$|[a-z]Ids?$|^delete_work_items$/.test(name) && !namesNothing.has(name)

/** Where the values of a schema name something by its id. */
const placesIn = (
  ast: SchemaAST.AST,
  at: string,
  seen: ReadonlySet<SchemaAST.AST> = new Set()
): ReadonlyArray<string> => {
  if (seen.has(ast)) return []
  const within = (inner: SchemaAST.AST, name: string) => placesIn(inner, name, new Set([...seen, ast]))
  switch (ast._tag) {
    case "Objects":
      return ast.propertySignatures.flatMap(({ name, type }) => {
        const path = at === "" ? String(name) : `${at}.${String(name)}`
        return namesAnother(String(name)) ? [path] : within(type, path)
      })
    case "Arrays":
      return [...ast.elements, ...ast.rest].flatMap((inner) => within(inner, at))
    case "Union":
      return ast.types.flatMap((inner) => within(inner, at))
    case "Suspend":
      return within(ast.thunk(), at)
    default:
      return []
  }
}

/** `endpoint place` for each. */
const placesOf = ({ declared, identifier }: Endpoint): ReadonlyArray<string> => {
  const bodies = [...declared.payload.values()].flatMap(({ schemas }) => schemas)
  const asts = [...bodies, ...(declared.query === undefined ? [] : [declared.query])].map(({ ast }) => ast)
  return [...new Set(asts.flatMap((ast) => placesIn(ast, "")))].map((place) => `${identifier} ${place}`)
}

type Ids = Readonly<Record<string, string>>

/** A request of the workspace `own` for each place, where it has an id of `named`. Lists have their query. */
const requests = (
  own: Ids,
  named: Ids,
  name: string
): Readonly<Record<string, readonly [path: string, body?: unknown]>> => {
  const process = { id: own["process_id"] }
  const other = { process: { id: named["process_id"] } }
  const step = { name: "s", task: { name: "t" } }
  const hook = { endpoint: "http://127.0.0.1:9/", enabled_events: ["process_run.completed"] }
  const items = [named["work_item_id"]]
  const legacy = `/process-v1/workspaces/${own["workspace_id"]}`
  const alert = (rule: object, channels: ReadonlyArray<unknown> = [{ id: own["channel_id"] }]) => ({
    name,
    rule,
    channels
  })
  const rules: Readonly<Record<string, object>> = {
    "rule.process.id": { type: "nothing_completed", seconds: 60, ...other },
    "rule.worker_group.id": { type: "no_worker", seconds: 60, worker_group: { id: named["worker_group_id"] } },
    "rule.schedule.id": { type: "schedule_missed", schedule: { id: named["schedule_id"] } },
    "rule.webhook.id": { type: "deliveries_fail", webhook: { id: named["webhook_id"] } }
  }
  const alerts = (identifier: string, path: string) => ({
    ...Object.fromEntries(
      Object.entries(rules).map(([place, rule]) => [`${identifier} ${place}`, [path, alert(rule)] as const])
    ),
    [`${identifier} channels.id`]: [
      path,
      alert({ type: "disk_above", percent: 50 }, [{ id: named["channel_id"] }])
    ] as const
  })
  const bulk = (filter: object) => ["bulk-operations", { operation: "delete", filter }] as const
  const list = (path: string, query: string) => [`${path}?${query}=${named[query]}`] as const
  return {
    "createApiKey owner.id": [
      "api-keys",
      { name, permissions: ["Processes.read_runs"], owner: { id: named["user_id"] ?? named["process_id"] } }
    ],
    "updateApiKey owner.id": [
      `api-keys/${own["api_key_id"]}`,
      { owner: { id: named["user_id"] ?? named["process_id"] } }
    ],
    "createProcess steps.task.package_id": [
      "processes",
      { name, steps: [{ ...step, task: { name: "t", package_id: named["task_package_id"] } }] }
    ],
    "createProcess steps.worker_group.id": [
      "processes",
      { name, steps: [{ ...step, worker_group: { id: named["worker_group_id"] } }] }
    ],
    "updateProcess steps.task.package_id": [
      `processes/${process.id}`,
      { name, steps: [{ ...step, task: { name: "t", package_id: named["task_package_id"] } }] }
    ],
    "updateProcess steps.worker_group.id": [
      `processes/${process.id}`,
      { name, steps: [{ ...step, worker_group: { id: named["worker_group_id"] } }] }
    ],
    "updateProcess delete_work_items": [`processes/${process.id}`, { name, steps: [step], delete_work_items: items }],
    "startProcessRun work_item_ids": [
      `processes/${process.id}/process-runs`,
      { type: "with_work_item_ids", work_item_ids: items }
    ],
    "createWorkItem process.id": ["work-items", other],
    "createWorkItems process.id": ["work-items/bulk", { ...other, payloads: [1] }],
    "batchWorkItems work_item_ids": ["work-items/batch", { batch_operation: "delete", work_item_ids: items }],
    "createBulkOperation filter.process_id": bulk({ process_id: named["process_id"] }),
    "createBulkOperation filter.process_run_id": bulk({ process_run_id: named["process_run_id"] }),
    "createBulkOperation filter.step_id": bulk({ step_id: named["step_id"] }),
    "createBulkOperation filter.failure_id": bulk({ failure_id: named["failure_id"] }),
    "createBulkOperation filter.ids": bulk({ ids: items }),
    "createAssistant task.package_id": [
      "assistants",
      { name, task: { name: "Help", package_id: named["task_package_id"] } }
    ],
    "createWebhook process.id": ["webhooks", { ...hook, ...other }],
    "updateWebhook process.id": [`webhooks/${own["webhook_id"]}`, other],
    "createSchedule process.id": ["schedules", { name, ...other, at: "2999-01-01T00:00:00Z" }],
    "updateSchedule process.id": [`schedules/${own["schedule_id"]}`, { name, ...other, at: "2999-01-01T00:00:00Z" }],
    "createTrigger process.id": ["triggers", { name, ...other, webhook: {} }],
    "updateTrigger process.id": [`triggers/${own["trigger_id"]}`, { name, ...other, webhook: {} }],
    "addWorkerToGroup worker.id": [
      `worker-groups/${own["worker_group_id"]}/workers`,
      { worker: { id: named["worker_id"] } }
    ],
    ...alerts("createAlert", "alerts"),
    ...alerts("updateAlert", `alerts/${own["alert_id"]}`),
    "legacyStartRequested workItemIds": [
      `${legacy}/processes/${process.id}/run-request`,
      { type: "workItemIds", workItemIds: items }
    ],
    "legacyBatchWorkItems workItemIds": [
      `${legacy}/work-items/batch`,
      { batchOperation: "delete", workItemIds: items }
    ],
    "listProcessRuns process_id": list("process-runs", "process_id"),
    "listOutputs process_run_id": list("outputs", "process_run_id"),
    "listStepRuns process_run_id": list("step-runs", "process_run_id"),
    "listWorkItems process_id": list("work-items", "process_id"),
    "listWorkItems process_run_id": list("work-items", "process_run_id"),
    "listWorkItems step_id": [`work-items?process_id=${process.id}&step_id=${named["step_id"]}`],
    "listFailures process_id": list("failures", "process_id"),
    "listFailures step_id": [`failures?process_id=${process.id}&step_id=${named["step_id"]}`],
    "listSchedules process_id": list("schedules", "process_id"),
    "listTriggers process_id": list("triggers", "process_id"),
    "listWorkers worker_group_id": list("workers", "worker_group_id"),
    "listAssistantRuns assistant_id": list("assistant-runs", "assistant_id"),
    "getQueueDepth process_id": list("queue-depth", "process_id"),
    "getQueueDepth worker_group_id": list("queue-depth", "worker_group_id"),
    "listAlertFirings alert_id": list("alert-firings", "alert_id")
  }
}

/** The same for the doors of workers and robots, where the ids are those of the seed. */
const requestsOfWorkers = (
  { ids, leaseToken, robotIds }: Seed,
  named: Ids
): Readonly<Record<string, readonly [door: "worker" | "run", path: string, body: unknown]>> => {
  const stepRun = { step_run_id: ids["step_run_id"], lease_token: leaseToken }
  const settled = { work_item_id: named["work_item_id"], attempt: 1, state: "COMPLETED" }
  const begun = { work_item_id: named["work_item_id"], attempt: 1 }
  const nothingAhead = { also_settled: [], not_begun: [], wanted: 0 }
  const next = `/worker-v1/process-runs/${ids["process_run_id"]}/next`
  const robotRun = `processes/${ids["process_id"]}/runs/${ids["process_run_id"]}/robotRuns/${ids["step_run_id"]}`
  return {
    "heartbeat step_run_ids": ["worker", "/worker-v1/heartbeat", { step_run_ids: [named["step_run_id"]] }],
    "nextWorkItems step_runs.step_run_id": [
      "worker",
      next,
      { step_runs: [{ ...stepRun, step_run_id: named["step_run_id"] }] }
    ],
    "nextWorkItems step_runs.settled.work_item_id": ["worker", next, { step_runs: [{ ...stepRun, settled }] }],
    "nextWorkItems step_runs.ahead.also_settled.work_item_id": [
      "worker",
      next,
      { step_runs: [{ ...stepRun, ahead: { ...nothingAhead, also_settled: [settled] } }] }
    ],
    "nextWorkItems step_runs.ahead.begun.work_item_id": [
      "worker",
      next,
      { step_runs: [{ ...stepRun, ahead: { ...nothingAhead, begun } }] }
    ],
    "releaseWorkItem workItemId": [
      "run",
      `/process-v1/workspaces/${robotIds["workspace_id"]}/${robotRun}/release-work-item`,
      { workItemId: named["work_item_id"], state: "COMPLETED" }
    ]
  }
}

/** What a workspace needs for the requests above, made with a key of it. */
const populated = Effect.fnUntraced(function* (workspace: string, key: string, name: string) {
  const { raw } = yield* Service
  const made = (path: string, json: unknown) =>
    Effect.map(raw("POST", `/api/v1/workspaces/${workspace}/${path}`, { key, json }), (answer) => {
      assert.isBelow(answer.status, 300, answer.text)
      return bodyAs(Identified, answer).id
    })
  const process = yield* made("processes", { name, steps: [{ name: "s", task: { name: "t" } }] })
  const channel = yield* made("alert-channels", { name, settings: { type: "webhook", url: "http://127.0.0.1:9/" } })
  const ids: Ids = {
    workspace_id: workspace,
    process_id: process,
    channel_id: channel,
    worker_group_id: yield* made("worker-groups", { name }),
    webhook_id: yield* made("webhooks", { endpoint: "http://127.0.0.1:9/", enabled_events: ["process_run.completed"] }),
    schedule_id: yield* made("schedules", { name, process: { id: process }, at: "2999-01-01T00:00:00Z" }),
    trigger_id: yield* made("triggers", { name, process: { id: process }, webhook: {} }),
    alert_id: yield* made("alerts", { name, rule: { type: "disk_above", percent: 99 }, channels: [{ id: channel }] })
  }
  return ids
})

const Listed = Schema.Struct({ data: Schema.Array(Identified) })
const nothing: Seed = {
  ids: {},
  robotIds: {},
  tokens: { key: "", keyInQuery: "", worker: "", run: "", none: "" },
  leaseToken: "",
  assistantToken: "",
  linkToken: "",
  task: "",
  names: { process: "", asset: "" }
}
const nobody = "01900000-0000-7000-8000-000000000000"
const withoutIds = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g, "ID")

const Rows = Schema.Struct({ workspace_id: Schema.String })

/** The rows of a workspace. */
const rowsOf = Effect.fnUntraced(function* (workspace: string) {
  const { rows } = yield* Service
  return Object.entries(yield* rows).map(([table, all]) => [
    table,
    all.filter((row) => Schema.is(Rows)(row) && row.workspace_id === workspace)
  ])
})

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("an id inside a request", (it) => {
  it.effect("is in a table of all places where the contract takes one", () =>
    Effect.sync(() => {
      assert.sameMembers(Object.keys(requests({}, {}, "")), ofKeys.flatMap(placesOf))
      const others = endpoints.filter((endpoint) => !ofKeys.includes(endpoint))
      assert.sameMembers(Object.keys(requestsOfWorkers(nothing, {})), others.flatMap(placesOf))
    })
  )

  it.effect("of another workspace, or of what was deleted, reaches nothing at the doors of workers and robots", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, workspaceId } = yield* Service
      const of = yield* seed
      const working = Effect.fnUntraced(function* (workspace: string, key: string) {
        const ask = (method: string, path: string, json?: unknown) =>
          raw(method, `/api/v1/workspaces/${workspace}/${path}`, json === undefined ? { key } : { key, json })
        const name = crypto.randomUUID()
        const definition = { name, steps: [{ name: "s", task: { name } }] }
        const { id: process } = bodyAs(Identified, yield* ask("POST", "processes", definition))
        const input = { type: "with_payloads", payloads: [1] }
        const { id: run } = bodyAs(Identified, yield* ask("POST", `processes/${process}/process-runs`, input))
        const idIn = (path: string) =>
          Effect.map(ask("GET", path), (answer) => bodyAs(Listed, answer).data[0]?.id ?? "")
        const ids: Ids = {
          step_run_id: yield* idIn(`step-runs?process_run_id=${run}`),
          work_item_id: yield* idIn(`work-items?process_run_id=${run}`)
        }
        return { ids, ask, process, run }
      })
      const other = yield* makeWorkspace
      const foreign = yield* working(other, yield* makeKey(Permission.literals, other))
      const gone = yield* working(workspaceId, yield* makeKey(Permission.literals))
      const stop = { set_remaining_work_items_as_done: true, terminate_ongoing_activity_runs: true }
      yield* gone.ask("POST", `process-runs/${gone.run}/stop`, stop)
      const deleted = yield* gone.ask("DELETE", `processes/${gone.process}`)
      assert.strictEqual(deleted.status, 200, deleted.text)
      const before = yield* rowsOf(other)
      const none = requestsOfWorkers(of, { step_run_id: nobody, work_item_id: nobody })
      for (const { ids } of [foreign, gone]) {
        for (const [place, [door, path, json]] of Object.entries(requestsOfWorkers(of, ids))) {
          const send = (json: unknown) =>
            raw("POST", path, { key: null, headers: headersOf(door, of.tokens[door]), json })
          const answer = yield* send(json)
          const [, , body] = none[place] ?? assert.fail(place)
          const unknown = yield* send(body)
          assert.deepStrictEqual(
            [answer.status, withoutIds(answer.text)],
            [unknown.status, withoutIds(unknown.text)],
            place
          )
        }
      }
      assert.deepStrictEqual(yield* rowsOf(other), before)
    })
  )

  it.effect("of another workspace reaches nothing, and shows nothing", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, tickIn, workspaceId } = yield* Service
      const { ids, names } = yield* seed
      const workspace = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, workspace)
      const own = yield* populated(workspace, key, "own")
      const before = yield* rowsOf(workspaceId)
      const ask = (path: string, json: unknown) => {
        const url = path.startsWith("/") ? path : `/api/v1/workspaces/${workspace}/${path}`
        return json === undefined ? raw("GET", url, { key }) : raw("POST", url, { key, json })
      }
      const unknown = requests(own, Object.fromEntries(Object.keys(ids).map((name) => [name, nobody])), "foreign")
      for (const [place, [path, json]] of Object.entries(requests(own, ids, "foreign"))) {
        const answer = yield* ask(path, json)
        if (answer.status >= 400) {
          assert.include([404, 409], answer.status, `${place}: ${answer.text}`)
          // Word for word what an id is answered with that nothing has.
          const [elsewhere, body] = unknown[place] ?? assert.fail(place)
          const none = yield* ask(elsewhere, body)
          assert.deepStrictEqual([answer.status, withoutIds(answer.text)], [none.status, withoutIds(none.text)], place)
        } else {
          // A filter, which nothing of this workspace matches.
          assert.match(place, /^(list|getQueueDepth|createBulkOperation )/, answer.text)
          if (json === undefined) assert.match(answer.text, /"data":\[\]|"total":0/, place)
        }
        for (const name of Object.values(names)) assert.notInclude(answer.text, name, place)
      }
      for (let n = 0; n < 3; n++) yield* tickIn(0)
      const after = yield* rowsOf(workspaceId)
      assert.deepStrictEqual(after, before)
    })
  )

  it.effect("of what was deleted is refused", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const workspace = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, workspace)
      const own = yield* populated(workspace, key, "kept")
      const gone = yield* populated(workspace, key, "gone")
      const below = (path: string) => `/api/v1/workspaces/${workspace}/${path}`
      const kinds = ["alerts", "alert-channels", "triggers", "schedules", "webhooks", "worker-groups", "processes"]
      const parameter = [
        "alert_id",
        "channel_id",
        "trigger_id",
        "schedule_id",
        "webhook_id",
        "worker_group_id",
        "process_id"
      ]
      for (const [index, kind] of kinds.entries()) {
        const removed = yield* raw("DELETE", below(`${kind}/${gone[parameter[index] ?? ""]}`), { key })
        assert.strictEqual(removed.status, 200, removed.text)
      }
      const named = Object.entries(requests(own, gone, "late")).filter(([, [path, json]]) => {
        const text = `${path} ${JSON.stringify(json)}`
        return parameter.some((name) => text.includes(gone[name] ?? "none"))
      })
      assert.isAbove(named.length, 15)
      for (const [place, [path, json]] of named) {
        const url = path.startsWith("/") ? path : below(path)
        const answer = yield* raw(
          json === undefined ? "GET" : "POST",
          url,
          json === undefined ? { key } : { key, json }
        )
        if (/^(list|getQueueDepth|createBulkOperation )/.test(place)) {
          // A filter, which nothing matches.
          assert.include([200, 404], answer.status, `${place}: ${answer.text}`)
          if (answer.status === 200) assert.match(answer.text, /"data":\[\]|"total":0/, place)
          continue
        }
        assert.strictEqual(answer.status, 404, `${place}: ${answer.text}`)
      }
    })
  )

  it.effect("of what is deleted after it was accepted starts nothing when its time comes", () =>
    Effect.gen(function* () {
      const { alertIn, makeKey, makeWorkspace, raw, rows, scheduleIn, tickIn } = yield* Service
      const workspace = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, workspace)
      const ask = Effect.fnUntraced(function* (method: string, path: string, json?: unknown) {
        const request = json === undefined ? { key } : { key, json }
        const answer = yield* raw(method, `/api/v1/workspaces/${workspace}/${path}`, request)
        assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
        return answer
      })
      const own = yield* populated(workspace, key, "short")
      const process = own["process_id"] ?? ""
      const item = bodyAs(Identified, yield* ask("POST", "work-items", { process: { id: process }, payload: 1 })).id
      const soon = new Date(Date.now() + 60_000).toISOString()
      yield* ask("POST", "schedules", { name: "soon", process: { id: process }, at: soon })
      yield* ask("POST", "triggers", { name: "later", process: { id: process }, start: { oldest_seconds: 60 } })
      yield* ask("POST", "alerts", {
        name: "waits",
        rule: { type: "item_waits", process: { id: process }, seconds: 30 },
        channels: [{ id: own["channel_id"] }]
      })
      const run = bodyAs(
        Identified,
        yield* ask("POST", `processes/${process}/process-runs`, { type: "with_payloads", payloads: [1] })
      ).id
      yield* ask("POST", `process-runs/${run}/stop`, {
        set_remaining_work_items_as_done: false,
        terminate_ongoing_activity_runs: false
      })
      const operation = { operation: "retry", filter: { process_id: process } }
      yield* ask("POST", "bulk-operations", operation)
      yield* ask("POST", "work-items/batch", { batch_operation: "delete", work_item_ids: [item] })
      yield* ask("DELETE", `processes/${process}`)
      for (const minutes of [1, 2, 5]) {
        yield* scheduleIn(minutes * 60_000)
        yield* tickIn(minutes * 60_000)
        yield* alertIn(minutes * 60_000)
      }
      const after = yield* rows
      const ofWorkspace = (table: string) =>
        (after[table] ?? []).filter((row) => Schema.is(Rows)(row) && row.workspace_id === workspace)
      for (const table of ["process_run", "step_run", "work_item", "schedule", "trigger"]) {
        assert.deepStrictEqual(ofWorkspace(table), [], table)
      }
      const again = yield* raw("POST", `/api/v1/workspaces/${workspace}/process-runs/${run}/start-again`, { key })
      assert.strictEqual(again.status, 404, again.text)
    })
  )

  it.effect("of a worker group or package is kept while a run that was accepted names it", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, origin, raw } = yield* Service
      const workspace = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, workspace)
      const ask = (method: string, path: string, json?: unknown) =>
        raw(method, `/api/v1/workspaces/${workspace}/${path}`, json === undefined ? { key } : { key, json })
      const made = (path: string, json: unknown) =>
        Effect.map(ask("POST", path, json), (answer) => bodyAs(Identified, answer).id)
      const group = yield* made("worker-groups", { name: "named" })
      const taskPackage = yield* made("task-packages", { name: "named", type: "zip" })
      const form = bodyAs(Form, yield* ask("GET", `task-packages/${taskPackage}/upload`))
      const fields = Object.entries(form.form_data).map(([name, value]) => ({ name, value }))
      const file = { name: "file", filename: "f", value: yield* zipOf({ "robot.yaml": robotYaml("Help") }) }
      const sent = yield* send(origin, "POST", new URL(form.url).pathname, multipart([...fields, file]))
      assert.strictEqual(sent.status, 204, sent.text)
      const plain = { name: "s", task: { name: "t" } }
      for (const [path, step] of [
        [`worker-groups/${group}`, { ...plain, worker_group: { id: group } }],
        [`task-packages/${taskPackage}`, { name: "s", task: { name: "Help", package_id: taskPackage } }]
      ] as const) {
        const process = yield* made("processes", { name: path, steps: [step] })
        const input = { type: "with_payloads", payloads: [1] }
        const run = yield* made(`processes/${process}/process-runs`, input)
        const inProcess = yield* ask("DELETE", path)
        assertError(inProcess, 409, "CONFLICT", /process/)
        // The run has the steps with which it was started.
        yield* ask("POST", `processes/${process}`, { name: path, steps: [plain] })
        const inRun = yield* ask("DELETE", path)
        assertError(inRun, 409, "CONFLICT", new RegExp(`process run ${run}`))
        const stop = { set_remaining_work_items_as_done: true, terminate_ongoing_activity_runs: true }
        yield* ask("POST", `process-runs/${run}/stop`, stop)
        const deleted = yield* ask("DELETE", path)
        assert.strictEqual(deleted.status, 200, deleted.text)
      }
    })
  )
})

/** Names that other routes have, and that mean something in paths. */
const names = [
  "readyz",
  "healthz",
  "health",
  "metrics",
  "docs",
  "openapi.json",
  "..",
  "%2e%2e",
  ".",
  "name:..",
  "console"
]

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("a resource with the name of a route", (it) => {
  it.effect("opens no endpoint to who has no key, or one without the permission, streams included", () =>
    Effect.gen(function* () {
      const { makeKey, raw, rows, workspaceId } = yield* Service
      const key = yield* makeKey([])
      const guarded = ofKeys.filter(
        ({ needed, path }) => needed.length > 0 && /:\w+/.test(path.replace(":workspace_id", ""))
      )
      assert.isAbove(guarded.length, 50)
      const before = yield* rows
      for (const { method, path } of guarded) {
        for (const name of names) {
          const url = fill(path, (parameter) => (parameter === "workspace_id" ? workspaceId : name))
          for (const given of [null, key]) {
            const answer = yield* raw(method, url, { key: given, ...(method === "GET" ? {} : { json: {} }) })
            assert.include([400, 401, 403, 404, 405], answer.status, `${method} ${url}: ${answer.text.slice(0, 200)}`)
          }
        }
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("is the resource and nothing else", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      for (const name of ["readyz", "healthz", "health", "metrics", "docs"]) {
        yield* raw("POST", "assets", { json: { name } })
        const asset = yield* raw("GET", `assets/name:${name}`)
        assert.strictEqual(bodyAs(Schema.Struct({ name: Schema.String }), asset).name, name)
        assert.strictEqual((yield* raw("GET", `assets/name:${name}`, { key: null })).status, 401)
      }
      for (const name of ["readyz", "health"]) {
        assert.strictEqual((yield* raw("POST", "secrets", { json: { name, items: {} } })).status, 200)
        assert.strictEqual((yield* raw("GET", `secrets/${name}`, { key: null })).status, 401)
        assert.strictEqual((yield* raw("GET", `secrets/${name}`)).status, 200)
      }
    })
  )
})
