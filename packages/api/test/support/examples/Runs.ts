/** Processes, their runs, and the items of these. */
import * as BulkOperations from "../../../src/contract/BulkOperations.ts"
import * as Failures from "../../../src/contract/Failures.ts"
import * as Outputs from "../../../src/contract/Outputs.ts"
import * as Pauses from "../../../src/contract/Pauses.ts"
import * as ProcessRuns from "../../../src/contract/ProcessRuns.ts"
import * as Processes from "../../../src/contract/Processes.ts"
import * as StepRuns from "../../../src/contract/StepRuns.ts"
import * as WorkItems from "../../../src/contract/WorkItems.ts"
import { at, type Example, later, of, paused } from "./Example.ts"

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

export const runExamples: ReadonlyArray<Example> = [
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
    masked: [],
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
  of("WorkItem", WorkItems.WorkItem, {
    ...workItem,
    payload: ["any", { json: null }],
    masked: ["/1/json"],
    files: [file]
  }),
  of("RevealedSecrets", WorkItems.Secrets, { values: { "/1/json": { any: "json" } } }),
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
  of("LimitWait", Processes.LimitWait, {
    kind: "concurrency",
    step: { id: "s1", name: "read" },
    key: "/customer",
    value: "70-1",
    limit: 2,
    in_hand: 2,
    waiting: 3,
    since: "2026-11-20T08:15:30.000Z",
    room_at: null,
    held_by: [{ work_item_id: "i1", process_run_id: "r1", since: "2026-11-20T08:15:30.000Z" }]
  })
]
