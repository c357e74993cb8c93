/** Hints that something changed, as a stream. An extension: the hosted service has to be polled. */
import * as Schema from "effect/Schema"
import { type Permission } from "./Permissions.ts"
import { OpenEnum } from "../../contract/Common.ts"
import { Struct } from "./Endpoint.ts"

/** What hints are about, and the permission that a caller needs to get those of a topic. */
export const changeTopics = {
  alerts: "Alerts.read_alerts",
  assets: "Assets.read_asset_storage_assets",
  assistants: "Assistants.read_assistants",
  bulk_operations: "Processes.run_bulk_operations",
  failures: "Failures.read_failures",
  flows: "Processes.read_work_items",
  items: "Processes.read_work_items",
  keys: "Workspace.manage_api_keys",
  logs: "Processes.read_run_outputs",
  packages: "Tasks.read_task_packages",
  processes: "Processes.read_processes",
  runs: "Processes.read_runs",
  schedules: "Schedules.read_schedules",
  secrets: "Vault.read_secrets",
  step_runs: "Processes.read_runs",
  triggers: "Triggers.read_triggers",
  users: "Workspace.read_users",
  webhooks: "Webhooks.read_webhooks",
  workers: "Workers.read_workers"
} as const satisfies Readonly<Record<string, Permission>>
export type ChangeTopic = keyof typeof changeTopics

// `Object.keys` loses the keys, which are those of the table.
const topics = Object.keys(changeTopics) as ReadonlyArray<ChangeTopic>

/**
 * A hint. Its topic is `reset` at the start of a stream, and when hints were left out: everything may have changed.
 * `seq` grows by one with each hint.
 */
export class Change extends Struct<Change>("Change")({
  topic: OpenEnum(["reset", ...topics]),
  /**
   * Of `runs`, `step_runs` and `items` that of the run, of `logs` that of the step run, of `flows` that of the
   * execution, of others that of the resource; null: of several, or of none.
   */
  id: Schema.NullOr(Schema.String),
  seq: Schema.Int
}) {}

/** An event of this name comes every 10 seconds, so that a client notices a connection that is dead. */
export const pingEvent = "ping"
