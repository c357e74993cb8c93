/** One response for each resource as the service sends it, with all keys. */
import type * as Schema from "effect/Schema"
import * as ApiKeys from "../../src/contract/ApiKeys.ts"
import * as ConsoleTickets from "../../src/contract/ConsoleTickets.ts"
import * as Assets from "../../src/contract/Assets.ts"
import * as AssistantRuns from "../../src/contract/AssistantRuns.ts"
import * as Assistants from "../../src/contract/Assistants.ts"
import * as BulkOperations from "../../src/contract/BulkOperations.ts"
import { Page } from "../../src/contract/Common.ts"
import * as AlertChannels from "../../src/contract/AlertChannels.ts"
import * as Alerts from "../../src/contract/Alerts.ts"
import * as Changes from "../../src/contract/Changes.ts"
import * as Failures from "../../src/contract/Failures.ts"
import * as Outputs from "../../src/contract/Outputs.ts"
import * as Pauses from "../../src/contract/Pauses.ts"
import * as Processes from "../../src/contract/Processes.ts"
import * as ProcessRuns from "../../src/contract/ProcessRuns.ts"
import * as RobotSecrets from "../../src/contract/RobotSecrets.ts"
import * as Room from "../../src/contract/Room.ts"
import * as Secrets from "../../src/contract/Secrets.ts"
import * as StepRuns from "../../src/contract/StepRuns.ts"
import * as TaskPackages from "../../src/contract/TaskPackages.ts"
import * as TaskPackageVersions from "../../src/contract/TaskPackageVersions.ts"
import * as WebhookEvents from "../../src/contract/WebhookEvents.ts"
import * as Schedules from "../../src/contract/Schedules.ts"
import * as Triggers from "../../src/contract/Triggers.ts"
import * as Webhooks from "../../src/contract/Webhooks.ts"
import * as WorkerGroups from "../../src/contract/WorkerGroups.ts"
import * as WorkerProtocol from "../../src/contract/WorkerProtocol.ts"
import * as Workers from "../../src/contract/Workers.ts"
import * as WorkItems from "../../src/contract/WorkItems.ts"
import * as Workspaces from "../../src/contract/Workspaces.ts"
import { olderExamples } from "./OlderExamples.ts"

export interface Example {
  readonly name: string
  readonly schema: Schema.Codec<unknown, unknown>
  readonly json: Readonly<Record<string, unknown>>
  /** The schema of the OpenAPI document that the JSON must satisfy; null for an inline one. */
  readonly component: string | null
}

const at = "2026-11-20T08:15:30.000Z"
const later = "2026-11-20T08:16:30.500Z"
const file = { id: "f1", name: "orders.csv", size: 120, download: { url: "https://example.com/f1" } }
const exception = { code: "BAD_ROW", type: "business", message: "row 7 has no amount" }
const workItem = {
  id: "i1",
  created_at: at,
  state: "failed",
  state_updated_at: later,
  process: { id: "p1" },
  process_run: { id: "r1" },
  step: { id: "s1" },
  step_run: { id: "sr1" },
  exception,
  priority: 50,
  due_at: later,
  due_state: null,
  reference: "order-4711",
  tags: ["express"]
}
const paused = { by: { type: "api_key", id: "k1", name: "ci" }, note: "maintenance", since: at }
const packageVersion = {
  version: 7,
  state: "current",
  digest: "sha256:00",
  size: 12,
  created_at: at,
  created_by: { type: "commit", id: "5ac4b14e5a3ad7e1b5d1b9c0a2b3c4d5e6f70819", name: "Ada Lovelace" },
  note: "reads the new form"
}
const currentVersion = {
  version: 7,
  newest: 8,
  digest: "sha256:00",
  since: at,
  by: { type: "api_key", id: "k1", name: "operations" }
}
const assistantRun = {
  id: "ar1",
  state: "failed",
  error: { code: "SETUP_FAILURE" },
  started_at: at,
  ended_at: later,
  duration: 60.5,
  assistant: { id: "a1", name: "invoices" }
}
const trigger = {
  id: "t1",
  name: "pushes",
  process: { id: "p1", name: "orders" },
  created_at: at,
  enabled: true,
  start: { at_least: 1, oldest_seconds: 60, max_runs: 1 },
  webhook: {
    signature: { type: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=" },
    handshake: "slack",
    payload: { repository: "/repository/full_name" },
    event_id: { header: "X-GitHub-Delivery", pointer: null },
    max_waiting: 1000
  },
  problem: { since: at, message: "the process has no steps" }
}

const alertChannel = {
  id: "ac1",
  name: "operations",
  type: "email",
  target: "smtp.example.com:587",
  email: {
    security: "starttls",
    from: "robots@example.com",
    to: ["operations@example.com"],
    username: "robots",
    password_from: { secret: "smtp", item: "password" }
  },
  created_at: at,
  last_sent_at: at,
  last_failed_at: later,
  last_error: "the mail server refused the recipients (451)"
}

const alertMessage = {
  id: "am1",
  firing: { id: "af1" },
  channel: { id: "ac1", name: "operations" },
  kind: "began",
  text: 'no run of the process "orders" has completed for 1 hour.',
  state: "pending",
  created_at: at,
  attempts: 1,
  last_attempt_at: at,
  next_attempt_at: later,
  error: "the mail server refused the recipients (451)"
}

const schedule = {
  id: "sch1",
  name: "nightly",
  process: { id: "p1", name: "orders" },
  created_at: at,
  cron: "30 2 * * *",
  every: "1 hour",
  anchor: at,
  at,
  zone: "Europe/Vienna",
  from: at,
  until: later,
  calendar: { dates: ["2026-12-25"], weekdays: ["sun"], otherwise: "before" },
  jitter: "5 minutes",
  missed: "last",
  overlap: "skip",
  queue: 1,
  paused: { since: at, by: { type: "api_key", id: "k1", name: "ci" }, note: "the ERP is down" },
  next_at: later,
  waiting: [at]
}

const webhook = {
  id: "w1",
  process: { id: "p1" },
  enabled_events: ["process_run.started", "process_run.unresolved"],
  endpoint: "https://example.com/hook",
  enabled: true
}
const event = {
  id: "e1",
  webhookEventTimestamp: at,
  event: "process_run",
  action: "unresolved",
  payload: {
    workspaceId: "ws1",
    processId: "p1",
    processName: "orders",
    processRunId: "r1",
    state: "unresolved",
    seqNo: 2,
    startedAt: at,
    endedAt: later,
    duration: 60.5,
    result: "error",
    errorCode: "BAD_ROW",
    pause: null
  }
}
const token = { id: "t1", name: "autoscaling", expires_at: later, worker_group: { id: "g1" } }

const of = (
  name: string,
  schema: Schema.Codec<unknown, unknown>,
  json: Readonly<Record<string, unknown>>,
  component: string | null = name
): Example => ({ name, schema, json, component })

export const examples: ReadonlyArray<Example> = [
  of("Workspace", Workspaces.Workspace, { id: "ws1", name: "accounting", organization: { id: "o1", name: "Acme" } }),
  of("Asset", Assets.Asset, {
    id: "as1",
    name: "config",
    payload: { type: "url", content_type: "application/json", url: "https://example.com/as1" }
  }),
  of("Asset without content", Assets.Asset, { id: "as1", name: "config", payload: { type: "empty" } }, "Asset"),
  of("AssetSummary", Assets.AssetSummary, { id: "as1", name: "config" }),
  of("AssetUpload", Assets.AssetUpload, { id: "u1", status: "failed", content_type: "text/plain", reason: "expired" }),
  of(
    "AssetUpload, pending",
    Assets.AssetUpload,
    { id: "u1", status: "pending", content_type: "text/plain" },
    "AssetUpload"
  ),
  of("AssetUploadCreated", Assets.AssetUploadCreated, {
    id: "u1",
    status: "pending",
    content_type: "text/plain",
    upload_url: "https://example.com/u1"
  }),
  of("Assistant", Assistants.Assistant, {
    id: "a1",
    name: "invoices",
    task: { name: "Main", package_id: "tp1" },
    created_at: at
  }),
  of("AssistantRun", AssistantRuns.AssistantRun, assistantRun),
  of("AssistantRunStarted", AssistantRuns.AssistantRunStarted, {
    id: "ar1",
    run_token: "secret",
    task: { name: "Main" },
    package: { digest: "sha256:00", url: "https://example.com/tp1" },
    heartbeat_seconds: 30
  }),
  of("Process", Processes.Process, {
    id: "p1",
    name: "orders",
    description: "all of them",
    created_at: at,
    steps: [{ id: "s1", name: "read", paused: null }],
    paused
  }),
  of("Paused", Pauses.Paused, paused),
  of("ProcessSummary", Processes.ProcessSummary, { id: "p1", name: "orders", created_at: at, paused }),
  of("ProcessRun", ProcessRuns.ProcessRun, {
    id: "r1",
    state: "completed",
    created_at: at,
    started_at: at,
    ended_at: later,
    process: { id: "p1", name: "orders" },
    started_by: { type: "user", details: { id: "u1", first_name: "Ada", last_name: "Lovelace" } },
    source: { type: "schedule", id: "s1", name: "nightly" },
    duration: 60.5,
    priority: -10
  }),
  of("Output", Outputs.Output, {
    id: "i2",
    created_at: at,
    process: { id: "p1" },
    process_run: { id: "r1" },
    payload: { total: 7 },
    files: [file]
  }),
  of("StepRun", StepRuns.StepRun, {
    id: "sr1",
    state: "failed",
    state_updated_at: later,
    error: { code: "ROBOT_FAILURE" },
    started_at: at,
    ended_at: later,
    duration: 60.5,
    step: { id: "s1", name: "read" },
    task_package: { id: "tp1", version: 7, digest: "sha256:00" }
  }),
  of("StepRunPackage", StepRuns.StepRunPackage, { id: "tp1", version: 7, digest: "sha256:00" }),
  of("StepRunEvent", StepRuns.StepRunEvent, {
    timestamp: at,
    event_type: "NO_WORKER",
    message: "no worker is online",
    environment: null
  }),
  of("StepRunEvent", StepRuns.StepRunEvent, {
    timestamp: at,
    event_type: "ENVIRONMENT",
    message: null,
    environment: { digest: "0123456789abcdef", provider: "uv", cached: true, seconds: 12.5 }
  }),
  of("ArtifactListed", StepRuns.ArtifactListed, { id: "af1", name: "log.html", size: 12 }),
  of("Artifact", StepRuns.Artifact, { id: "af1", name: "log.html", size: 12, url: "https://example.com/af1" }),
  of("ConsoleMessage", StepRuns.ConsoleMessage, { timestamp: at, message: "hello" }),
  of("WorkItem", WorkItems.WorkItem, { ...workItem, payload: ["any", { json: null }], files: [file] }),
  of("ThroughputHour", WorkItems.ThroughputHour, { from: at, done: 812, failed: 23, open: 4 }),
  of("WorkItemListed", WorkItems.WorkItemListed, workItem),
  of("Failure", Failures.Failure, {
    id: "4be1c0ffee",
    process: { id: "p1", name: "orders" },
    step: { id: "s1", name: "read" },
    type: "business",
    code: "BAD_ROW",
    message: "row # has no amount",
    created_at: at,
    state: "muted",
    muted_until: later,
    note: "the supplier knows",
    assignee: "Ada",
    count: 12,
    first_failed_at: at,
    last_failed_at: later,
    work_items: [{ id: "i1", process_run: null }]
  }),
  of("BulkOperation", BulkOperations.BulkOperation, {
    id: "b1",
    operation: "retry",
    filter: { process_id: "p1", code: "BAD_ROW" },
    state: "completed",
    created_at: at,
    updated_at: later,
    ended_at: later,
    total: 12,
    done: 10,
    refused: 1,
    skipped: 1,
    refusals: [{ code: "CONFLICT", message: "the run # is stopping", count: 1, ids: ["i1"] }]
  }),
  of("TaskPackage", TaskPackages.TaskPackage, {
    id: "tp1",
    name: "invoices",
    type: "zip",
    tasks: [{ name: "Main" }],
    download: { url: "https://example.com/tp1" },
    git: null,
    current: currentVersion
  }),
  of("CurrentVersion", TaskPackageVersions.CurrentVersion, currentVersion),
  of("TaskPackageVersionListed", TaskPackageVersions.TaskPackageVersionListed, packageVersion),
  of("TaskPackageVersion", TaskPackageVersions.TaskPackageVersion, {
    ...packageVersion,
    tasks: [{ name: "Main" }],
    download: { url: "https://example.com/tp1" }
  }),
  of("GitSource", TaskPackages.GitSource, {
    repository: "https://example.com/invoices.git",
    directory: null,
    credentials_secret: "git",
    mode: "attached",
    reference: "main",
    automatic_deployment: true,
    commit: "5ac4b14e5a3ad7e1b5d1b9c0a2b3c4d5e6f70819",
    fetched_at: at,
    error: { message: "the repository has no branch", failed_at: later }
  }),
  of("TaskPackageSummary", TaskPackages.TaskPackageSummary, { id: "tp1", name: "invoices", type: "github" }),
  of("Secret", Secrets.Secret, { name: "shop", description: "the shop's back office" }),
  of("SecretWithItemNames", Secrets.SecretWithItemNames, {
    name: "shop",
    description: "the shop's back office",
    item_names: ["user", "password"]
  }),
  of("SealedSecret", RobotSecrets.SealedSecret, {
    name: "shop",
    description: "the shop's back office",
    value: "AAEC",
    encryption: { encryptionScheme: "robocloud-vault-transit-v2", encryptedAES: "AAEC", authTag: "AAEC", iv: "AAEC" }
  }),
  of("Alert", Alerts.Alert, {
    id: "al1",
    name: "stuck",
    created_at: at,
    enabled: true,
    rule: {
      type: "nothing_completed",
      process: { id: "p1" },
      seconds: 3600,
      hours: { zone: "Europe/Vienna", from: "08:00", to: "18:00", weekdays: ["mon"], except: ["2026-12-25"] }
    },
    channels: [{ id: "ac1", name: "team" }],
    repeat_seconds: 86_400,
    quiet: { zone: "Europe/Vienna", from: "22:00", to: "07:00" },
    since: at,
    muted: { until: later, note: "we know", by: { id: "k1", name: "ci" } },
    firing: 1
  }),
  of("AlertFiring", Alerts.AlertFiring, {
    id: "af1",
    alert: { id: "al1", name: "stuck" },
    state: "firing",
    subject: "p1",
    message: 'no run of the process "orders" has completed for 1 hour',
    began_at: at,
    ended_at: later,
    last_told_at: at,
    last_error: "the channel responded with 503; 2xx is expected"
  }),
  of("AlertMessage", Alerts.AlertMessage, alertMessage),
  of("AlertTest", Alerts.AlertTest, { messages: [alertMessage] }),
  of("AlertEvent", Alerts.AlertEvent, {
    id: "am1",
    type: "alert.began",
    timestamp: at,
    workspace_id: "w1",
    alert: { id: "al1", name: "stuck", rule: "nothing_completed" },
    firing: { id: "af1", subject: "p1", began_at: at, ended_at: later },
    text: 'no run of the process "orders" has completed for 1 hour.'
  }),
  of("AlertChannel", AlertChannels.AlertChannel, alertChannel),
  of("AlertChannelCreated", AlertChannels.AlertChannelCreated, { ...alertChannel, secret: "whsec_AAEC" }),
  of("ScheduleListed", Schedules.ScheduleListed, schedule),
  of("Schedule", Schedules.Schedule, {
    ...schedule,
    inputs: { type: "with_payloads", payloads: [{ until: "{at}" }] },
    running: [{ id: "r1" }]
  }),
  of("ScheduleTime", Schedules.ScheduleTime, {
    at,
    starts_at: later,
    local: "2026-11-20T09:00:00.000+01:00[Europe/Vienna]"
  }),
  of("ScheduleOccurrence", Schedules.ScheduleOccurrence, {
    id: "so1",
    at,
    recorded_at: later,
    outcome: "skipped",
    reason: "overlap",
    why: "the run r1 has not ended, and overlap is skip",
    process_run: { id: "r1" }
  }),
  of("TriggerListed", Triggers.TriggerListed, trigger),
  of("Trigger", Triggers.Trigger, { ...trigger, running: [{ id: "r1" }] }),
  of("TriggerCreated", Triggers.TriggerCreated, { ...trigger, running: [], url: "https://example.com/hooks/secret" }),
  of("WebhookListed", Webhooks.WebhookListed, webhook),
  of("Webhook", Webhooks.Webhook, { ...webhook, secret: "whsec_AAEC" }),
  of("WebhookDelivery", Webhooks.WebhookDelivery, {
    id: "d1",
    event_id: "e1",
    event_type: "process_run.started",
    process_run: { id: "r1" },
    state: "pending",
    created_at: at,
    attempts: 2,
    last_attempt_at: later,
    next_attempt_at: later,
    response_status: 500,
    error: "the endpoint responded with 500",
    body: JSON.stringify(event)
  }),
  of("WebhookEvent", WebhookEvents.WebhookEvent, event),
  of("Worker", Workers.Worker, {
    id: "wk1",
    name: "machine 1",
    state: "idle",
    labels: ["gpu"],
    draining: false,
    paused,
    last_seen_at: later,
    worker_groups: [{ id: "g1", name: "big machines" }],
    step_runs: [{ id: "s1", step: "read", process_run: { id: "r1" } }]
  }),
  of("QueueDepth", Workers.QueueDepth, { waiting: 3, assigned: 2, total: 5 }),
  of("LinkToken", Workers.LinkToken, { id: "t1", expires_at: later, link_token: "secret" }),
  of("WorkerGroup", WorkerGroups.WorkerGroup, { id: "g1", name: "big machines", paused }),
  of("Membership", WorkerGroups.Membership, {
    worker: { id: "wk1" },
    worker_groups: [{ id: "g1", name: "big machines", paused: null }]
  }),
  of("GroupLinkToken", WorkerGroups.GroupLinkToken, token),
  of("GroupLinkTokenCreated", WorkerGroups.GroupLinkTokenCreated, { ...token, link_token: "secret" }),
  of("ApiKey", ApiKeys.ApiKey, { id: "k1", name: "ci", permissions: ["Processes.read_runs"], created_at: at }),
  of("ApiKeyCreated", ApiKeys.ApiKeyCreated, {
    id: "k1",
    name: "ci",
    permissions: ["Processes.read_runs"],
    created_at: at,
    key: "sbk_k1_secret"
  }),
  of("ConsoleTicket", ConsoleTickets.ConsoleTicket, {
    ticket: "sbt_t1_secret",
    url: "http://127.0.0.1:4700/console/#ticket=sbt_t1_secret",
    expires_at: at
  }),
  of("Room", Room.Room, { paused: false, resumed_at: "2026-11-20T08:00:00.000Z", resumed_by: { id: "k1" } }),
  of("WorkspaceCreated", Workspaces.WorkspaceCreated, {
    id: "ws2",
    name: "staging",
    organization: { id: "o1", name: "Acme" },
    api_key: {
      id: "k1",
      name: "first key",
      permissions: ["Processes.read_runs"],
      created_at: at,
      key: "sbk_k1_secret"
    }
  }),
  of("Linked", WorkerProtocol.Linked, {
    worker_id: "wk1",
    workspace_id: "ws1",
    worker_token: "secret",
    heartbeat_seconds: 3
  }),
  of("Lease", WorkerProtocol.Lease, {
    step_run_id: "sr1",
    process_id: "p1",
    process_run_id: "r1",
    lease_token: "secret",
    run_token: "secret",
    task: { name: "Main" },
    package: { digest: "sha256:00", url: "https://example.com/tp1" },
    work_item_id: "i1",
    timeout_seconds: 60,
    env: { A: "b" },
    environment: { path: "/srv/environments/invoices" }
  }),
  of("ItemInHand", WorkerProtocol.ReservedItem, {
    work_item_id: "i1",
    attempt: 1,
    payload: { order: 17 },
    files: [{ id: "f1", name: "in.txt", size: 2 }]
  }),
  of("SettledItem", WorkerProtocol.SettledItem, {
    work_item_id: "i1",
    attempt: 1,
    state: "FAILED",
    exception: { type: "BUSINESS", code: "NO_ADDRESS", message: "no address" },
    outputs: []
  }),
  of("ConsoleMessages", StepRuns.ConsoleMessages, {
    data: [{ timestamp: "2026-11-20T08:15:30.000Z", message: "read 17 rows" }],
    has_more: false,
    next: null,
    newer: "https://example.com/newer",
    position: null,
    total: 1
  }),
  of("RunStep", ProcessRuns.RunStep, {
    id: "s1",
    name: "read",
    items: { waiting: 3, in_progress: 1, done: 40, failed: 2 },
    started_at: "2026-11-20T08:15:30.000Z",
    ended_at: null,
    waits_for: null
  }),
  of("Change", Changes.Change, { topic: "runs", id: "r1", seq: 7 }),
  of(
    "a page",
    Page(Workers.Worker),
    {
      data: [
        {
          id: "wk1",
          name: "m",
          state: "busy",
          labels: [],
          draining: true,
          paused: null,
          last_seen_at: null,
          worker_groups: [],
          step_runs: []
        }
      ],
      has_more: true,
      next: "https://example.com"
    },
    null
  ),
  ...olderExamples
]
