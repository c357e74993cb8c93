/** The audit over HTTP: listed, and exported as lines. */
import type { AuditChainName, AuditEntry } from "@signalbox/api/contract/Audit"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Endpoints from "../edge/Endpoints.ts"
import { Pagination } from "../edge/Pagination.ts"
import * as Permissions from "../edge/Permissions.ts"
import { AuditChain } from "../store/audit/AuditChain.ts"
import { AuditEntries, type EntryFilter, roomChain } from "../store/audit/AuditEntries.ts"

interface Query {
  readonly chain?: AuditChainName | undefined
  readonly actor_id?: string | undefined
  readonly action?: string | undefined
  readonly resource_type?: string | undefined
  readonly resource_id?: string | undefined
  readonly from?: string | undefined
  readonly until?: string | undefined
}

const timeIn = (text: string | undefined) => (text === undefined ? null : Date.parse(text))

const filterOf = ({ action, actor_id, from, resource_id, resource_type, until }: Query): EntryFilter => ({
  actorId: actor_id ?? null,
  action: action ?? null,
  resourceType: resource_type ?? null,
  resourceId: resource_id ?? null,
  from: timeIn(from),
  until: timeIn(until)
})

/** The chain that is asked for. */
const chainOf = Effect.fnUntraced(function* (workspace: WorkspaceId, { chain }: Query) {
  if (chain !== "room") return workspace
  yield* Permissions.need("Room.manage", "the audit of the room is for who operates it")
  return roomChain
})

/** Entries that are read at once for an export. */
const pageSize = 500

export const layer = Endpoints.group(
  "audit",
  Effect.fnUntraced(function* (handlers) {
    const { list } = yield* AuditEntries
    const { head } = yield* AuditChain
    const { page } = yield* Pagination
    return handlers.handleAll({
      listAuditEntries: ({ params, query, request }) =>
        Effect.flatMap(chainOf(params.workspace_id, query), (chain) =>
          page(request, query, (from) => list(chain, filterOf(query), from), Effect.succeed)
        ),
      getAuditHead: ({ params }) => head(params.workspace_id),
      exportAudit: Effect.fnUntraced(function* ({ params, query }) {
        const chain = yield* chainOf(params.workspace_id, query)
        const filter = filterOf(query)
        const part = (after: string | null) =>
          Effect.map(list(chain, filter, { after, limit: pageSize }, "oldest first"), ({ hasMore, rows }) => {
            // What has no number yet is in the next export.
            const linked = rows.filter(({ number }) => number !== null)
            const lines = linked.map((entry: AuditEntry) => `${JSON.stringify(entry)}\n`)
            const next = hasMore ? Option.fromNullishOr(rows.at(-1)?.id) : Option.none<string>()
            return [lines.length === 0 ? [] : [lines.join("")], next] as const
          })
        return HttpServerResponse.stream(Stream.encodeText(Stream.paginate<string | null, string>(null, part)), {
          contentType: "application/x-ndjson",
          headers: { "content-disposition": 'attachment; filename="audit.ndjson"' }
        })
      })
    })
  })
)
