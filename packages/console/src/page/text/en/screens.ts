/** Names of the screens, and headings of the lists that they show. */
export const screens = {
  overview: "Overview",
  runs: "Runs",
  processes: "Processes",
  items: "Work items",
  failures: "Failures",
  schedules: "Schedules",
  triggers: "Triggers",
  flows: "Flows",
  workers: "Workers",
  packages: "Packages",
  taskPackages: "Task packages",
  assets: "Assets",
  vault: "Vault",
  webhooks: "Webhooks",
  alerts: "Alerts",
  people: "People",
  account: "Your account",
  keys: "API keys",
  audit: "Audit",
  connect: "Connect"
}
