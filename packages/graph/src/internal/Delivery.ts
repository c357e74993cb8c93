/**
 * Sends one request until it is answered: attempts, pauses, time limits. It knows nothing of tokens or of what answers mean;
 * the API and the identity provider are both reached through here.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Reasons from "../GraphError.ts"
import { GraphPolicy, type Policy } from "../Policy.ts"
import type { Gate } from "./Gate.ts"

export type Headers = Readonly<Record<string, string | undefined>>

/** An HTTP client, and the gate that its calls pass. */
export interface Link {
  readonly client: HttpClient.HttpClient
  readonly gate: Gate
}

export interface DeliverOptions<A> {
  /** It may be sent again although the service may have acted on it. */
  readonly repeatable: boolean
  /** Each attempt has the time limit of the policy. */
  readonly timed: boolean
  /** Reads an answer below 400, as a part of the attempt: one that breaks off is as good as none. */
  readonly read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, HttpClientError.HttpClientError>
}

/** What came: a good answer as it was read, or a status of 400 and more with its text. */
export type Answer<A> =
  | { readonly _tag: "Good"; readonly status: number; readonly headers: Headers; readonly value: A }
  | { readonly _tag: "Bad"; readonly status: number; readonly headers: Headers; readonly text: string }

/** The answer and how often the request was sent. */
export type Delivered<A> = Answer<A> & { readonly attempts: number }

/** No answer came. */
export interface Undelivered {
  readonly reason: Reasons.Timeout | Reasons.Unreachable | Reasons.InvalidRequest
  readonly attempts: number
}

const unsentCodes = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"])
const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/

const causeCode = (cause: unknown): string | undefined => {
  for (let current = cause, depth = 0; typeof current === "object" && current !== null && depth < 6; depth++) {
    if ("code" in current && typeof current.code === "string") return current.code
    current = "cause" in current ? current.cause : undefined
  }
  return undefined
}

/** `Retry-After` in seconds (whole or not) or as a date; null when it is absent or means nothing. */
export const retryAfterMillis = (headers: Headers, now: number): number | null => {
  const value = headers["retry-after"]?.trim()
  if (value === undefined || value === "") return null
  if (/^\d+(\.\d*)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  // A bare number that is no count of seconds (negative, exponents) would be read as a year.
  const date = /[a-z]/i.test(value) && Number.isNaN(Number(value)) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const throttleStatuses = new Set([429, 503, 509])
const retryStatuses = new Set([408, 429, 500, 502, 503, 504, 509])

/** Whether an answer of this status may be asked for again. A 429 says that nothing was done. */
export const mayRepeat = (status: number, repeatable: boolean, hint: number | null): boolean =>
  repeatable ? retryStatuses.has(status) : status === 429 || (status === 503 && hint !== null)

const transportReason = (error: HttpClientError.HttpClientError): Undelivered["reason"] => {
  const { reason } = error
  if (reason._tag === "EncodeError" || reason._tag === "InvalidUrlError") {
    return new Reasons.InvalidRequest({ codes: [], message: `the request could not be made (${reason._tag})` })
  }
  const code = "cause" in reason ? causeCode(reason.cause) : undefined
  const refused = code !== undefined && certificate.test(code)
  const sent = refused || (reason._tag === "TransportError" && unsentCodes.has(code ?? "")) ? "no" : "maybe"
  const what = refused
    ? "the certificate of this address is not trusted"
    : sent === "no"
      ? "nothing answers at this address"
      : "the connection broke"
  return new Reasons.Unreachable({ codes: [], sent, message: code === undefined ? what : `${what} (${code})` })
}

const isCertificate = (reason: Undelivered["reason"]) => certificate.test(reason.message)

const timeoutReason = (afterMillis: number, what = "") =>
  new Reasons.Timeout({ codes: [], message: `no whole answer within ${afterMillis} ms${what}`, afterMillis })

const attemptOnce = Effect.fnUntraced(function* <A>(
  link: Link,
  request: HttpClientRequest.HttpClientRequest,
  read: DeliverOptions<A>["read"]
): Effect.fn.Return<Answer<A>, HttpClientError.HttpClientError> {
  const response = yield* link.client.execute(request)
  const { headers, status } = response
  if (status < 400) return { _tag: "Good", status, headers, value: yield* read(response) }
  return { _tag: "Bad", status, headers, text: yield* Effect.orElseSucceed(response.text, () => "") }
})

export const ownPause = Effect.fnUntraced(function* (policy: Policy, attempt: number) {
  return (yield* Random.next) * Math.min(policy.capMillis, policy.baseMillis * 2 ** (attempt - 1))
})

/** Near its limit the service says what is left: nothing left is a pause before the 429. */
const pauseWhenSpent = (link: Link, headers: Headers, now: number, policy: Policy) => {
  const reset = Number(headers["ratelimit-reset"] ?? Number.NaN) * 1000
  if (headers["ratelimit-remaining"] !== "0" || !(reset > 0)) return
  link.gate.pauseUntil(now + Math.min(reset, policy.maxRetryAfterMillis))
}

const deliverByPolicy = Effect.fnUntraced(function* <A>(
  link: Link,
  request: HttpClientRequest.HttpClientRequest,
  options: DeliverOptions<A>,
  policy: Policy
): Effect.fn.Return<Delivered<A>, Undelivered> {
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= policy.attempts
    const limit = policy.attemptTimeoutMillis
    yield* link.gate.admit
    const once = Effect.mapError(attemptOnce(link, request, options.read), transportReason)
    const result = yield* Effect.result(
      options.timed
        ? Effect.timeoutOrElse(once, { duration: limit, orElse: () => Effect.fail(timeoutReason(limit)) })
        : once
    )
    if (Result.isFailure(result)) {
      const reason = result.failure
      const unsent = reason._tag === "Unreachable" && reason.sent === "no"
      const final = reason._tag === "InvalidRequest" || isCertificate(reason)
      if (last || final || !(options.repeatable || unsent)) return yield* Effect.fail({ reason, attempts: attempt })
      yield* Effect.sleep(yield* ownPause(policy, attempt))
      continue
    }
    const answer = result.success
    const now = yield* Clock.currentTimeMillis
    pauseWhenSpent(link, answer.headers, now, policy)
    if (answer._tag === "Good") return { ...answer, attempts: attempt }
    const hint = retryAfterMillis(answer.headers, now)
    const tooLong = hint !== null && hint > policy.maxRetryAfterMillis
    const pause = hint ?? (yield* ownPause(policy, attempt))
    if (throttleStatuses.has(answer.status) && !tooLong) link.gate.pauseUntil(now + pause)
    if (last || tooLong || !mayRepeat(answer.status, options.repeatable, hint)) return { ...answer, attempts: attempt }
    yield* Effect.logDebug(`answered ${answer.status}, sent again in ${Math.round(pause)} ms`)
    yield* Effect.sleep(pause)
  }
})

/**
 * Sends a request by the policy in force. Redirects are not followed, and the HTTP client makes no spans: its addresses may
 * be secrets.
 */
export const deliver = Effect.fnUntraced(function* <A>(
  link: Link,
  request: HttpClientRequest.HttpClientRequest,
  options: DeliverOptions<A>
): Effect.fn.Return<Delivered<A>, Undelivered> {
  const policy = yield* GraphPolicy
  const total = policy.totalTimeoutMillis
  const sending = deliverByPolicy(link, request, options, policy).pipe(
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
  )
  if (total === null) return yield* sending
  return yield* Effect.timeoutOrElse(sending, {
    duration: total,
    orElse: () => Effect.fail({ reason: timeoutReason(total, " with all attempts"), attempts: 0 })
  })
})
