/**
 * Collections: filtered, ordered, cut into pages, and with the properties that were asked for.
 */
import * as Effect from "effect/Effect"
import * as Failure from "../model/Failure.ts"
import * as Filter from "./Filter.ts"
import { context, type GraphRequest, ok } from "./GraphRequest.ts"
import type { Properties } from "../model/Model.ts"

/** Only what `$select` names; the annotations that hold for the whole stay. */
export const select = (request: GraphRequest, row: Properties): Properties => {
  const asked = request.options
    .get("select")
    ?.split(",")
    .map((name) => name.trim().split("/")[0])
  if (asked === undefined) return row
  const wanted = new Set(asked.map((name) => name?.toLowerCase()))
  if (wanted.has("*")) return row
  wanted.add("@odata.etag").add("@odata.context").add("@odata.type").add("@removed")
  if (wanted.has("content.downloadurl")) wanted.add("@microsoft.graph.downloadurl")
  return Object.fromEntries(Object.entries(row).filter(([name]) => wanted.has(name.toLowerCase())))
}

/** One thing. */
export const one = (request: GraphRequest, of: string, row: Properties) =>
  ok(select(request, { "@odata.context": context(request, `${of}/$entity`), ...row }))

const token = {
  /** The apostrophe must come back as it was sent. */
  encode: (offset: number) => `m~${Buffer.from(String(offset)).toString("base64url")}%27x`,
  decode: (text: string): number | undefined => {
    const encoded = /^m~([\w-]+)'x$/.exec(text)?.[1]
    const offset = encoded === undefined ? Number.NaN : Number(Buffer.from(encoded, "base64url").toString())
    return Number.isSafeInteger(offset) && offset >= 0 ? offset : undefined
  }
}

const positive = (text: string) => (/^\d+$/.test(text) ? Number(text) : undefined)

/** The address of this request, with other options than some of its own. */
export const linkWith = (request: GraphRequest, replaced: RegExp, option: string): string => {
  const kept = request.query.split("&").filter((part) => part !== "" && !replaced.test(part))
  return `${request.base}${request.path}?${[...kept, option].join("&")}`
}

export interface Collection<A> {
  /** The name in `@odata.context`. */
  readonly of: string
  readonly rows: ReadonlyArray<A>
  readonly view: (row: A) => Properties
  /** What filters and orders look at, where it is more than what is shown. */
  readonly whole?: (row: A) => Properties
  /** Rows on a page: without `$top`, and at most. */
  readonly size: number
  readonly max: number
  /** A `$top` above the most is an error instead of being cut. */
  readonly strict?: boolean
  /** Returns the total count even without `$count`. */
  readonly counted?: boolean
}

/** The page that the request asks for. */
export const page = Effect.fnUntraced(function* <A>(request: GraphRequest, collection: Collection<A>) {
  const { options } = request
  const top = options.get("top")
  const asked = top === undefined ? collection.size : positive(top)
  if (asked === undefined || asked === 0 || (collection.strict === true && asked > collection.max)) {
    return yield* Failure.directoryRequest(
      `Invalid page size specified: '${top}'. Must be between 1 and ${collection.max} inclusive.`,
      "invalidQueryOption"
    )
  }
  const skiptoken = options.get("skiptoken")
  const offset = skiptoken === undefined ? positive(options.get("skip") ?? "0") : token.decode(skiptoken)
  if (offset === undefined) return yield* Failure.badRequest("The skip token is malformed.", "invalidQueryOption")

  const filter = options.get("filter")
  const orderby = options.get("orderby")
  const whole = collection.whole ?? collection.view
  let { rows } = collection
  if (filter !== undefined) {
    const { test } = yield* Effect.fromResult(Filter.parse(filter))
    rows = rows.filter((row) => test(whole(row)))
  }
  if (orderby !== undefined) {
    const { order } = Filter.parseOrder(orderby)
    const keyed = rows.map((row) => ({ row, key: whole(row) }))
    rows = keyed.sort((a, b) => order(a.key, b.key)).map(({ row }) => row)
  }
  const total = rows.length
  const end = offset + Math.min(asked, collection.max)
  const shown = rows.slice(offset, end).map(collection.view)
  const isFirst = skiptoken === undefined
  const counted = isFirst && (options.get("count") === "true" || collection.counted === true)
  return ok({
    "@odata.context": context(request, collection.of),
    "@odata.count": counted ? total : undefined,
    "@odata.nextLink":
      end < total ? linkWith(request, /^(?:\$|%24)?skip(?:token)?=/i, `$skiptoken=${token.encode(end)}`) : undefined,
    value: shown.map((row) => select(request, row))
  })
})
