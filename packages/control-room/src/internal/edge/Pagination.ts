/**
 * Pages of lists: limits, and cursors that are opaque, signed and bound to their filters.
 */
import type { Page } from "@signalbox/api/contract/Common"
import type { InvalidRequestResponse } from "@signalbox/api/contract/Responses"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { limits } from "../settings/Limits.ts"
import type * as Scope from "effect/Scope"
import { Signer } from "../transfers/Signer.ts"
import type { PageRequest, Rows } from "../store/database/Database.ts"
import { sendJson } from "./ResponseHeaders.ts"
import { ResponseMemory } from "./ResponseMemory.ts"
import { invalidRequest } from "./Failures.ts"
import { ClientUrl, PublicUrl } from "../settings/PublicUrl.ts"

const defaultLimit = 100
const maxLimit = 500

interface ListQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  /** Only rows with exactly this name. */
  readonly name?: string | undefined
}

/** What a cursor is bound to: the path and the filters, sorted. Unknown parameters are ignored. */
const scopeOf = (path: string, query: ListQuery): string => {
  const filters = Object.entries(query).filter(
    ([name, value]) => name !== "cursor" && name !== "limit" && value !== undefined
  )
  return `${path}\n${JSON.stringify(filters.sort(([a], [b]) => (a < b ? -1 : 1)))}`
}

export class Pagination extends Context.Service<
  Pagination,
  {
    /** Fetches a page and wraps it in the envelope of lists. */
    readonly page: <A extends { readonly id: string }, B, R>(
      request: HttpServerRequest.HttpServerRequest,
      query: ListQuery,
      fetch: (page: PageRequest) => Effect.Effect<Rows<A>>,
      view: (rows: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, never, R>,
      /** The size of the page, whatever its `limit`. */
      size?: number
    ) => Effect.Effect<Page<B>, InvalidRequestResponse, R | Scope.Scope>
    /** The address of the page after this row, in the order of the list; null: of its first page. */
    readonly after: (
      request: HttpServerRequest.HttpServerRequest,
      query: ListQuery,
      id: string | null
    ) => Effect.Effect<string>
    /** Like `page`, for rows rendered as JSON text. */
    readonly pageOfTexts: <A extends { readonly id: string }, R>(
      request: HttpServerRequest.HttpServerRequest,
      query: ListQuery,
      fetch: (page: PageRequest) => Effect.Effect<Rows<A>>,
      view: (rows: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<string>, never, R>,
      size?: number
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, InvalidRequestResponse, R | Scope.Scope>
  }
>()("@signalbox/control-room/edge/Pagination") {
  static readonly layer = Layer.effect(
    Pagination,
    Effect.gen(function* () {
      const memory = yield* ResponseMemory
      const signer = yield* Signer
      const publicUrl = yield* PublicUrl
      const clientUrl = yield* ClientUrl
      const read = (cursor: string, scope: string): string | null => {
        const dot = cursor.lastIndexOf(".")
        const after = Buffer.from(cursor.slice(0, Math.max(dot, 0)), "base64url").toString()
        return dot > 0 && signer.verify(`cursor\n${scope}\n${after}`, cursor.slice(dot + 1)) ? after : null
      }
      const cursorOf = (scope: string, id: string) =>
        `${Buffer.from(id).toString("base64url")}.${signer.sign(`cursor\n${scope}\n${id}`)}`
      const page: Pagination["Service"]["page"] = Effect.fnUntraced(function* (request, query, fetch, view, size) {
        const url = new URL(request.url, publicUrl)
        const scope = scopeOf(url.pathname, query)
        const after = query.cursor === undefined ? null : read(query.cursor, scope)
        if (query.cursor !== undefined && after === null) {
          return yield* invalidRequest(
            "cursor: does not belong to this list with these filters; start again without it, or use `next` unchanged"
          )
        }
        const limit = size ?? Math.min(query.limit ?? defaultLimit, maxLimit)
        const requestScope = yield* Effect.scope
        // Repositories have no errors: the refusal passes them as a defect, and is the response all the same.
        const reserve = (bytes: number) => Effect.orDie(memory.reserve(bytes, requestScope))
        const { hasMore, rows } = yield* fetch({ after, limit, reserve, name: query.name })
        const last = rows.at(-1)?.id
        if (hasMore && last !== undefined) url.searchParams.set("cursor", cursorOf(scope, last))
        const data = yield* view(rows)
        return { data, has_more: hasMore, next: hasMore ? (yield* clientUrl) + url.pathname + url.search : null }
      })
      return Pagination.of({
        page,
        after: (request, query, id) => {
          const { pathname } = new URL(request.url, publicUrl)
          const parameters = new URLSearchParams(
            Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
          )
          parameters.delete("cursor")
          if (id !== null) parameters.set("cursor", cursorOf(scopeOf(pathname, query), id))
          const rest = `${pathname}${parameters.size === 0 ? "" : `?${parameters}`}`
          return Effect.map(clientUrl, (origin) => origin + rest)
        },
        pageOfTexts: Effect.fnUntraced(function* (request, query, fetch, view, size) {
          const { data, ...rest } = yield* page(request, query, fetch, view, size)
          const end = `],${JSON.stringify(rest).slice(1)}`
          if (data.reduce((sum, text) => sum + text.length, 0) <= limits.smallResponse) {
            return yield* sendJson(`{"data":[${data.join(",")}${end}`)
          }
          const parts: Array<Uint8Array> = []
          for (const [index, text] of data.entries()) {
            parts.push(Buffer.from(`${index === 0 ? '{"data":[' : ","}${text}`))
            // Rendering megabytes takes a while: other fibers run in between.
            if (text.length > limits.smallResponse) yield* Effect.yieldNow
          }
          parts.push(Buffer.from(end))
          const contentLength = parts.reduce((sum, part) => sum + part.length, 0)
          return HttpServerResponse.stream(Stream.fromIterable(parts), {
            contentLength,
            contentType: "application/json"
          })
        })
      })
    })
  )
}
