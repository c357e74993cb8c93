/** The screens: where they are, what they are called, and who may see them. Each is loaded when it is opened. */
import type { Screen } from "./kit/Screen.ts"

export const screens: ReadonlyArray<Screen> = [
  { path: "", title: "Overview", group: null, permission: null, load: () => import("./screens/Overview.tsx") },
  {
    path: "runs",
    title: "Runs",
    group: null,
    permission: "Processes.read_runs",
    load: () => import("./screens/Runs.tsx")
  },
  {
    path: "processes",
    title: "Processes",
    group: null,
    permission: "Processes.read_processes",
    load: () => import("./screens/Processes.tsx")
  },
  {
    path: "items",
    title: "Work items",
    group: null,
    permission: "Processes.read_work_items",
    load: () => import("./screens/Items.tsx")
  },
  {
    path: "failures",
    title: "Failures",
    group: null,
    permission: "Failures.read_failures",
    load: () => import("./screens/Failures.tsx")
  },
  {
    path: "schedules",
    title: "Schedules",
    group: null,
    permission: "Schedules.read_schedules",
    load: () => import("./screens/Schedules.tsx")
  },
  {
    path: "triggers",
    title: "Triggers",
    group: null,
    permission: "Triggers.read_triggers",
    load: () => import("./screens/Triggers.tsx")
  },
  {
    path: "flows",
    title: "Flows",
    group: null,
    permission: "Processes.read_work_items",
    exists: ({ flows }) => flows,
    load: () => import("./screens/Flows.tsx")
  },
  {
    path: "workers",
    title: "Workers",
    group: "Robots",
    permission: "Workers.read_workers",
    load: () => import("./screens/Workers.tsx")
  },
  {
    path: "packages",
    title: "Packages",
    group: "Robots",
    permission: "Tasks.read_task_packages",
    load: () => import("./screens/Packages.tsx")
  },
  {
    path: "assets",
    title: "Assets",
    group: "Robots",
    permission: "Assets.read_asset_storage_assets",
    load: () => import("./screens/Assets.tsx")
  },
  {
    path: "vault",
    title: "Vault",
    group: "Robots",
    permission: "Vault.read_secrets",
    load: () => import("./screens/Vault.tsx")
  },
  {
    path: "webhooks",
    title: "Webhooks",
    group: "Outside",
    permission: "Webhooks.read_webhooks",
    load: () => import("./screens/Webhooks.tsx")
  },
  {
    path: "alerts",
    title: "Alerts",
    group: "Outside",
    permission: "Alerts.read_alerts",
    load: () => import("./screens/Alerts.tsx")
  },
  {
    path: "keys",
    title: "Keys",
    group: "Outside",
    permission: "Workspace.manage_api_keys",
    load: () => import("./screens/Keys.tsx")
  },
  {
    path: "connect",
    title: "Connect",
    group: "Outside",
    permission: null,
    load: () => import("./screens/Connect.tsx")
  }
]
