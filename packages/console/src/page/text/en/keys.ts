/** Text of API keys. */
import type { Permission } from "@signalbox/api/contract/Authorization"
import { count } from "../../format.ts"
import { type Node, phrase } from "../phrase.ts"
import { several } from "./several.ts"

export const keys = {
  revokeTitle: (name: string) => `Revoke key ${name}?`,
  revoke: "Revoke key",
  revoked: (name: string) => `Key ${name} revoked.`,
  revokeHint: "Requests with this key will be refused immediately.",
  readsOnly: "The key has read permissions only.",
  allows: "Besides reading, the key allows to:",
  otherActs: (n: number) => `${count(n)} more`,
  revokeEffect:
    "A revoked key cannot be restored. Workers, schedules, triggers and active runs continue without the key.",
  new: "New key",
  subtitle: "Access for programs and people",
  none: "No API keys",
  noneHint: "Each program that calls the API needs its own key.",
  current: "your current key",
  permissions: "Permissions",
  ofKey: (name: string) => ` of ${name}`,
  keyTitle: (name: string) => `Key ${name}`,
  storeHint: (copy: Node, connect: Node) =>
    phrase`Store the key where the program can read it. ${copy} See ${connect} for how to use the key.`,
  copyKey: "Copy this key now; it is not shown again.",
  create: "Create key",
  nameHint: "Program or person that uses the key; with a separate key for each, every key can be revoked alone",
  exactly: "Exactly the selected permissions",
  lacks: (n: number) => ` Your own key lacks ${several(n, "permission")} of this set, which the new key does not get.`,
  custom: "Custom",
  revokeMore: "Revoke…",
  permissionCount: (n: number) => several(n, "permission"),
  owner: "Owner",
  ofWorkspace: "workspace",
  lastUsed: "Last used",
  ownKey: "You are signed in with this key.",
  ownKeyHint: "You will be signed out, and need another key to sign in.",
  presets: {
    start: { label: "Start runs", hint: "For programs that start runs and read their results." },
    read: {
      label: "Read-only",
      hint: "For people and programs that change nothing. Includes the data of work items."
    },
    operator: {
      label: "Operator",
      hint: "For people who start runs, handle failures, and pause processes and workers."
    },
    all: { label: "Full access", hint: "Includes creating and revoking keys, but not reading the values of secrets." }
  },
  areas: {
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
    Audit: "Audit",
    Workspace: "API keys and people",
    Room: "Control room"
  },
  /** What each permission allows, as the end of a sentence. */
  acts: {
    "Processes.read_processes": "view processes",
    "Processes.read_runs": "view runs, logs and artifacts",
    "Processes.read_work_items": "view work items with their data",
    "Processes.read_sensitive": "view secret fields and files of processes with them",
    "Processes.read_run_outputs": "view outputs of runs",
    "Processes.trigger_processes": "start and stop runs",
    "Processes.write_work_items": "create, edit and retry work items",
    "Processes.run_bulk_operations": "retry, complete or delete many items together",
    "Processes.pause_processes": "pause and resume processes",
    "Processes.write_processes": "create, edit and delete processes",
    "Failures.read_failures": "view failures",
    "Failures.write_failures": "mute, resolve and assign failures",
    "Schedules.read_schedules": "view schedules",
    "Schedules.write_schedules": "create, edit and delete schedules",
    "Triggers.read_triggers": "view triggers",
    "Triggers.write_triggers": "create, edit and delete triggers",
    "Tasks.read_task_packages": "view and download task packages",
    "Tasks.write_task_packages": "upload, replace and delete task packages",
    "Workers.read_workers": "view workers",
    "Workers.pause_workers": "pause and resume workers",
    "Workers.write_workers": "link, drain and delete workers",
    "Assistants.read_assistants": "view assistants",
    "Assistants.run_assistants": "run assistants",
    "Assistants.write_assistants": "create, edit and delete assistants",
    "Assets.read_asset_storage_assets": "read assets",
    "Assets.write_asset_storage_assets": "create, edit and delete assets",
    "Vault.read_secrets": "view the names of secrets",
    "Vault.write_secrets": "create, edit and delete secrets",
    "Vault.read_secret_values": "read the values of secrets",
    "Webhooks.read_webhooks": "view webhooks and deliveries",
    "Webhooks.write_webhooks": "create, edit and delete webhooks",
    "Audit.read_audit": "view who changed what",
    "Alerts.read_alerts": "view alerts",
    "Alerts.write_alerts": "create, edit and mute alerts",
    "Room.manage": "resume the room after a restore",
    "Workspace.manage_api_keys": "create and revoke keys",
    "Workspace.read_users": "view people and roles",
    "Workspace.manage_users": "invite, change and remove people and roles"
  } satisfies Readonly<Record<Permission, string>>
}
