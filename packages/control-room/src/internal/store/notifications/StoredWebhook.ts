/** Rows of webhooks, and parsing them. */
import { ProcessId, ProcessRunId, WebhookId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WebhookEventType, WebhookListed } from "@signalbox/api/contract/Webhooks"
import { flag, id, json, nullable, Table, text } from "@signalbox/sql/Table"

export const webhookTable = Table("webhook", {
  id: id(WebhookId),
  workspace_id: id(WorkspaceId),
  process_id: nullable(id(ProcessId)),
  process_run_id: nullable(id(ProcessRunId)),
  endpoint: text,
  events: json<ReadonlyArray<WebhookEventType>>(),
  enabled: flag,
  secret: text,
  previous_secret: nullable(text),
  previous_until: nullable(text),
  created_at: text
})
export type WebhookRow = typeof webhookTable.Type

/** A webhook as stored. */
export interface StoredWebhook {
  readonly view: WebhookListed
  readonly workspaceId: WorkspaceId
  readonly sealed: SealedSecrets
}

/** The secrets of a webhook as stored. */
export interface SealedSecrets {
  readonly webhook: WebhookId
  readonly secret: string
  readonly previous: string | null
  readonly previousUntil: string | null
}

export interface NewWebhook {
  readonly endpoint: string
  readonly events: ReadonlyArray<WebhookEventType>
  readonly process: ProcessId | null
}

export interface WebhookChange extends Partial<NewWebhook> {
  readonly enabled?: boolean | undefined
  readonly rotateSecret?: boolean | undefined
}

export interface NewCallback extends Omit<NewWebhook, "process"> {
  readonly processRun: ProcessRunId
  /** Sealed with `sealCallback`. */
  readonly secret: string
  readonly id: WebhookId
}

/** A webhook that receives an event. */
export interface Listener {
  readonly id: WebhookId
  readonly endpoint: string
}

export const parseWebhook = (row: WebhookRow): StoredWebhook => ({
  view: {
    id: row.id,
    process: row.process_id === null ? null : { id: row.process_id },
    enabled_events: row.events,
    endpoint: row.endpoint,
    enabled: row.enabled
  },
  workspaceId: row.workspace_id,
  sealed: {
    webhook: row.id,
    secret: row.secret,
    previous: row.previous_secret,
    previousUntil: row.previous_until
  }
})
