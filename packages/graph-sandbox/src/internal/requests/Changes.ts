/**
 * What has changed in a collection. A token is the number of the last change that was seen, so a page begins where the one
 * before ended, and changes in between come last.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "./Address.ts"
import * as Failure from "../model/Failure.ts"
import { context, type GraphRequest, ok } from "./GraphRequest.ts"
import type { Change, Changes, Properties } from "../model/Model.ts"
import * as Lagging from "./Lagging.ts"
import * as Pages from "./Pages.ts"

/** What a request for changes is about. */
export interface Changing {
  /** The name in `@odata.context`. */
  readonly of: string
  /** The collection is in the token: that of another one is of no use. */
  readonly id: string
  readonly changes: Changes
  /** The options that carry the token: in a link to the next page, and in the one to the next round. */
  readonly options: { readonly next: string; readonly delta: string }
  /** Shows what is still there; `undefined` for what does not belong to the answer. `start`: the last change before the round. */
  readonly view: (id: string, start: number) => Properties | undefined
  /** Shows what has gone; `undefined` as above. */
  readonly gone: (id: string, change: Change) => Properties | undefined
}

/** Where a page begins, and where its round did. */
interface Place {
  readonly from: number
  readonly start: number
}

const encode = ({ id }: Changing, { from, start }: Place) => Buffer.from(`${from} ${id} ${start}`).toString("base64url")

const decode = ({ changes, id }: Changing, token: string, last: number): Place | undefined => {
  if (token.toLowerCase() === "latest") return { from: last, start: last }
  const [seen, of, began] = Buffer.from(token, "base64url").toString().split(" ")
  const from = Number(seen)
  const start = Number(began)
  return of === id && Number.isSafeInteger(from) && from <= changes.last && start <= from ? { from, start } : undefined
}

/** The address that goes on from a token; a token in the function's parentheses gives way to one in the query. */
const link = (request: GraphRequest, option: string, token: string) =>
  Pages.linkWith(
    { ...request, path: request.path.replace(/\(token=[^)]*\)$/i, "").replace(/\(\)$/, "") },
    /^(?:\$|%24)?(?:token|skiptoken|deltatoken)=/i,
    `${option}=${token}`
  )

const tokenOf = ({ options }: GraphRequest, segment: Segment) =>
  segment.args?.["token"] ?? options.get("token") ?? options.get("deltatoken") ?? options.get("skiptoken")

/** Rows on a page, as some clients ask for them. */
const preferredSize = ({ headers }: GraphRequest) => /odata\.maxpagesize=(\d+)/i.exec(headers["prefer"] ?? "")?.[1]

/** The page of changes that the request asks for. */
export const page = Effect.fnUntraced(function* (request: GraphRequest, segment: Segment, changing: Changing) {
  const { changes, gone, of, options, view } = changing
  const token = tokenOf(request, segment)
  const last = Lagging.last(changes, Lagging.late(request, "delta", changes))
  const place = token === undefined || token === "" ? { from: 0, start: 0 } : decode(changing, token, last)
  if (place === undefined) {
    return yield* Failure.withHeaders(Failure.resync(), { location: `${request.base}${request.path}` })
  }
  const { from, start } = place
  const end = Math.max(from, last)
  const size = Math.min(Number(request.options.get("top") ?? preferredSize(request) ?? 200) || 200, 1000)
  const rows: Array<Properties> = []
  let seen = from
  let more = false
  for (const [id, change] of changes.byItem) {
    if (change.number <= from || change.number > last) continue
    if (rows.length === size) {
      more = true
      break
    }
    seen = change.number
    // The first round tells what is there; only later ones tell what has gone.
    const row = change.deleted ? (from > 0 ? gone(id, change) : undefined) : view(id, start)
    if (row !== undefined) rows.push(row)
  }
  return ok({
    "@odata.context": context(request, of),
    ...(more
      ? { "@odata.nextLink": link(request, options.next, encode(changing, { from: seen, start })) }
      : { "@odata.deltaLink": link(request, options.delta, encode(changing, { from: end, start: end })) }),
    value: rows.map((row) => Pages.select(request, row))
  })
})
