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
import { flag, id, integer, json, nullable, Table, text, word } from "@signalbox/sql/Table"

export const alertTable = Table("alert", {
  workspace_id: id(WorkspaceId),
  id: id(AlertId),
  name: text,
  enabled: flag,
  rule: json<AlertRule>(),
  repeat_seconds: nullable(integer),
  gather_seconds: integer,
  quiet: nullable(json<NonNullable<Alert["quiet"]>>()),
  muted: nullable(json<NonNullable<Alert["muted"]>>()),
  created_at: text,
  since: text,
  check_at: nullable(text)
})
export type AlertRow = typeof alertTable.Type

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
  workspaceId: row.workspace_id,
  id: row.id,
  name: row.name,
  rule: row.rule,
  enabled: row.enabled,
  repeatSeconds: row.repeat_seconds,
  gatherSeconds: row.gather_seconds,
  quiet: row.quiet,
  muted: row.muted,
  createdAt: row.created_at,
  since: row.since,
  checkAt: row.check_at
})

/** What is written of a definition. */
export const writtenOf = ({ enabled = true, gather_seconds, name, quiet, repeat_seconds, rule }: AlertDefinition) => ({
  name,
  enabled,
  rule,
  repeat_seconds: repeat_seconds ?? null,
  gather_seconds: gather_seconds ?? defaultGatherSeconds,
  quiet: quiet ?? null
})

export const firingTable = Table("alert_firing", {
  workspace_id: id(WorkspaceId),
  id: id(AlertFiringId),
  alert_id: id(AlertId),
  state: word<FiringState>(),
  subject: text,
  message: text,
  began_at: text,
  ended_at: nullable(text),
  last_told_at: nullable(text),
  last_error: nullable(text)
})
export type FiringRow = typeof firingTable.Type

export const parseFiring = (row: FiringRow & { readonly alert_name: string }): AlertFiring => ({
  id: row.id,
  alert: { id: row.alert_id, name: row.alert_name },
  state: row.state,
  subject: row.subject,
  message: row.message,
  began_at: row.began_at,
  ended_at: row.ended_at,
  last_told_at: row.last_told_at,
  last_error: row.last_error
})

/** Of a message that went to many: who is still to get it, and who refused it for good. */
export interface Receivers {
  readonly left: ReadonlyArray<string>
  readonly refused: ReadonlyArray<{ readonly address: string; readonly status: number }>
}

export const messageTable = Table("alert_message", {
  workspace_id: id(WorkspaceId),
  id: id(AlertMessageId),
  alert_id: id(AlertId),
  firing_id: nullable(id(AlertFiringId)),
  channel_id: id(AlertChannelId),
  kind: word<AlertMessageKind>(),
  title: text,
  text: text,
  /** JSON: the body for webhooks. */
  event: text,
  state: word<"pending" | "delivered" | "failed">(),
  created_at: text,
  attempts: integer,
  last_attempt_at: nullable(text),
  next_attempt_at: nullable(text),
  error: nullable(text),
  claim: nullable(text),
  receivers: nullable(json<Receivers>())
})
export type MessageRow = typeof messageTable.Type

export const parseMessage = (row: MessageRow & { readonly channel_name: string }): AlertMessage => ({
  id: row.id,
  firing: row.firing_id === null ? null : { id: row.firing_id },
  channel: { id: row.channel_id, name: row.channel_name },
  kind: row.kind,
  text: row.text,
  state: row.state,
  created_at: row.created_at,
  attempts: row.attempts,
  last_attempt_at: row.last_attempt_at,
  next_attempt_at: row.next_attempt_at,
  error: row.error
})
