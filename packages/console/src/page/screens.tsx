/** The screens: where they are, what they are called, and who may see them. Each is loaded when it is opened. */
import type { Screen } from "./kit/Screen.ts"
import * as text from "./text/text.ts"

export const screens: ReadonlyArray<Screen> = [
  {
    path: "",
    title: text.screens.overview,
    group: null,
    permission: null,
    load: () => import("./screens/Overview.tsx")
  },
  {
    path: "runs",
    title: text.screens.runs,
    group: null,
    permission: "Processes.read_runs",
    load: () => import("./screens/Runs.tsx")
  },
  {
    path: "processes",
    title: text.screens.processes,
    group: null,
    permission: "Processes.read_processes",
    load: () => import("./screens/Processes.tsx")
  },
  {
    path: "items",
    title: text.screens.items,
    group: null,
    permission: "Processes.read_work_items",
    load: () => import("./screens/Items.tsx")
  },
  {
    path: "failures",
    title: text.screens.failures,
    group: null,
    permission: "Failures.read_failures",
    load: () => import("./screens/Failures.tsx")
  },
  {
    path: "schedules",
    title: text.screens.schedules,
    group: null,
    permission: "Schedules.read_schedules",
    load: () => import("./screens/Schedules.tsx")
  },
  {
    path: "triggers",
    title: text.screens.triggers,
    group: null,
    permission: "Triggers.read_triggers",
    load: () => import("./screens/Triggers.tsx")
  },
  {
    path: "flows",
    title: text.screens.flows,
    group: null,
    permission: "Processes.read_work_items",
    exists: ({ flows }) => flows,
    load: () => import("./screens/Flows.tsx")
  },
  {
    path: "workers",
    title: text.screens.workers,
    group: "robots",
    permission: "Workers.read_workers",
    load: () => import("./screens/Workers.tsx")
  },
  {
    path: "packages",
    title: text.screens.packages,
    group: "robots",
    permission: "Tasks.read_task_packages",
    load: () => import("./screens/Packages.tsx")
  },
  {
    path: "assets",
    title: text.screens.assets,
    group: "robots",
    permission: "Assets.read_asset_storage_assets",
    load: () => import("./screens/Assets.tsx")
  },
  {
    path: "vault",
    title: text.screens.vault,
    group: "robots",
    permission: "Vault.read_secrets",
    load: () => import("./screens/Vault.tsx")
  },
  {
    path: "webhooks",
    title: text.screens.webhooks,
    group: "integrations",
    permission: "Webhooks.read_webhooks",
    load: () => import("./screens/Webhooks.tsx")
  },
  {
    path: "alerts",
    title: text.screens.alerts,
    group: "integrations",
    permission: "Alerts.read_alerts",
    load: () => import("./screens/Alerts.tsx")
  },
  {
    path: "people",
    title: text.screens.people,
    group: "integrations",
    permission: "Workspace.read_users",
    load: () => import("./screens/People.tsx")
  },
  {
    path: "account",
    title: text.screens.account,
    group: null,
    permission: null,
    exists: ({ user }) => user !== null,
    isHidden: true,
    load: () => import("./screens/Account.tsx")
  },
  {
    path: "keys",
    title: text.screens.keys,
    group: "integrations",
    permission: "Workspace.manage_api_keys",
    load: () => import("./screens/Keys.tsx")
  },
  {
    path: "audit",
    title: text.screens.audit,
    group: "integrations",
    permission: "Audit.read_audit",
    load: () => import("./screens/Audit.tsx")
  },
  {
    path: "connect",
    title: text.screens.connect,
    group: "integrations",
    permission: null,
    load: () => import("./screens/Connect.tsx")
  }
]
