/**
 * A connection whose concurrent calls travel in batches. It stands below attempts, tokens and decoding, so that each call keeps
 * its own of these.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Base64 from "effect/encoding/Base64"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { Graph } from "../../Graph.ts"
import { parseJson } from "./Answer.ts"
import { mostParts } from "./Delivery.ts"
import { Answers } from "./Rounds.ts"

/** A call that waits for the others of its batch. */
class Waiting extends Request.TaggedClass("Waiting")<
  { readonly request: HttpClientRequest.HttpClientRequest; readonly url: string; readonly json: unknown },
  HttpClientResponse.HttpClientResponse,
  HttpClientError.HttpClientError
> {}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Answers))

/** Headers that the batch has as a whole, and those of the body, which is a part of its own. */
const ofTheWhole = new Set(["authorization", "user-agent", "content-length"])

const withoutWhole = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheWhole.has(name)))

/** What of a body goes into a batch: JSON, or nothing. Undefined: it goes by itself. */
const jsonOf = (body: HttpBody.HttpBody): Option.Option<unknown> => {
  if (body._tag === "Empty") return Option.some(undefined)
  if (body._tag !== "Uint8Array" || body.contentType !== "application/json") return Option.none()
  return parseJson(new TextDecoder().decode(body.body))
}

const broken = (request: HttpClientRequest.HttpClientRequest, description: string) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, description }) })

/** A batch waits so long after the last call: calls that are made at once get here one by one, each with its token. */
const gatherMillis = 3

/** Statuses whose responses have no body. */
const bodyless = new Set([204, 205, 304])

const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: BodyInit | undefined
) =>
  HttpClientResponse.fromWeb(
    request,
    new Response(bodyless.has(status) || body === undefined ? null : body, { status, headers })
  )

/** The body as a response of its own would have had it: in a batch, what is not JSON comes in base64. */
const bodyOf = (body: unknown, headers: Readonly<Record<string, string>>) => {
  if (body === undefined || body === null) return undefined
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? ""
  if (typeof body !== "string" || type.includes("json")) return JSON.stringify(body)
  return Result.match(Base64.decode(body), { onSuccess: (bytes) => new Uint8Array(bytes), onFailure: () => body })
}

export const collected = (graph: Graph["Service"]): Graph["Service"] => {
  const { baseUrl, transport } = graph
  const { client } = transport.link
  const prefix = `${baseUrl}/v1.0`

  const together = Effect.fnUntraced(function* (entries: ReadonlyArray<Request.Entry<Waiting>>) {
    const [first] = entries
    if (first === undefined) return
    const { authorization = "", "user-agent": userAgent = "" } = first.request.request.headers
    const requests = entries.map(({ request: { json, request, url } }, index) => ({
      id: String(index),
      method: request.method,
      url,
      headers: withoutWhole(request.headers),
      body: json
    }))
    const batch = HttpClientRequest.post(`${prefix}/$batch`, {
      headers: { authorization, "user-agent": userAgent },
      body: HttpBody.jsonUnsafe({ requests })
    })
    const answer = yield* client.execute(batch)
    const text = yield* answer.text
    // Refused as a whole: as if each had been.
    if (answer.status >= 300) {
      for (const entry of entries) {
        entry.completeUnsafe(Exit.succeed(responseOf(entry.request.request, answer.status, answer.headers, text)))
      }
      return
    }
    const decoded = Option.getOrUndefined(decode(text))
    const answers = new Map(decoded?.responses.map((one) => [one.id, one]))
    for (const [index, entry] of entries.entries()) {
      const { request } = entry.request
      const found = answers.get(String(index))
      const isResponse = found !== undefined && found.status >= 200 && found.status <= 599
      entry.completeUnsafe(
        isResponse
          ? Exit.succeed(
              responseOf(request, found.status, found.headers ?? {}, bodyOf(found.body, found.headers ?? {}))
            )
          : Exit.fail(broken(request, "the answer to the batch has none to this call"))
      )
    }
  })

  let arrived = 0
  /** Ends when no call came for a while; a batch that is full does not wait for it. */
  const gather = Effect.gen(function* () {
    for (let before = -1; before !== arrived;) {
      before = arrived
      yield* Effect.sleep(gatherMillis)
    }
  })
  const resolver = RequestResolver.make<Waiting>(together).pipe(
    RequestResolver.setDelayEffect(gather),
    RequestResolver.batchN(mostParts)
  )

  const collecting = HttpClient.make((request, url) => {
    const json = url.href.startsWith(`${prefix}/`) ? jsonOf(request.body) : Option.none()
    if (Option.isNone(json)) return client.execute(request)
    arrived++
    return Effect.request(new Waiting({ request, url: url.href.slice(prefix.length), json: json.value }), resolver)
  })
  return { ...graph, transport: { ...transport, link: { ...transport.link, client: collecting } } }
}
