/** What a request leaves in the audit, as an annotation of its endpoint. */
import * as Context from "effect/Context"

/**
 * What an entry is about: the parameter of the path that identifies it (else the `id` of the response does), and the endpoint of the
 * same group that returns it, whose results before and after the request are compared; null where there is none.
 */
export const auditedResources = {
  workspace: { id: null, read: null },
  room: { id: null, read: null },
  audit: { id: null, read: null },
  api_key: { id: "api_key_id", read: null },
  user: { id: "user_id", read: "getUser" },
  role: { id: "role_name", read: null },
  console_ticket: { id: null, read: null },
  process: { id: "process_id", read: "getProcessDefinition" },
  process_step: { id: "step_id", read: null },
  process_run: { id: "process_run_id", read: "getProcessRun" },
  work_item: { id: "work_item_id", read: null },
  failure: { id: "failure_id", read: "getFailure" },
  bulk_operation: { id: "bulk_operation_id", read: "getBulkOperation" },
  task_package: { id: "task_package_id", read: "getTaskPackage" },
  asset: { id: "asset_id", read: "getAsset" },
  assistant: { id: "assistant_id", read: "getAssistant" },
  assistant_run: { id: "assistant_run_id", read: "getAssistantRun" },
  flow_execution: { id: null, read: null },
  flow_schedule: { id: null, read: null },
  secret: { id: "secret_name", read: "getSecret" },
  worker: { id: "worker_id", read: "getWorker" },
  worker_group: { id: "worker_group_id", read: "getWorkerGroup" },
  link_token: { id: "token_id", read: "getGroupLinkToken" },
  webhook: { id: "webhook_id", read: "getWebhook" },
  schedule: { id: "schedule_id", read: "getSchedule" },
  trigger: { id: "trigger_id", read: "getTrigger" },
  alert: { id: "alert_id", read: "getAlert" },
  alert_channel: { id: "channel_id", read: "getAlertChannel" }
} as const satisfies Readonly<Record<string, { readonly id: string | null; readonly read: string | null }>>
export type AuditedResource = keyof typeof auditedResources

/** What belongs to the room as a whole: a change of it is an entry of the workspace in which it was asked for, and of the room. */
export const resourcesOfRoom: ReadonlySet<AuditedResource> = new Set(["room", "user", "workspace"])

export type AuditRule =
  /** An entry for everybody. `item`: for people alone; programs create too many work items, which say themselves by whom. */
  | {
      readonly kind: "entry" | "item"
      readonly resource: AuditedResource
      /** What is returned is no part of the entry. */
      readonly isOfRequest?: true
    }
  | { readonly kind: "none"; readonly reason: string }

/** A request of a person or a key leaves an entry. */
export const entry = (resource: AuditedResource) => ({ kind: "entry", resource }) as const satisfies AuditRule

/** A request of a person leaves an entry, and one of a key does not: work items and their content. */
export const itemEntry: AuditRule = { kind: "item", resource: "work_item" }

/** A request leaves no entry, for this reason. */
export const noEntry = (reason: string): AuditRule => ({ kind: "none", reason })

/** What workers and robots do is in the events of their runs. */
export const inEvents: AuditRule = noEntry("what workers and robots do is in the events of the run")

/** Annotates each endpoint that changes something; null: it is read-only. */
export const Audited = Context.Reference<AuditRule | null>("@signalbox/api/contract/Audited", {
  defaultValue: () => null
})
