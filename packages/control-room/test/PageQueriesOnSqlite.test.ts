/**
 * How lists are read: every list, with each combination of its filters and at any depth, walks one index that has all
 * its filters and its order, so a page costs the same however many other rows exist.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { AlertId, AssetId, ScheduleId, StepId, UserId, WebhookId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import { Runs } from "../src/internal/runs/Runs.ts"
import { AlertChannels } from "../src/internal/store/notifications/AlertChannels.ts"
import { AlertMessages } from "../src/internal/store/notifications/AlertMessages.ts"
import { Alerts } from "../src/internal/store/notifications/Alerts.ts"
import { ApiKeys } from "../src/internal/store/access/ApiKeys.ts"
import { AccountSessions } from "../src/internal/store/access/AccountSessions.ts"
import { Memberships } from "../src/internal/store/access/Memberships.ts"
import { Assets } from "../src/internal/store/files/Assets.ts"
import { AuditEntries, type EntryFilter } from "../src/internal/store/audit/AuditEntries.ts"
import { Assistants } from "../src/internal/store/workers/Assistants.ts"
import { BulkOperations } from "../src/internal/store/room/BulkOperations.ts"
import type { PageRequest } from "../src/internal/store/database/Database.ts"
import { Deliveries } from "../src/internal/store/notifications/Deliveries.ts"
import { Files } from "../src/internal/store/files/Files.ts"
import { Outputs } from "../src/internal/store/items/Outputs.ts"
import { PackageVersions } from "../src/internal/store/packages/PackageVersions.ts"
import { ProcessRuns } from "../src/internal/store/runs/ProcessRuns.ts"
import { Processes } from "../src/internal/store/processes/Processes.ts"
import { Secrets } from "../src/internal/store/vault/Secrets.ts"
import { Schedules } from "../src/internal/store/starts/Schedules.ts"
import { RunSteps } from "../src/internal/store/runs/RunSteps.ts"
import { StepRuns } from "../src/internal/store/runs/StepRuns.ts"
import { TaskPackages } from "../src/internal/store/packages/TaskPackages.ts"
import { Triggers } from "../src/internal/store/starts/Triggers.ts"
import { Webhooks } from "../src/internal/store/notifications/Webhooks.ts"
import { WorkerGroups } from "../src/internal/store/workers/WorkerGroups.ts"
import { WorkerReports } from "../src/internal/store/runs/WorkerReports.ts"
import { Workers } from "../src/internal/store/workers/Workers.ts"
import { WorkItems } from "../src/internal/store/items/WorkItems.ts"
import { Workspaces } from "../src/internal/store/access/Workspaces.ts"
import { lists } from "./support/Endpoints.ts"
import { runsOn, sqlite } from "./support/Storage.ts"

const statements: Array<string> = []

/** Records the text of every statement. */
const recording = Layer.succeed(Statement.CurrentTransformer, (statement) =>
  Effect.sync(() => {
    statements.push(statement.compile()[0])
    return statement
  })
)

type List = (page: PageRequest) => Effect.Effect<unknown>

/** The columns that a list is filtered by, and the list. */
type Variant = readonly [filters: ReadonlyArray<string>, list: List]

/** Every query of each list, by its endpoint. */
const makeLists = Effect.gen(function* () {
  const workspace = (yield* (yield* Workspaces).create("pages")).id
  const definition = { name: "p", steps: [{ name: "s", task: { name: "t" } }] }
  const process = (yield* (yield* Processes).create(workspace, definition)) ?? assert.fail("taken")
  const run = (yield* (yield* Runs).start(workspace, process, {})) ?? assert.fail("not started")
  const [stepRun = assert.fail("no step run")] = yield* (yield* StepRuns).lockLive(run)
  const taskPackage = (yield* (yield* TaskPackages).create(workspace, "p")) ?? assert.fail("taken")
  const assistants = yield* Assistants
  const assistant = yield* assistants.create(workspace, "a", { name: "t", package_id: taskPackage.id })
  const alerts = yield* Alerts
  const alertChannels = yield* AlertChannels
  const alertMessages = yield* AlertMessages
  const apiKeys = yield* ApiKeys
  const memberships = yield* Memberships
  const accountSessions = yield* AccountSessions
  const audit = yield* AuditEntries
  const assets = yield* Assets
  const bulkOperations = yield* BulkOperations
  const deliveries = yield* Deliveries
  const files = yield* Files
  const groups = yield* WorkerGroups
  const items = yield* WorkItems
  const outputs = yield* Outputs
  const packages = yield* TaskPackages
  const versions = yield* PackageVersions
  const processes = yield* Processes
  const reports = yield* WorkerReports
  const runs = yield* ProcessRuns
  const secrets = yield* Secrets
  const stepRuns = yield* StepRuns
  const webhooks = yield* Webhooks
  const workers = yield* Workers
  const schedules = yield* Schedules
  const triggers = yield* Triggers
  const nobody = "01900000-0000-7000-8000-000000000000"
  const inWorkspace = (list: List): ReadonlyArray<Variant> => [[["workspace_id"], list]]
  /** Also by name, of which an index has one row at most, or all in order. */
  const byName = (list: List): ReadonlyArray<Variant> => [
    ...inWorkspace(list),
    [["workspace_id", "name"], (page) => list({ ...page, name: "p" })]
  ]
  const processId = process.view.id
  const none = { processId: null, processRunId: null, state: null }
  const itemsWith = (filter: Partial<Parameters<WorkItems["Service"]["list"]>[1]>): List => {
    return (page) => items.list(workspace, { ...none, ...filter }, page)
  }
  const runsWith = (filter: Partial<Parameters<ProcessRuns["Service"]["list"]>[1]>): List => {
    return (page) => runs.list(workspace, { processId: null, state: null, ...filter }, page)
  }
  const auditWith = (filter: Partial<EntryFilter>): List => {
    const all = { actorId: null, action: null, resourceType: null, resourceId: null, from: null, until: null }
    return (page) => audit.list(workspace, { ...all, ...filter }, page)
  }
  const ways: Readonly<Record<string, ReadonlyArray<Variant>>> = {
    listAssets: byName((page) => assets.list(workspace, page)),
    listAuditEntries: [
      [["workspace_id"], auditWith({})],
      [["workspace_id"], auditWith({ from: 0, until: 1 })],
      [["workspace_id", "actor_id"], auditWith({ actorId: nobody })],
      [["workspace_id", "action"], auditWith({ action: "updateProcess" })],
      [["workspace_id", "resource_type"], auditWith({ resourceType: "process" })],
      [["workspace_id", "resource_id"], auditWith({ resourceId: nobody })],
      [["workspace_id", "resource_id"], auditWith({ resourceType: "process", resourceId: nobody })]
    ],
    listAssistants: inWorkspace((page) => assistants.list(workspace, page)),
    listAssistantRuns: [
      [["workspace_id"], (page) => assistants.listRuns(workspace, null, page)],
      [["assistant_id"], (page) => assistants.listRuns(workspace, assistant.id, page)]
    ],
    listProcesses: byName((page) => processes.list(workspace, page)),
    listProcessRuns: [
      [["workspace_id"], runsWith({})],
      [["workspace_id", "state"], runsWith({ state: "completed" })],
      [["workspace_id"], runsWith({ created: { from: 0, before: 1 } })],
      [["process_id"], runsWith({ processId })],
      [["process_id", "state"], runsWith({ processId, state: "completed" })]
    ],
    listOutputs: [[["process_run_id"], (page) => outputs.list(run, page)]],
    listStepRuns: [[["process_run_id"], (page) => stepRuns.list(run, page)]],
    listStepRunEvents: [[["step_run_id"], (page) => stepRuns.listEvents(stepRun.id, page)]],
    listStepRunArtifacts: [[["owner_id"], (page) => files.list(stepRun.id, page)]],
    listStepRunConsoleMessages: [
      [["step_run_id"], (page) => reports.listMessages(stepRun.id, "oldest first", page)],
      [["step_run_id"], (page) => reports.listMessages(stepRun.id, "newest first", page)]
    ],
    listWorkItems: [
      [["workspace_id"], itemsWith({})],
      [["workspace_id", "state"], itemsWith({ state: "failed" })],
      [["process_id"], itemsWith({ processId })],
      [["process_id", "state"], itemsWith({ processId, state: "failed" })],
      [["process_run_id"], itemsWith({ processRunId: run })],
      [["process_run_id", "state"], itemsWith({ processRunId: run, state: "failed" })],
      [["process_run_id"], itemsWith({ processId, processRunId: run })],
      [["process_run_id", "state"], itemsWith({ processId, processRunId: run, state: "failed" })],
      [["step_id"], itemsWith({ processId, stepId: StepId.make(nobody) })],
      [["step_id"], itemsWith({ processId, stepId: StepId.make(nobody), state: "done" })],
      // Of the run, or of those in a state that few have, read on until there are enough of the step.
      [["process_id", "state"], itemsWith({ processId, stepId: StepId.make(nobody), state: "failed" })],
      [["process_run_id"], itemsWith({ processRunId: run, stepId: StepId.make(nobody) })],
      [["workspace_id", "reference"], itemsWith({ reference: "r" })],
      [["workspace_id", "reference"], itemsWith({ reference: "r", processId, processRunId: run, state: "failed" })],
      [["workspace_id", "tag"], itemsWith({ tag: "t" })],
      [["workspace_id", "tag"], itemsWith({ tag: "t", processId, processRunId: run, state: "failed" })],
      [["workspace_id", "tag"], itemsWith({ tag: "t", reference: "r" })],
      // Of an index that has the open items with a time alone.
      [["INDEX work_item_due (workspace_id"], itemsWith({ due: "late", processId })]
    ],
    // Steps from group to group in an index; the plans are in Failures.test.ts.
    listFailures: [],
    listBulkOperations: inWorkspace((page) => bulkOperations.list(workspace, page)),
    listTaskPackages: byName((page) => packages.list(workspace, page)),
    listTaskPackageVersions: [
      [["workspace_id", "package_id"], (page) => versions.list(workspace, taskPackage.id, page)]
    ],
    listSecrets: byName((page) => secrets.list(workspace, page)),
    listWebhooks: inWorkspace((page) => webhooks.list(workspace, page)),
    listWebhookDeliveries: [
      [["webhook_id"], (page) => deliveries.list(WebhookId.make(nobody), null, page)],
      [["webhook_id", "state"], (page) => deliveries.list(WebhookId.make(nobody), "failed", page)]
    ],
    listAlerts: inWorkspace((page) => alerts.list(workspace, page)),
    listAlertChannels: inWorkspace((page) => alertChannels.list(workspace, page)),
    listAlertFirings: [
      [["workspace_id"], (page) => alerts.firings(workspace, { alert: null, state: null }, page)],
      [
        ["workspace_id", "alert_id"],
        (page) => alerts.firings(workspace, { alert: AlertId.make(nobody), state: null }, page)
      ]
    ],
    listAlertMessages: [
      [["workspace_id", "alert_id"], (page) => alertMessages.list(workspace, AlertId.make(nobody), page)]
    ],
    listSchedules: [
      [["workspace_id"], (page) => schedules.list(workspace, null, page)],
      [["process_id"], (page) => schedules.list(workspace, processId, page)]
    ],
    listScheduleOccurrences: [
      [["workspace_id", "schedule_id"], (page) => schedules.occurrences(workspace, ScheduleId.make(nobody), page)]
    ],
    listTriggers: [
      [["workspace_id"], (page) => triggers.list(workspace, null, page)],
      [["process_id"], (page) => triggers.list(workspace, processId, page)]
    ],
    listWorkers: [
      ...byName((page) => workers.list(workspace, null, page)),
      // The members of the group are looked up one by one.
      [["workspace_id", "id"], (page) => workers.list(workspace, WorkerGroupId.make(nobody), page)]
    ],
    listWorkerGroups: byName((page) => groups.list(workspace, page)),
    listGroupLinkTokens: [[["worker_group_id"], (page) => groups.listLinkTokens(WorkerGroupId.make(nobody), page)]],
    listApiKeys: inWorkspace((page) => apiKeys.list(workspace, page)),
    listUsers: inWorkspace((page) => memberships.list(workspace, page)),
    listUserSessions: [[["account_id"], (page) => accountSessions.list(UserId.make(nobody), page)]]
  }
  // With `include_data` the files of the items on the page are also read.
  return { workspace, run, lists: ways, filesOf: files.ofOwners([AssetId.make(nobody), nobody]) }
})

interface PlanRow {
  readonly detail: string
}

const planOf = Effect.fnUntraced(function* (statement: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql.unsafe<PlanRow>(`EXPLAIN QUERY PLAN ${statement}`)).map(({ detail }) => detail)
})

/** The statements of a list, without the lookups of its filters. */
const statementsOf = Effect.fnUntraced(function* (effect: Effect.Effect<unknown>) {
  statements.length = 0
  yield* effect
  return [...statements]
})

withLayer(Layer.provideMerge(runsOn(sqlite), recording), { excludeTestServices: true, timeout: "4 minutes" })(
  "the plan of a page",
  (it) => {
    it.effect("is known of every list of the contract", () =>
      Effect.gen(function* () {
        const made = yield* makeLists
        const known = lists.map(({ identifier }) => identifier)
        assert.deepStrictEqual(Object.keys(made.lists).sort(), known.sort())
      })
    )

    it.effect("walks one index, first page and deep inside, and never sorts", () =>
      Effect.gen(function* () {
        const made = yield* makeLists
        const deep = "01900000-0000-7000-8000-000000000000"
        for (const [identifier, variants] of Object.entries(made.lists)) {
          for (const [filters, list] of variants) {
            for (const after of [null, deep]) {
              const what = `${identifier} by ${filters.join(", ")}${after === null ? "" : " from a cursor"}`
              const read = yield* statementsOf(list({ after, limit: 100 }))
              const page = read.at(-1) ?? assert.fail(`${what}: nothing was read`)
              for (const statement of read) {
                const plan = yield* planOf(statement)
                assert.notMatch(plan.join("\n"), /SCAN|TEMP B-TREE/, `${what}\n${statement}`)
              }
              const [walk = ""] = yield* planOf(page)
              for (const filter of filters) {
                // The index of webhooks has those of one workspace without a run.
                assert.include(walk, `${filter}=?`, `${what}\n${page}`)
              }
              const isUnique = filters.includes("name") && identifier !== "listWorkers"
              if (after !== null && !isUnique && !filters.includes("id"))
                assert.match(walk, / id[<>]\?|AND (account_)?id[<>]\?/, `${what}\n${page}`)
            }
          }
        }
        const [files = assert.fail("nothing was read")] = yield* statementsOf(made.filesOf)
        assert.notMatch((yield* planOf(files)).join("\n"), /SCAN|TEMP B-TREE/)
      })
    )

    it.effect("holds for the steps of a run: its items and step runs are counted in indices", () =>
      Effect.gen(function* () {
        const { workspace, run } = yield* makeLists
        const { of } = yield* RunSteps
        const read = yield* statementsOf(of(workspace, run, () => Effect.succeed(() => false)))
        for (const statement of read) assert.notMatch((yield* planOf(statement)).join("\n"), /SCAN/, statement)
        const plans = (yield* Effect.forEach(read, planOf)).flat().join("\n")
        for (const index of ["work_item_settled", "step_run_times"]) assert.include(plans, `COVERING INDEX ${index}`)
      })
    )

    it.effect("holds for the polls of every second: ended rows cost nothing, however many", () =>
      Effect.gen(function* () {
        yield* makeLists
        const schedules = yield* Schedules
        const triggers = yield* Triggers
        const { tick } = yield* Runs
        const { claim } = yield* BulkOperations
        const all = Effect.all([tick, schedules.due(100), triggers.candidates, claim], { discard: true })
        for (const statement of yield* statementsOf(all)) {
          if (!/^\s*(SELECT|UPDATE|DELETE)/.test(statement)) continue
          const plan = (yield* planOf(statement)).join("\n")
          // A scan of a partial index covers live rows only.
          assert.notMatch(
            plan,
            /SCAN (?!\w+ USING (COVERING )?INDEX (step_run_running|assistant_run_live|schedule_waiting|trigger_starting|bulk_operation_open))/,
            `${plan}\n${statement}`
          )
        }
      })
    )
  }
)
