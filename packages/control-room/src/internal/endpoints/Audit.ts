/** The audit over HTTP: listed, and exported as lines. */
import type { AuditEntry } from "@signalbox/api/contract/Audit"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Endpoints from "../edge/Endpoints.ts"
import { Pagination } from "../edge/Pagination.ts"
import { AuditChain } from "../store/audit/AuditChain.ts"
import { AuditEntries, type EntryFilter } from "../store/audit/AuditEntries.ts"

interface Query {
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
        page(request, query, (from) => list(params.workspace_id, filterOf(query), from), Effect.succeed),
      getAuditHead: ({ params }) => head(params.workspace_id),
      exportAudit: ({ params, query }) => {
        const filter = filterOf(query)
        const part = (after: string | null) =>
          Effect.map(
            list(params.workspace_id, filter, { after, limit: pageSize }, "oldest first"),
            ({ hasMore, rows }) => {
              // What has no number yet is in the next export.
              const linked = rows.filter(({ number }) => number !== null)
              const lines = linked.map((entry: AuditEntry) => `${JSON.stringify(entry)}\n`)
              const next = hasMore ? Option.fromNullishOr(rows.at(-1)?.id) : Option.none<string>()
              return [lines.length === 0 ? [] : [lines.join("")], next] as const
            }
          )
        return Effect.succeed(
          HttpServerResponse.stream(Stream.encodeText(Stream.paginate<string | null, string>(null, part)), {
            contentType: "application/x-ndjson",
            headers: { "content-disposition": 'attachment; filename="audit.ndjson"' }
          })
        )
      }
    })
  })
)
