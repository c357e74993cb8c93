/** Rows of triggers, and how they are shown. */
import { ProcessId, TriggerId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { TriggerEventId, TriggerHandshake, TriggerListed, TriggerPayload } from "@signalbox/api/contract/Triggers"
import { flag, id, integer, json, nullable, Table, text } from "@signalbox/sql/Table"

/** When runs start. */
export interface Starts {
  readonly atLeast: number | null
  readonly oldestSeconds: number | null
  readonly maxRuns: number
}

export type Signature =
  | { readonly type: "standard_webhooks" | "slack" }
  | { readonly type: "hmac"; readonly header: string; readonly prefix: string }

/** The settings of an address, without what is secret. */
export interface Hook {
  readonly signature: Signature | null
  readonly handshake: TriggerHandshake | null
  readonly payload: TriggerPayload
  readonly eventId: TriggerEventId | null
  readonly maxWaiting: number
}

export const triggerTable = Table("trigger", {
  workspace_id: id(WorkspaceId),
  id: id(TriggerId),
  process_id: id(ProcessId),
  name: text,
  created_at: text,
  enabled: flag,
  starts: nullable(json<Starts>()),
  webhook: nullable(json<Hook>()),
  token_hash: nullable(text),
  secret: nullable(text),
  problem: nullable(text),
  problem_since: nullable(text),
  refused_count: integer,
  refused_at: nullable(text),
  refused_because: nullable(text)
})
export const triggerRow = triggerTable.and({ process_name: text })

export const eventTable = Table("trigger_event", {
  workspace_id: id(WorkspaceId),
  trigger_id: id(TriggerId),
  event_id: text,
  work_item_id: id(WorkItemId),
  received_at: text
})

/** What is written of a trigger. */
export interface NewTrigger {
  readonly processId: ProcessId
  readonly name: string
  readonly enabled: boolean
  readonly starts: Starts | null
  readonly webhook: Hook | null
  readonly tokenHash: string | null
  /** Sealed: of the sender's signatures. */
  readonly secret: string | null
}

export interface StoredTrigger extends NewTrigger {
  readonly id: TriggerId
  readonly workspaceId: WorkspaceId
  readonly problem: string | null
  readonly view: TriggerListed
}

const signatureView = (signature: Signature | null) =>
  signature === null
    ? null
    : signature.type === "hmac"
      ? { ...signature, prefix: signature.prefix === "" ? null : signature.prefix }
      : { type: signature.type, header: null, prefix: null }

const hookView = ({ eventId, handshake, maxWaiting, payload, signature }: Hook): TriggerListed["webhook"] => ({
  signature: signatureView(signature),
  handshake,
  payload: payload === "" ? null : payload,
  event_id:
    eventId === null
      ? null
      : {
          header: "header" in eventId ? eventId.header : null,
          pointer: "pointer" in eventId ? eventId.pointer : null
        },
  max_waiting: maxWaiting
})

export const parseTrigger = (row: typeof triggerRow.Type): StoredTrigger => {
  const { id, process_id: processId, starts, webhook } = row
  return {
    id,
    workspaceId: row.workspace_id,
    processId,
    name: row.name,
    enabled: row.enabled,
    starts,
    webhook,
    tokenHash: row.token_hash,
    secret: row.secret,
    problem: row.problem,
    view: {
      id,
      name: row.name,
      process: { id: processId, name: row.process_name },
      created_at: row.created_at,
      enabled: row.enabled,
      start:
        starts === null
          ? null
          : { at_least: starts.atLeast, oldest_seconds: starts.oldestSeconds, max_runs: starts.maxRuns },
      webhook: webhook === null ? null : hookView(webhook),
      problem:
        row.problem === null || row.problem_since === null ? null : { since: row.problem_since, message: row.problem },
      refused_requests:
        row.refused_count === 0 || row.refused_at === null || row.refused_because === null
          ? null
          : { count: row.refused_count, last_at: row.refused_at, message: row.refused_because }
    }
  }
}
