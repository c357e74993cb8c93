/**
 * What requests change, by the group of their endpoint, for readers of the change stream. Hints of runs, and of what the service
 * does by itself, are sent where that happens.
 */
import type { Api } from "@signalbox/api/contract/Api"
import type { ChangeTopic } from "@signalbox/api/contract/Changes"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type { Hint } from "../store/room/Changes.ts"

/** Every group: a new one has to say what it changes. */
const topicsOf: { readonly [G in keyof typeof Api.groups]: ReadonlyArray<ChangeTopic> } = {
  workspaces: [],
  room: [],
  assets: ["assets"],
  assistants: ["assistants"],
  assistantRuns: ["assistants"],
  processes: ["processes"],
  pauses: ["processes", "workers"],
  processRuns: ["runs"],
  outputs: [],
  stepRuns: [],
  workItems: ["items"],
  failures: ["failures"],
  bulkOperations: ["bulk_operations"],
  taskPackages: ["packages"],
  secrets: ["secrets"],
  webhooks: ["webhooks"],
  schedules: ["schedules"],
  triggers: ["triggers"],
  workers: ["workers"],
  workerGroups: ["workers"],
  alerts: ["alerts"],
  alertChannels: ["alerts"],
  apiKeys: ["keys"],
  audit: [],
  users: ["users"],
  roles: ["users"],
  consoleTickets: [],
  changes: [],
  workerProtocol: [],
  robotProcess: [],
  robotData: [],
  robotSecrets: ["secrets"],
  legacy: ["items"]
}

/** The parameter of the path with the id that a hint of the topic carries; others carry none. */
const idOf: { readonly [T in ChangeTopic]?: string } = {
  alerts: "alert_id",
  assets: "asset_id",
  assistants: "assistant_id",
  bulk_operations: "bulk_operation_id",
  failures: "failure_id",
  packages: "task_package_id",
  processes: "process_id",
  runs: "process_run_id",
  schedules: "schedule_id",
  triggers: "trigger_id",
  webhooks: "webhook_id",
  workers: "worker_id"
}

type Params = Readonly<Record<string, string | undefined>>

/** The hints of a request that succeeded; null for an endpoint that changes nothing. */
export const of = (
  endpoint: HttpApiEndpoint.Top,
  group: keyof typeof topicsOf
): ((params: Params) => ReadonlyArray<Hint>) | null => {
  const topics = endpoint.method === "GET" || !endpoint.path.includes(":workspace_id") ? [] : topicsOf[group]
  if (topics.length === 0) return null
  // A run that starts is told with its id, where it does.
  if (group === "processRuns" && !endpoint.path.includes(":process_run_id")) return null
  return (params) => topics.map((topic) => ({ topic, id: params[idOf[topic] ?? ""] ?? null }))
}
