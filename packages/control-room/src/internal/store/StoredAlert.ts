/** Rows of alerts, their firings and messages, and parsing them. */
import type {
  Alert,
  AlertDefinition,
  AlertFiring,
  AlertMessage,
  AlertMessageKind,
  AlertRule,
  FiringState
} from "@signalbox/api/contract/Alerts"
import { defaultGatherSeconds } from "@signalbox/api/contract/Alerts"
import { AlertChannelId, AlertFiringId, AlertId, AlertMessageId, WorkspaceId } from "@signalbox/api/contract/Ids"

export interface AlertRow {
  readonly workspace_id: string
  readonly id: string
  readonly name: string
  readonly enabled: number
  readonly rule: string
  readonly repeat_seconds: number | null
  readonly gather_seconds: number
  readonly quiet: string | null
  readonly muted: string | null
  readonly created_at: string
  readonly since: string
  readonly check_at: string | null
}

/** An alert as it is carried out. */
export interface StoredAlert {
  readonly workspaceId: WorkspaceId
  readonly id: AlertId
  readonly name: string
  readonly rule: AlertRule
  readonly enabled: boolean
  readonly repeatSeconds: number | null
  readonly gatherSeconds: number
  readonly quiet: Alert["quiet"]
  readonly muted: Alert["muted"]
  readonly createdAt: string
  readonly since: string
  readonly checkAt: string | null
}

export const parseAlert = (row: AlertRow): StoredAlert => ({
  workspaceId: WorkspaceId.make(row.workspace_id),
  id: AlertId.make(row.id),
  name: row.name,
  rule: JSON.parse(row.rule),
  enabled: row.enabled === 1,
  repeatSeconds: row.repeat_seconds,
  gatherSeconds: row.gather_seconds,
  quiet: row.quiet === null ? null : JSON.parse(row.quiet),
  muted: row.muted === null ? null : JSON.parse(row.muted),
  createdAt: row.created_at,
  since: row.since,
  checkAt: row.check_at
})

/** What is written of a definition. */
export const writtenOf = ({ enabled = true, gather_seconds, name, quiet, repeat_seconds, rule }: AlertDefinition) => ({
  name,
  enabled: enabled ? 1 : 0,
  rule: JSON.stringify(rule),
  repeat_seconds: repeat_seconds ?? null,
  gather_seconds: gather_seconds ?? defaultGatherSeconds,
  quiet: quiet === undefined ? null : JSON.stringify(quiet)
})

export interface FiringRow {
  readonly workspace_id: string
  readonly id: string
  readonly alert_id: string
  readonly state: FiringState
  readonly subject: string
  readonly message: string
  readonly began_at: string
  readonly ended_at: string | null
  readonly last_told_at: string | null
  readonly last_error: string | null
}

export const parseFiring = (row: FiringRow & { readonly alert_name: string }): AlertFiring => ({
  id: AlertFiringId.make(row.id),
  alert: { id: AlertId.make(row.alert_id), name: row.alert_name },
  state: row.state,
  subject: row.subject,
  message: row.message,
  began_at: row.began_at,
  ended_at: row.ended_at,
  last_told_at: row.last_told_at,
  last_error: row.last_error
})

export interface MessageRow {
  readonly workspace_id: string
  readonly id: string
  readonly alert_id: string
  readonly firing_id: string | null
  readonly channel_id: string
  readonly kind: AlertMessageKind
  readonly title: string
  readonly text: string
  /** JSON: the body for webhooks. */
  readonly event: string
  readonly state: "pending" | "delivered" | "failed"
  readonly created_at: string
  readonly attempts: number
  readonly last_attempt_at: string | null
  readonly next_attempt_at: string | null
  readonly error: string | null
  /** JSON (`Receivers`). */
  readonly receivers: string | null
}

export const parseMessage = (row: MessageRow & { readonly channel_name: string }): AlertMessage => ({
  id: AlertMessageId.make(row.id),
  firing: row.firing_id === null ? null : { id: AlertFiringId.make(row.firing_id) },
  channel: { id: AlertChannelId.make(row.channel_id), name: row.channel_name },
  kind: row.kind,
  text: row.text,
  state: row.state,
  created_at: row.created_at,
  attempts: row.attempts,
  last_attempt_at: row.last_attempt_at,
  next_attempt_at: row.next_attempt_at,
  error: row.error
})
