/** The permissions of keys. */
import * as Schema from "effect/Schema"

/** Every permission of a key: the 18 of the service, then those of the extensions. */
export const Permission = /* @__PURE__ */ Schema.Literals([
  "Assets.read_asset_storage_assets",
  "Assets.write_asset_storage_assets",
  "Assistants.read_assistants",
  "Assistants.write_assistants",
  "Processes.read_processes",
  "Processes.read_runs",
  "Processes.read_work_items",
  "Processes.write_work_items",
  "Processes.read_run_outputs",
  "Processes.trigger_processes",
  "Tasks.read_task_packages",
  "Tasks.write_task_packages",
  "Vault.read_secrets",
  "Vault.write_secrets",
  "Webhooks.read_webhooks",
  "Webhooks.write_webhooks",
  "Workers.read_workers",
  "Workers.write_workers",
  "Processes.write_processes",
  "Assistants.run_assistants",
  "Workspace.manage_api_keys",
  "Vault.read_secret_values",
  "Schedules.read_schedules",
  "Schedules.write_schedules",
  "Triggers.read_triggers",
  "Triggers.write_triggers",
  "Processes.pause_processes",
  "Workers.pause_workers",
  "Failures.read_failures",
  "Failures.write_failures",
  "Processes.run_bulk_operations",
  "Alerts.read_alerts",
  "Alerts.write_alerts",
  "Audit.read_audit",
  "Room.manage",
  "Workspace.read_users",
  "Workspace.manage_users",
  "Processes.read_sensitive"
])
export type Permission = typeof Permission.Type

/** The permissions of the first key of a workspace: all but reading the values of secrets, and acts of who operates the room. */
export const firstKeyPermissions: ReadonlyArray<Permission> = /* @__PURE__ */ Permission.literals.filter(
  (permission) => permission !== "Vault.read_secret_values" && permission !== "Room.manage"
)

/**
 * The permissions of the token of a run of a step or of an assistant on `/api/v1` and `/secrets-v1`, whose endpoints
 * also accept it as a bearer token: robots read and write assets and secrets. It reaches the work items of its own run
 * through the robot side only.
 */
export const runPermissions: ReadonlyArray<Permission> = [
  "Assets.read_asset_storage_assets",
  "Assets.write_asset_storage_assets",
  "Vault.read_secret_values",
  "Vault.write_secrets"
]

const reading: ReadonlyArray<Permission> = [
  "Assets.read_asset_storage_assets",
  "Assistants.read_assistants",
  "Processes.read_processes",
  "Processes.read_runs",
  "Processes.read_work_items",
  "Processes.read_run_outputs",
  "Tasks.read_task_packages",
  "Vault.read_secrets",
  "Webhooks.read_webhooks",
  "Workers.read_workers",
  "Schedules.read_schedules",
  "Triggers.read_triggers",
  "Failures.read_failures",
  "Alerts.read_alerts",
  "Workspace.read_users"
]
const operating: ReadonlyArray<Permission> = [
  ...reading,
  "Processes.write_work_items",
  "Processes.trigger_processes",
  "Processes.pause_processes",
  "Processes.run_bulk_operations",
  "Assistants.run_assistants",
  "Workers.pause_workers",
  "Failures.write_failures"
]
const building: ReadonlyArray<Permission> = [
  ...operating,
  "Processes.write_processes",
  "Tasks.write_task_packages",
  "Assets.write_asset_storage_assets",
  "Assistants.write_assistants",
  "Vault.write_secrets",
  "Webhooks.write_webhooks",
  "Workers.write_workers",
  "Schedules.write_schedules",
  "Triggers.write_triggers",
  "Alerts.write_alerts"
]

/**
 * The permissions of the roles that every workspace has. `viewer` sees everything but values of secrets and secret fields of payloads, `operator` also keeps work going,
 * `builder` also changes processes and what belongs to them, and `admin` also manages keys, users and roles.
 */
export const builtInRoles: Readonly<Record<"viewer" | "operator" | "builder" | "admin", ReadonlyArray<Permission>>> =
  /* @__PURE__ */ Object.freeze({
    viewer: reading,
    operator: operating,
    builder: building,
    admin: firstKeyPermissions
  })
