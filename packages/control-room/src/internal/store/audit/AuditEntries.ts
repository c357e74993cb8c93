/** Entries of the audit: written in the transaction of what they are about, and listed. `AuditChain` links them. */
import type { AuditActorType, AuditChange, AuditEntry } from "@signalbox/api/contract/Audit"
import type { AuditedResource } from "@signalbox/api/contract/Auditing"
import { AuditEntryId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, json, nullable, Table, text, word } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { changesOf, type Fields } from "../../engine/AuditChanges.ts"
import { type Content, digestOf, sealOf } from "../../vault/AuditMac.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { firstIdOf } from "../database/IdsByTime.ts"
import { DataKeys } from "../vault/DataKeys.ts"

/** The chain of what concerns the room as a whole. */
export const roomChain = "room" as const

export const entryTable = Table("audit_entry", {
  workspace_id: text,
  id: id(AuditEntryId),
  number: nullable(integer),
  mac: nullable(text),
  previous_mac: nullable(text),
  created_at: text,
  actor_type: word<AuditActorType>(),
  actor_id: nullable(text),
  session_id: nullable(text),
  address: nullable(text),
  request_id: nullable(text),
  action: text,
  resource_type: text,
  resource_id: nullable(text),
  resource_name: nullable(text),
  changes: json<ReadonlyArray<AuditChange>>()
})
export type EntryRow = typeof entryTable.Type

const listedRow = entryTable.and({ actor_name: nullable(text) })

/** Who acts: a key, a person, or the service itself. */
export interface Actor {
  readonly type: AuditActorType
  /** Null: the service itself, or a command on its data folder. */
  readonly id: string | null
}

/** The request by which somebody acts. */
export interface Origin {
  readonly sessionId: string | null
  readonly address: string | null
  readonly requestId: string | null
}

export interface NewEntry {
  /** The workspace, or `roomChain`. */
  readonly workspaceId: string
  readonly actor: Actor
  /** Default: none, of what the service does by itself. */
  readonly origin?: Origin | undefined
  readonly action: string
  readonly resource: { readonly type: AuditedResource; readonly id: string | null; readonly name: string | null }
  /** Its fields before; null: it did not exist, or they are not known. */
  readonly before: Fields | null
  /** Its fields after, and what was asked for; null: it does not exist any more. */
  readonly after: Fields | null
}

/** Which entries: those to which all of these apply; null: any. */
export interface EntryFilter {
  readonly actorId: string | null
  readonly action: string | null
  readonly resourceType: string | null
  readonly resourceId: string | null
  /** In milliseconds since 1970. */
  readonly from: number | null
  readonly until: number | null
}

/** An entry with its place in the chain. */
export type Entry = Content & Pick<AuditEntry, "number" | "mac" | "previous_mac">

export const entryOf = (row: EntryRow): Entry => ({
  id: row.id,
  number: row.number,
  // Without a number it is that of the entry by itself.
  mac: row.number === null ? null : row.mac,
  previous_mac: row.previous_mac,
  created_at: row.created_at,
  actor: { type: row.actor_type, id: row.actor_id, session_id: row.session_id },
  address: row.address,
  request_id: row.request_id,
  action: row.action,
  resource: { type: row.resource_type, id: row.resource_id, name: row.resource_name },
  changes: row.changes
})

/**
 * Writes the entry of the current request. Only commands that wait for something outside of the database call it, in the transaction
 * of their change; around all others there is one.
 */
export const EntryOfRequest = Context.Reference<Effect.Effect<void>>("@signalbox/control-room/store/EntryOfRequest", {
  defaultValue: () => Effect.void
})

/** The data key of all MACs of the room. */
export const auditKeyId = "audit"
export const auditKey = Effect.flatMap(DataKeys, ({ get }) => get(auditKeyId))

export class AuditEntries extends Context.Service<
  AuditEntries,
  {
    /** Writes an entry: to be called in the transaction of what it is about. */
    readonly write: (entry: NewEntry) => Effect.Effect<void>
    /** Waits until no other transaction has locked this resource for its entry, and locks it until the current one ends. */
    readonly lockResource: (workspace: WorkspaceId, type: AuditedResource, id: string | null) => Effect.Effect<void>
    readonly list: (
      workspace: WorkspaceId | typeof roomChain,
      filter: EntryFilter,
      page: PageRequest,
      order?: "newest first" | "oldest first"
    ) => Effect.Effect<Rows<AuditEntry>>
  }
>()("@signalbox/control-room/store/AuditEntries") {
  static readonly layer = Layer.effect(
    AuditEntries,
    Effect.gen(function* () {
      const { newId, now, page, sql } = yield* Database
      const key = yield* auditKey
      const digest = (value: string | Uint8Array) => digestOf(key, value)
      // Whoever was deleted has no name any more, and the entry still has the id.
      const names = sql.literal(
        "SELECT name FROM api_key WHERE api_key.id = audit_entry.actor_id UNION ALL " +
          "SELECT trim(first_name || ' ' || last_name) FROM account WHERE account.id = audit_entry.actor_id"
      )

      /** One resource has few entries, so its index is used, not that of its kind. */
      const ofResource = ({ resourceId, resourceType }: EntryFilter) => {
        if (resourceId === null) return resourceType === null ? [] : [sql`resource_type = ${resourceType}`]
        return [
          sql`resource_id = ${resourceId}`,
          ...(resourceType === null ? [] : [sql`resource_type || '' = ${resourceType}`])
        ]
      }

      return AuditEntries.of({
        write: Effect.fnUntraced(function* ({ action, actor, after, before, origin, resource, workspaceId }) {
          const entry: Content = {
            id: AuditEntryId.make(yield* newId),
            created_at: yield* now,
            actor: { type: actor.type, id: actor.id, session_id: origin?.sessionId ?? null },
            address: origin?.address ?? null,
            request_id: origin?.requestId ?? null,
            action,
            resource,
            changes: changesOf(before, after, digest)
          }
          yield* sql`INSERT INTO audit_entry ${entryTable.insert({
            workspace_id: workspaceId,
            id: entry.id,
            mac: sealOf(key, workspaceId, entry),
            created_at: entry.created_at,
            actor_type: actor.type,
            actor_id: actor.id,
            session_id: entry.actor.session_id,
            address: entry.address,
            request_id: entry.request_id,
            action,
            resource_type: resource.type,
            resource_id: resource.id,
            resource_name: resource.name,
            changes: entry.changes
          })}`
        }),
        lockResource: (workspace, type, id) => Dialect.lockName(sql, `audit ${workspace} ${type} ${id}`),
        list: (workspace, filter, request, order = "newest first") =>
          page(
            {
              rows: listedRow,
              select: sql`SELECT ${entryTable.columns}, (${names}) AS actor_name FROM audit_entry`,
              as: (row): AuditEntry => {
                const entry = entryOf(row)
                return { ...entry, actor: { ...entry.actor, name: row.actor_name } }
              }
            },
            [
              sql`workspace_id = ${workspace}`,
              ...ofResource(filter),
              ...(filter.actorId === null ? [] : [sql`actor_id = ${filter.actorId}`]),
              ...(filter.action === null ? [] : [sql`action = ${filter.action}`]),
              ...(filter.from === null ? [] : [sql`id >= ${firstIdOf(filter.from)}`]),
              ...(filter.until === null ? [] : [sql`id < ${firstIdOf(filter.until)}`])
            ],
            order,
            request
          )
      })
    })
  )
}
