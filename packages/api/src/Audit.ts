/**
 * The audit of the workspace: who changed what, when, and from where. An extension of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { Page } from "./contract/Common.ts"
import type { InvalidRequest } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Audit.ts"
import { names, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { List, ListOptions } from "./ListOptions.ts"

export type { AuditActorType, AuditChainName, AuditChange, AuditEntry, AuditHead } from "./contract/Audit.ts"

const call = {
  list: returning<Page<contract.AuditEntry>, InvalidRequest>()(inWorkspace(contract.list))
}

/** Which entries: those to which all of these apply. */
export interface Filter {
  /** Default: `workspace`. Of the room: its accounts, sign-ins, workspaces and restores; needs `Room.manage`. */
  readonly chain?: contract.AuditChainName | undefined
  /** The id of the key or person. */
  readonly actor?: string | undefined
  /** The name of an operation, such as `updateProcess`. */
  readonly action?: string | undefined
  /** What was changed, such as `process`. */
  readonly resourceType?: string | undefined
  /** The id of what was changed; of a secret its name. */
  readonly resource?: string | undefined
  /** Not before this time; ISO 8601 with a zone. */
  readonly from?: string | undefined
  /** Before this time. */
  readonly until?: string | undefined
  /** Entries per page, 1 to 500. */
  readonly limit?: number | undefined
}

/** Which entries, and which page of them. */
export interface PageFilter extends Filter, ListOptions {}

const filterNames = {
  chain: 1,
  actor: 1,
  action: 1,
  resourceType: 1,
  resource: 1,
  from: 1,
  until: 1,
  limit: 1
} as const
const streamed = names<Filter>("filter", filterNames)
const listed = names<PageFilter>("filter", { ...filterNames, cursor: 1 })

/**
 * Returns one page, newest first.
 *
 * ```ts
 * import * as Audit from "@signalbox/api/Audit"
 *
 * export const changes = Audit.list({ resourceType: "process", limit: 50 })
 * ```
 */
export const list: List<PageFilter, contract.AuditEntry, InvalidRequest> = Effect.fn("Audit.list")(
  (filter: PageFilter = {}, cursor?: string) =>
    call.list({
      query: {
        chain: filter.chain,
        actor_id: filter.actor,
        action: filter.action,
        resource_type: filter.resourceType,
        resource_id: filter.resource,
        from: filter.from,
        until: filter.until,
        limit: filter.limit,
        cursor: cursor ?? filter.cursor
      }
    }),
  refusing("audit.list", { 0: listed })
)

/** Emits all entries that match, newest first. */
export const stream = (filter: Filter = {}) =>
  pages((cursor) => list({ ...filter, cursor })).pipe(refusingStream("audit.stream", streamed, filter))

/**
 * Returns the end of the chain: store it elsewhere, and `signalbox check --audit-head` finds what was cut off after it.
 */
export const head = returning<contract.AuditHead>()(inWorkspace(contract.head))({})
