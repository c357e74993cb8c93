/** Rows of webhooks, and parsing them. */
import { ProcessId, type ProcessRunId, WebhookId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WebhookEventType, WebhookListed } from "@signalbox/api/contract/Webhooks"

/** A row of `webhook`. */
export interface WebhookRow {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string | null
  readonly process_run_id: string | null
  readonly endpoint: string
  readonly events: string
  readonly enabled: number
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_until: string | null
}

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
  readonly enabled?: boolean
  readonly rotateSecret?: boolean
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
    id: WebhookId.make(row.id),
    process: row.process_id === null ? null : { id: ProcessId.make(row.process_id) },
    enabled_events: JSON.parse(row.events),
    endpoint: row.endpoint,
    enabled: row.enabled === 1
  },
  workspaceId: WorkspaceId.make(row.workspace_id),
  sealed: {
    webhook: WebhookId.make(row.id),
    secret: row.secret,
    previous: row.previous_secret,
    previousUntil: row.previous_until
  }
})
