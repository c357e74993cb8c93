/**
 * Sends one logical call to the API: token, attempts, redirects, and the answer or a `GraphError`. Everything that talks to
 * the API goes through here.
 */
import type { Link } from "@signalbox/transport/Attempts"
import { defined } from "@signalbox/transport/Defined"
import type { Headers } from "@signalbox/transport/RetryAfter"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Option from "effect/Option"
import { uuidV4Unsafe } from "effect/crypto/SecureRandom"
import type * as HttpBody from "effect/http/HttpBody"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { AccessTokens, TokenError } from "../../AccessTokens.ts"
import * as Reasons from "../../GraphError.ts"
import { bodyOf, reasonOf } from "./Answer.ts"
import { deliver, reasonOfNoResponse } from "./Delivery.ts"
import { operationOf } from "./Operation.ts"

/** Where calls go, and with which token. */
export interface Transport {
  readonly link: Link
  /** The only origin that ever gets the token. */
  readonly origin: string
  /** Undefined in browsers. */
  readonly userAgent: string | undefined
  readonly tokens: AccessTokens["Service"]
}

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface SendOptions<A> {
  readonly method: Method
  readonly url: string
  /** The path for errors and spans. */
  readonly shown: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: HttpBody.HttpBody | undefined
  /** It may be sent again although the service may have acted. Default: all but POST, and PATCH without `If-Match`. */
  readonly repeatable?: boolean | undefined
  /** Each attempt has the time limit of the policy. Default true. */
  readonly timed?: boolean | undefined
  /** `false`: a redirect is an answer like others, for `read`. */
  readonly follow?: boolean | undefined
  /** `false`: the address gives access by itself; no token goes there, whichever host it is on. */
  readonly authorize?: boolean | undefined
  readonly read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, HttpClientError.HttpClientError>
}

/** An answer, and the request behind it. */
export interface Sent<A> {
  readonly value: A
  readonly status: number
  readonly headers: Headers
  readonly request: Reasons.RequestInfo
}

const maxRedirects = 5
const redirects = new Set([301, 302, 303, 307, 308])

export const isRepeatable = (method: Method, headers: Headers): boolean =>
  method === "PATCH" ? Object.keys(headers).some((name) => name.toLowerCase() === "if-match") : method !== "POST"

/** Why there is no token, as a reason of the call. */
const tokenReason = (error: TokenError): Reasons.Reason => {
  if (error._tag === "TokenStoreError") return new Reasons.Unauthenticated({ codes: [], message: error.message })
  const { reason } = error
  const codes = reason.error === null ? [] : [reason.error]
  const message = `no access token: ${reason.message}`
  if (reason._tag === "Unavailable") return new Reasons.Unavailable({ codes, message, retryAfterMillis: null })
  if (reason._tag === "Unreachable") return new Reasons.Unreachable({ codes, message, sent: "no" })
  return new Reasons.Unauthenticated({ codes, message })
}

const malformed = (message: string) => new Reasons.Malformed({ codes: [], message })

/** Where a redirect leads, or why it may not be followed. */
const redirectTarget = (from: URL, location: string | undefined): URL | Reasons.Malformed => {
  const to = location === undefined || !URL.canParse(location, from) ? undefined : new URL(location, from)
  if (to === undefined) return malformed("a redirect without a usable address")
  if (to.protocol !== "https:" && !(to.protocol === "http:" && from.protocol === "http:")) {
    return malformed("a redirect to an address that is not encrypted")
  }
  return to
}

const clientRequestIdOf = (headers: Headers): string => headers["client-request-id"] ?? uuidV4Unsafe()

const sendUntraced = Effect.fnUntraced(function* <A>(
  transport: Transport,
  operation: string | null,
  options: SendOptions<A>
): Effect.fn.Return<Sent<A>, Reasons.GraphError> {
  const clientRequestId = clientRequestIdOf(options.headers ?? {})
  let { body, method } = options
  let attempts = 0
  const info = (status: number | null, headers: Headers): Reasons.RequestInfo => ({
    operation,
    method: options.method,
    path: options.shown,
    attempts,
    status,
    requestId: headers["request-id"] ?? null,
    clientRequestId
  })
  const fail = (reason: Reasons.Reason, status: number | null = null, headers: Headers = {}) =>
    new Reasons.GraphError({ reason, request: info(status, headers) })
  const noToken = (error: TokenError) => fail(tokenReason(error))

  if (!URL.canParse(options.url)) {
    return yield* fail(new Reasons.InvalidRequest({ codes: [], message: "the address is not a URL" }))
  }
  let url = new URL(options.url)
  // The text as it was given: what the service made of its links must go back byte for byte.
  let address = options.url
  let token: Redacted.Redacted | undefined
  let renewed = false
  for (let hops = 0; ;) {
    const authorized = options.authorize !== false && url.origin === transport.origin
    if (authorized) token ??= yield* Effect.mapError(transport.tokens.current, noToken)
    const request = HttpClientRequest.make(method)(address, {
      headers: {
        "client-request-id": clientRequestId,
        ...defined({ "user-agent": transport.userAgent }),
        ...options.headers,
        ...defined({ authorization: authorized && token !== undefined ? `Bearer ${Redacted.value(token)}` : undefined })
      },
      body
    })
    const isRedirect = (status: number) => options.follow !== false && redirects.has(status)
    const answer = yield* deliver(transport.link, request, {
      called: { operation: operation ?? "request", path: options.shown },
      repeatable: options.repeatable ?? isRepeatable(method, options.headers ?? {}),
      timed: options.timed ?? true,
      read: (response) =>
        isRedirect(response.status)
          ? Effect.as(Effect.ignore(response.text), Option.none<A>())
          : Effect.asSome(options.read(response))
    }).pipe(
      Effect.mapError((failed) => {
        attempts += failed.attempts
        return fail(reasonOfNoResponse(failed.reason))
      })
    )
    attempts += answer.attempts
    const { headers, status } = answer
    if (answer._tag === "Bad") {
      if (status === 401 && authorized && token !== undefined && !renewed) {
        renewed = true
        token = yield* Effect.mapError(transport.tokens.renew(token), noToken)
        continue
      }
      return yield* fail(
        reasonOf(status, headers, bodyOf(answer.text), yield* Clock.currentTimeMillis),
        status,
        headers
      )
    }
    if (Option.isSome(answer.value))
      return { value: answer.value.value, status, headers, request: info(status, headers) }
    const target = redirectTarget(url, headers["location"])
    if (!(target instanceof URL)) return yield* fail(target, status, headers)
    if (++hops > maxRedirects) return yield* fail(malformed(`more than ${maxRedirects} redirects`), status, headers)
    // As browsers do: only 307 and 308 keep the method and the body.
    if (method !== "HEAD" && method !== "GET" && status !== 307 && status !== 308) {
      method = "GET"
      body = undefined
    }
    url = target
    address = target.href
  }
})

/** `send` in a separate span, with the attributes that an error would have. */
export const send = <A>(transport: Transport, options: SendOptions<A>): Effect.Effect<Sent<A>, Reasons.GraphError> =>
  Effect.flatMap(operationOf(null), (operation) => sendIn(transport, operation, options))

const sendIn = <A>(
  transport: Transport,
  operation: string | null,
  options: SendOptions<A>
): Effect.Effect<Sent<A>, Reasons.GraphError> =>
  Effect.useSpan(
    `graph ${options.method}`,
    { kind: "client", attributes: { "http.request.method": options.method, "url.path": options.shown } },
    (span) => {
      const note = (request: Reasons.RequestInfo) => {
        if (request.status !== null) span.attribute("http.response.status_code", request.status)
        if (request.requestId !== null) span.attribute("graph.request_id", request.requestId)
        span.attribute("graph.client_request_id", request.clientRequestId)
        span.attribute("http.request.resend_count", Math.max(0, request.attempts - 1))
      }
      return sendUntraced(transport, operation, options).pipe(
        Effect.tap((sent) => Effect.sync(() => note(sent.request))),
        Effect.tapError((error) => Effect.sync(() => note(error.request)))
      )
    }
  )

/** How errors show an address that is not made from a path: without its query, and only the host of another one. */
export const shownAddress = (origin: string, url: string): string => {
  if (!URL.canParse(url)) return "an address that is not a URL"
  const parsed = new URL(url)
  if (parsed.origin !== origin) return `${parsed.origin}/…`
  return parsed.pathname.replace(/\((\w+=)?('|%27).*?('|%27)\)/g, (_, name: string | undefined) => `(${name ?? ""}'…')`)
}

/** For `read`: the answer itself, whose body the caller streams. */
export const unread = (response: HttpClientResponse.HttpClientResponse) => Effect.succeed(response)

/** For `read`: the body as text. */
export const asText = (response: HttpClientResponse.HttpClientResponse) => response.text

/** For `read`: nothing; the body is received, so that the connection is free again. */
export const asNothing = (response: HttpClientResponse.HttpClientResponse) => Effect.asVoid(response.text)

/** For `read`: the body as bytes. */
export const asBytes = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))
