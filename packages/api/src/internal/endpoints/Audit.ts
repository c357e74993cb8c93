/** The audit of a workspace: who changed what, from where. An extension. */
import * as Schema from "effect/Schema"
import { listQuery, OpenEnum, Page, Timestamp, TimestampInput } from "../../contract/Common.ts"
import { AuditEntryId, WorkspaceId } from "../../contract/Ids.ts"
import { InvalidRequestResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const auditActors = ["api_key", "user", "schedule", "trigger", "system", "command"] as const
export type AuditActorType = (typeof auditActors)[number]

/** What became of a field. A payload, a file, a secret and a long value are `{ bytes, digest }`, by a digest with a key of the room. */
export class AuditChange extends Struct<AuditChange>("AuditChange")({
  field: Schema.String,
  /** Null: it was not there, or is not known. */
  before: Schema.Json,
  /** Null: it is not there any more. */
  after: Schema.Json
}) {}

export class AuditEntry extends Struct<AuditEntry>("AuditEntry")({
  id: AuditEntryId,
  /** Its place in its chain; null until the second after its change. */
  number: Schema.NullOr(Schema.Int),
  /** The MAC that links it to the entry before, in hexadecimal; null until it has a number. */
  mac: Schema.NullOr(Schema.String),
  /** That of the entry before; null: it is the first, or has no number yet. */
  previous_mac: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  actor: Schema.Struct({
    type: OpenEnum(auditActors),
    /** Null: the service itself, or the command on its data folder. */
    id: Schema.NullOr(Schema.String),
    /** Of now; null: it was deleted, or has none. */
    name: Schema.NullOr(Schema.String),
    /** The session of the console; null: none. */
    session_id: Schema.NullOr(Schema.String)
  }),
  /** The address of the client; null: it is not known. */
  address: Schema.NullOr(Schema.String),
  request_id: Schema.NullOr(Schema.String),
  /** The operation, by its name in the OpenAPI document, or what the service did by itself. */
  action: Schema.String,
  resource: Schema.Struct({
    type: Schema.String,
    id: Schema.NullOr(Schema.String),
    /** At that time; null: it had none. */
    name: Schema.NullOr(Schema.String)
  }),
  changes: Schema.Array(AuditChange)
}) {}

/** The end of a chain. */
export class AuditHead extends Struct<AuditHead>("AuditHead")({
  /** 0: the chain has no entries yet. */
  number: Schema.Int,
  /** Null: the chain has no entries yet. */
  mac: Schema.NullOr(Schema.String)
}) {}

const path = "/workspaces/:workspace_id/audit"
const params = { workspace_id: WorkspaceId }

const Filter = Schema.String.check(Schema.isBetweenLength(1, 255))

/** Of the workspace, or of the room as a whole: its accounts, sign-ins, workspaces and restores, which needs `Room.manage`. */
export const auditChains = ["workspace", "room"] as const
export type AuditChainName = (typeof auditChains)[number]

/** Which entries. */
export const auditFilter = {
  /** Default: `workspace`. */
  chain: Schema.optional(Schema.Literals(auditChains)),
  actor_id: Schema.optional(Filter),
  action: Schema.optional(Filter),
  resource_type: Schema.optional(Filter),
  resource_id: Schema.optional(Filter),
  /** Not before this time. */
  from: Schema.optional(TimestampInput),
  /** Before this time. */
  until: Schema.optional(TimestampInput)
}

export const list = /* @__PURE__ */ Endpoint.get("listAuditEntries", path, () => ({
  extension: true,
  params,
  query: { ...listQuery, ...auditFilter },
  success: Page(AuditEntry),
  error: InvalidRequestResponse
}))

export const head = /* @__PURE__ */ Endpoint.get("getAuditHead", `${path}/head`, () => ({
  extension: true,
  params,
  success: AuditHead
}))
