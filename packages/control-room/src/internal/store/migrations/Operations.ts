/**
 * The permissions of operations, for keys from before that manage keys: these could give themselves every other one. All
 * other keys get them by a new key.
 */
const permissions = [
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
  "Alerts.write_alerts"
]

const list = permissions.map((permission) => `"${permission}"`).join(",")

export const statements: ReadonlyArray<string> = [
  // The column is a JSON array, and not an empty one where it names a permission.
  `UPDATE api_key SET permissions = substr(permissions, 1, length(permissions) - 1) || ',${list}]'
    WHERE permissions LIKE '%"Workspace.manage_api_keys"%'`
]
