/**
 * Calls of the API over the `Graph` at hand: JSON in and out by schema, and lists as streams of their pages.
 */
import { jsonOf, Unfit } from "@signalbox/transport/JsonValue"
import { describe, parseOptions } from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpBody from "effect/http/HttpBody"
import { Graph } from "../../Graph.ts"
import * as Reasons from "../../GraphError.ts"
import { type Path, type Query, queryString } from "../../Path.ts"
import { parseJson, readError } from "./Answer.ts"
import { operationOf } from "./Operation.ts"
import { asNothing, asText, type Method, send, type SendOptions, type Sent, shownAddress } from "./Transport.ts"

export interface Call {
  readonly method?: Method
  /** Below the version, as `/me/drive`. */
  readonly path: Path
  readonly query?: Query | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The body, as JSON. What JSON cannot say, such as `NaN`, a function or a cycle, is refused with its path. */
  readonly json?: unknown
  /** What the body is called where its caller named it, for such paths. */
  readonly jsonName?: string | undefined
  /** The body, when it is not JSON. */
  readonly body?: HttpBody.HttpBody | undefined
  readonly repeatable?: boolean | undefined
  readonly timed?: boolean | undefined
  readonly follow?: boolean | undefined
  /** Default `v1.0`. */
  readonly version?: "v1.0" | "beta" | undefined
}

export const unsent = (method: Method, shown: string, operation: string | null = null): Reasons.RequestInfo => ({
  operation,
  method,
  path: shown,
  attempts: 0,
  status: null,
  requestId: null,
  clientRequestId: null
})

export const refused = (request: Reasons.RequestInfo, message: string) =>
  new Reasons.GraphError({ reason: new Reasons.InvalidRequest({ codes: [], message }), request })

/** Fails as `InvalidRequest` before anything is sent, under the function that was called. */
export const refuse = (method: Method, shown: string, message: string): Effect.Effect<never, Reasons.GraphError> =>
  Effect.flatMap(operationOf(null), (operation) => Effect.fail(refused(unsent(method, shown, operation), message)))

export const malformed = (request: Reasons.RequestInfo, message: string, codes: ReadonlyArray<string> = []) =>
  new Reasons.GraphError({ reason: new Reasons.Malformed({ codes, message }), request })

/** Sends a call; `read` makes something of a good answer. */
export const request = Effect.fnUntraced(function* <A>(
  call: Call,
  read: SendOptions<A>["read"]
): Effect.fn.Return<Sent<A>, Reasons.GraphError, Graph> {
  const { baseUrl, transport } = yield* Graph
  const method = call.method ?? "GET"
  const { encoded, problem, shown } = call.path
  const json = call.json === undefined ? undefined : jsonOf(call.json, call.jsonName ?? "")
  const wrong = json instanceof Unfit ? json.message : problem
  if (wrong !== null) return yield* refuse(method, shown, wrong)
  const body = json === undefined ? call.body : HttpBody.jsonUnsafe(json)
  return yield* send(transport, {
    method,
    url: `${baseUrl}/${call.version ?? "v1.0"}${encoded}${queryString(call.query ?? {})}`,
    shown,
    read,
    headers: call.headers,
    body,
    repeatable: call.repeatable,
    timed: call.timed,
    follow: call.follow
  })
})

/** Sends to an address that the service gave (a link, an upload session); the token goes only to the API's own. */
export const requestAddress = Effect.fnUntraced(function* <A>(
  address: string,
  options: Omit<SendOptions<A>, "url" | "shown">
): Effect.fn.Return<Sent<A>, Reasons.GraphError, Graph> {
  const { origin, transport } = yield* Graph
  return yield* send(transport, { ...options, url: address, shown: shownAddress(origin, address) })
})

/** An error that the service wrote into an answer that it had begun well: the search of users does so. */
const brokenOff = (text: string): ReadonlyArray<string> | undefined => {
  const code = /"error"\s*:\s*\{\s*"code"\s*:\s*"([\w.-]{1,100})"/.exec(text)?.[1]
  return code === undefined ? undefined : [code]
}

const brokenOffMessage = "the service ended its response with an error; request less, or try again later"

/** The JSON of an answer; what is none is `Malformed`. */
export const parse = (sent: Sent<string>): Effect.Effect<unknown, Reasons.GraphError> =>
  Option.match(parseJson(sent.value), {
    onSome: (body) => Effect.succeed(body),
    onNone: () => {
      const codes = brokenOff(sent.value)
      return Effect.fail(
        malformed(sent.request, codes === undefined ? "the answer is not JSON" : brokenOffMessage, codes)
      )
    }
  })

/** Decodes by a schema; an answer of another shape is `Malformed`, and the message says where. */
export const decoder = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema, parseOptions)
  return (body: unknown, request: Reasons.RequestInfo): Effect.Effect<S["Type"], Reasons.GraphError> =>
    Effect.mapError(decode(body), (error) =>
      malformed(request, `the answer does not have the documented shape (${describe(error)})`)
    )
}

/** Makes a function that sends a call and decodes the answer. */
export const json = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const decode = decoder(schema)
  return Effect.fnUntraced(function* (call: Call): Effect.fn.Return<S["Type"], Reasons.GraphError, Graph> {
    const sent = yield* request(call, asText)
    return yield* decode(yield* parse(sent), sent.request)
  })
}

/** Sends a call whose answer says nothing. A repeated DELETE that finds nothing has done its work. */
export const unit = (call: Call): Effect.Effect<void, Reasons.GraphError, Graph> =>
  Effect.asVoid(request(call, asNothing)).pipe(
    Effect.catchReason("GraphError", "NotFound", (_, error) =>
      call.method === "DELETE" && error.request.attempts > 1 ? Effect.void : Effect.fail(error)
    )
  )

/** A page of a list. `deltaLink` is on the last page of a delta. */
const Page = Schema.Struct({
  value: Schema.Array(Schema.Unknown),
  "@odata.nextLink": Schema.optionalKey(Schema.String),
  "@odata.deltaLink": Schema.optionalKey(Schema.String),
  "@odata.count": Schema.optionalKey(Schema.Finite)
})

/** One page, decoded. */
export interface DecodedPage<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | null
  readonly deltaLink: string | null
  readonly count: number | null
}

const decodePage = decoder(Page)

/** Makes a stream of the pages of a list; one is fetched when the consumer wants it. Headers go with every page. */
export const pages = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const decodeItems = decoder(Schema.Array(schema))

  /** `seen`: the links to pages that were followed or will be. */
  const read = Effect.fnUntraced(function* (
    sent: Sent<string>,
    seen: Set<string>
  ): Effect.fn.Return<DecodedPage<S["Type"]>, Reasons.GraphError, Graph> {
    const { origin } = yield* Graph
    const page = yield* decodePage(yield* parse(sent), sent.request)
    const failed = page.value.find((item) => Predicate.isObject(item) && "error" in item && !("id" in item))
    if (failed !== undefined) {
      return yield* malformed(sent.request, brokenOffMessage, readError(sent.status, failed).codes)
    }
    const next = page["@odata.nextLink"] ?? null
    if (next !== null && (!URL.canParse(next) || new URL(next).origin !== origin)) {
      return yield* malformed(sent.request, "the link to the next page leads to another host; it was not followed")
    }
    // Links in a circle would be followed without end.
    if (next !== null && seen.has(next)) {
      return yield* malformed(sent.request, "the link to the next page leads back to a page that came before")
    }
    if (next !== null) seen.add(next)
    return {
      items: yield* decodeItems(page.value, sent.request),
      next,
      deltaLink: page["@odata.deltaLink"] ?? null,
      count: page["@odata.count"] ?? null
    }
  })

  return (call: Call | { readonly link: string; readonly headers?: Call["headers"] }) => {
    const headers = call.headers === undefined ? {} : { headers: call.headers }
    const follow = (link: string) => requestAddress(link, { method: "GET", read: asText, ...headers })
    return Stream.suspend(() => {
      const seen = new Set("link" in call ? [call.link] : [])
      const first = "link" in call ? follow(call.link) : request(call, asText)
      return Stream.paginate<string | null, DecodedPage<S["Type"]>, Reasons.GraphError, Graph>(null, (link) =>
        Effect.map(
          Effect.flatMap(link === null ? first : follow(link), (sent) => read(sent, seen)),
          (page) => [[page], Option.fromNullOr(page.next)] as const
        )
      )
    })
  }
}

/** The items of all pages. */
export const list = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const all = pages(schema)
  return (call: Call): Stream.Stream<S["Type"], Reasons.GraphError, Graph> =>
    Stream.flatMap(all(call), (page) => Stream.fromIterable(page.items))
}
