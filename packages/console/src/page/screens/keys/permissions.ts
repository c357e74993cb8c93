/** What keys may do, in words, and the sets that are usual. */
import type { Permission } from "@signalbox/api/contract/Authorization"

/** What each allows, as the end of a sentence that begins with `It can`. */
export const words: Readonly<Record<Permission, string>> = {
  "Processes.read_processes": "see processes",
  "Processes.read_runs": "see runs, logs and artifacts",
  "Processes.read_work_items": "see work items with their data",
  "Processes.read_run_outputs": "see outputs of runs",
  "Processes.trigger_processes": "start and stop runs",
  "Processes.write_work_items": "make, edit and retry work items",
  "Processes.run_bulk_operations": "retry, settle or delete many items together",
  "Processes.pause_processes": "pause and resume processes",
  "Processes.write_processes": "make, change and delete processes",
  "Failures.read_failures": "see failures",
  "Failures.write_failures": "mute, resolve and assign failures",
  "Schedules.read_schedules": "see schedules",
  "Schedules.write_schedules": "make, change and delete schedules",
  "Triggers.read_triggers": "see triggers",
  "Triggers.write_triggers": "make, change and delete triggers",
  "Tasks.read_task_packages": "see and download task packages",
  "Tasks.write_task_packages": "upload, replace and delete task packages",
  "Workers.read_workers": "see workers",
  "Workers.pause_workers": "pause and resume workers",
  "Workers.write_workers": "link, drain and delete workers",
  "Assistants.read_assistants": "see assistants",
  "Assistants.run_assistants": "run assistants",
  "Assistants.write_assistants": "make, change and delete assistants",
  "Assets.read_asset_storage_assets": "read assets",
  "Assets.write_asset_storage_assets": "make, change and delete assets",
  "Vault.read_secrets": "see the names of secrets",
  "Vault.write_secrets": "make, change and delete secrets",
  "Vault.read_secret_values": "read the values of secrets",
  "Webhooks.read_webhooks": "see webhooks and deliveries",
  "Webhooks.write_webhooks": "make, change and delete webhooks",
  "Alerts.read_alerts": "see alerts",
  "Alerts.write_alerts": "make, change and mute alerts",
  "Room.manage": "resume the room after a restore",
  "Workspace.manage_api_keys": "make and revoke keys"
}

const areas: Readonly<Record<string, string>> = {
  Processes: "Processes, runs and work items",
  Failures: "Failures",
  Schedules: "Schedules",
  Triggers: "Triggers",
  Tasks: "Task packages",
  Workers: "Workers",
  Assistants: "Assistants",
  Assets: "Assets",
  Vault: "Vault",
  Webhooks: "Webhooks",
  Alerts: "Alerts",
  Workspace: "Keys",
  Room: "The room"
}

const isPermission = (name: string): name is Permission => name in words
export const permissions: ReadonlyArray<Permission> = Object.keys(words).filter(isPermission)

/** Every key that manages keys may give it, and no set has it: it is given by hand alone. */
const ofValues: Permission = "Vault.read_secret_values"

/** The permissions under the headings of the form. */
export const grouped: ReadonlyArray<readonly [area: string, permissions: ReadonlyArray<Permission>]> = Object.entries(
  areas
).map(([prefix, area]) => [area, permissions.filter((permission) => permission.startsWith(`${prefix}.`))])

const reads = permissions.filter((permission) => permission.includes(".read_") && permission !== ofValues)

export interface Preset {
  readonly value: "start" | "read" | "operator" | "all"
  readonly label: string
  readonly hint: string
  readonly permissions: ReadonlyArray<Permission>
}

export const presets: ReadonlyArray<Preset> = [
  {
    value: "start",
    label: "Starts runs",
    hint: "For a program that starts runs and reads what comes of them.",
    permissions: [
      "Processes.read_processes",
      "Processes.read_runs",
      "Processes.read_work_items",
      "Processes.read_run_outputs",
      "Processes.trigger_processes",
      "Processes.write_work_items"
    ]
  },
  {
    value: "read",
    label: "Read only",
    hint: "For people and programs that look, and change nothing. It sees the data of work items.",
    permissions: reads
  },
  {
    value: "operator",
    label: "Operator",
    hint: "For people who start runs, settle failures, and pause processes and workers.",
    permissions: [
      ...reads,
      "Processes.trigger_processes",
      "Processes.write_work_items",
      "Processes.run_bulk_operations",
      "Processes.pause_processes",
      "Workers.pause_workers",
      "Failures.write_failures"
    ]
  },
  {
    value: "all",
    label: "Everything",
    hint: "Also makes and revokes keys. It does not read the values of secrets.",
    permissions: permissions.filter((permission) => permission !== ofValues)
  }
]

/** Whether somebody who has `held` may give it to a key. */
export const mayGive = (permission: Permission, held: ReadonlyArray<string>): boolean =>
  permission === ofValues ? held.includes("Workspace.manage_api_keys") : held.includes(permission)

/** What of a set somebody who has `held` can give. */
export const within = (preset: Preset, held: ReadonlyArray<string>): ReadonlyArray<Permission> =>
  preset.permissions.filter((permission) => mayGive(permission, held))

/** The set that has exactly these. */
export const presetOf = (chosen: ReadonlyArray<string>): Preset | undefined =>
  presets.find(
    ({ permissions }) => permissions.length === chosen.length && permissions.every((one) => chosen.includes(one))
  )

/** Such as `see runs`; a permission of a newer room as it is. */
export const inWords = (permission: string): string => (isPermission(permission) ? words[permission] : permission)

/** What a key changes or starts, which stops when it is revoked; none: it only reads. */
export const actsOf = (chosen: ReadonlyArray<string>): ReadonlyArray<string> =>
  chosen.filter((permission) => !permission.includes(".read_")).map(inWords)
