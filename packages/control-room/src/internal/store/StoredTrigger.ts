/** Rows of triggers, and how they are shown. */
import { ProcessId, TriggerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { TriggerEventId, TriggerHandshake, TriggerListed, TriggerPayload } from "@signalbox/api/contract/Triggers"

export interface TriggerRow {
  readonly workspace_id: string
  readonly id: string
  readonly process_id: string
  readonly process_name: string
  readonly name: string
  readonly created_at: string
  readonly enabled: number
  readonly starts: string | null
  readonly webhook: string | null
  readonly token_hash: string | null
  readonly secret: string | null
  readonly problem: string | null
  readonly problem_since: string | null
  readonly refused_count: number
  readonly refused_at: string | null
  readonly refused_because: string | null
}

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

export const parseTrigger = (row: TriggerRow): StoredTrigger => {
  const starts: Starts | null = row.starts === null ? null : JSON.parse(row.starts)
  const webhook: Hook | null = row.webhook === null ? null : JSON.parse(row.webhook)
  const id = TriggerId.make(row.id)
  const processId = ProcessId.make(row.process_id)
  return {
    id,
    workspaceId: WorkspaceId.make(row.workspace_id),
    processId,
    name: row.name,
    enabled: row.enabled === 1,
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
      enabled: row.enabled === 1,
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
