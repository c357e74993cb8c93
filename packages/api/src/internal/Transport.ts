/**
 * Sends one logical call: attempts, pauses, and the answer or a tagged error. Everything that talks to a service goes
 * through here.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { lifetimeHeader } from "../contract/IdempotencyKeys.ts"
import * as Reasons from "../ControlRoomError.ts"
import { IdempotencyKeys } from "../Idempotency.ts"
import { type Policy, RetryPolicy } from "../Policy.ts"
import type { Connection } from "./Connection.ts"

/** Where calls go and with which credentials. */
export interface Transport {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly connection: Connection
  /** The value of `Authorization`, null for calls that carry none. */
  readonly authorization: string | null
}

export interface SendOptions<A> {
  /** The path for errors, without query. */
  readonly path: string
  /** The request may be sent again although the service may have acted on it. */
  readonly repeatable: boolean
  /** The request is a POST that carries an idempotency key. */
  readonly keyed: boolean
  /** The attempt timeout applies. */
  readonly timed: boolean
  /** Reads the answer, as a part of the attempt: one that breaks off is as good as none. */
  readonly read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, HttpClientError.HttpClientError>
}

/** An answer, and the request behind it. */
export interface Sent<A> {
  readonly value: A
  readonly info: Reasons.RequestInfo
}

const connectCodes = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"])

const causeCode = (cause: unknown): string | undefined => {
  for (let current = cause, depth = 0; typeof current === "object" && current !== null && depth < 6; depth++) {
    if ("code" in current && typeof current.code === "string") return current.code
    current = "cause" in current ? current.cause : undefined
  }
  return undefined
}

/** `Retry-After` in seconds (whole or not) or as a date, or `Retry-After-Ms`; null when absent or unreadable. */
const retryAfterMillis = (headers: Readonly<Record<string, string | undefined>>, now: number): number | null => {
  const ms = Number(headers["retry-after-ms"] ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 0) return ms
  const value = headers["retry-after"]?.trim()
  if (value === undefined || value === "") return null
  const seconds = Number(value)
  if (Number.isFinite(seconds * 1000)) return seconds >= 0 ? seconds * 1000 : null
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Understands `{"error": {code, message}, "message"}`, `{"error": "text"}` and bodies that are no JSON. */
const readError = (status: number, body: unknown): { readonly code: string; readonly message: string } => {
  const fallback = { code: `HTTP_${status}`, message: `the service answered ${status}` }
  if (typeof body !== "object" || body === null) return fallback
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
  const error = "error" in body ? body.error : undefined
  const nested = typeof error === "object" && error !== null ? error : {}
  return {
    code: text("code" in nested ? nested.code : "code" in body ? body.code : undefined) ?? fallback.code,
    message:
      text("message" in nested ? nested.message : undefined) ??
      text("message" in body ? body.message : undefined) ??
      text(error) ??
      fallback.message
  }
}

const statusError = (
  status: number,
  retryAfter: number | null,
  answer: { readonly code: string; readonly message: string },
  request: Reasons.RequestInfo
): Reasons.CallError => {
  const wrap = (reason: Reasons.Reason) => new Reasons.ControlRoomError({ reason, request })
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return new Reasons.InvalidRequest({ ...answer, request })
    case 401:
      return wrap(new Reasons.Unauthorized(answer))
    case 403:
      return wrap(new Reasons.Forbidden(answer))
    case 404:
      return new Reasons.NotFound({ ...answer, request })
    case 409:
      return new Reasons.Conflict({ ...answer, request })
    case 429:
      return wrap(new Reasons.RateLimited({ message: answer.message, retryAfterMillis: retryAfter }))
    case 502:
    case 503:
    case 504:
    case 507:
      return wrap(new Reasons.Unavailable({ status, message: answer.message, retryAfterMillis: retryAfter }))
    default:
      return wrap(new Reasons.Unexpected({ status, ...answer, retryAfterMillis: retryAfter }))
  }
}

const transportReason = (error: HttpClientError.HttpClientError): Reasons.Reason => {
  const { reason } = error
  if (reason._tag === "EncodeError" || reason._tag === "InvalidUrlError") {
    return new Reasons.Malformed({ message: `the request could not be made (${reason._tag})` })
  }
  const code = "cause" in reason ? causeCode(reason.cause) : undefined
  const sent = reason._tag === "TransportError" && code !== undefined && connectCodes.has(code) ? "no" : "maybe"
  const what = sent === "no" ? "nothing answers at this address" : "the connection broke"
  return new Reasons.Unreachable({ sent, message: code === undefined ? what : `${what} (${code})` })
}

const pause = Effect.fnUntraced(function* (policy: Policy, attempt: number, hint: number | null) {
  const ceiling = Math.min(policy.capMillis, policy.baseMillis * 2 ** (attempt - 1))
  yield* Effect.sleep(hint ?? (yield* Random.next) * ceiling)
})

const timeoutError = (afterMillis: number, what: string, request: Reasons.RequestInfo) =>
  new Reasons.ControlRoomError({
    reason: new Reasons.Timeout({
      message: `no whole answer within ${afterMillis} ms${what}`,
      afterMillis,
      waitedFor: "answer"
    }),
    request
  })

type Headers = Readonly<Record<string, string | undefined>>

/** A request as it is sent, at each attempt alike. */
interface Outgoing {
  readonly request: HttpClientRequest.HttpClientRequest
  /** The seconds that it asks for its key to be kept, null if it does not. */
  readonly lifetime: number | null
}

const attemptOnce = Effect.fnUntraced(function* <A>(
  connection: Connection,
  { lifetime, request }: Outgoing,
  read: SendOptions<A>["read"],
  info: (headers: Headers) => Reasons.RequestInfo
): Effect.fn.Return<Sent<A>, Reasons.CallError | HttpClientError.HttpClientError> {
  const number = yield* connection.admit
  const response = yield* connection.client.execute(request)
  const { headers, status } = response
  const now = yield* Clock.currentTimeMillis
  // No key is kept of a request that is refused: its answer is none to what was asked.
  connection.learn(number, headers, now, status < 400 ? lifetime : null)
  if (status < 400) return { value: yield* read(response), info: info(headers) }
  const body = yield* Effect.orElseSucceed(response.json, () => null)
  return yield* statusError(status, retryAfterMillis(headers, now), readError(status, body), info(headers))
})

const outgoing = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest, keyed: boolean) {
  if (!keyed) return { request, lifetime: null }
  const { next, ttlSeconds } = yield* IdempotencyKeys
  const withKey = HttpClientRequest.setHeader(request, "idempotency-key", yield* next)
  return {
    request: ttlSeconds === null ? withKey : HttpClientRequest.setHeader(withKey, lifetimeHeader, String(ttlSeconds)),
    lifetime: ttlSeconds
  }
})

/** Sends a request by the policy; gives what was read of a good answer, or fails. */
const sendByPolicy = Effect.fnUntraced(function* <A>(
  connection: Connection,
  original: HttpClientRequest.HttpClientRequest,
  options: SendOptions<A>
): Effect.fn.Return<Sent<A>, Reasons.CallError> {
  const policy = yield* RetryPolicy
  const keyed = options.keyed && connection.sendsKeys
  const sending: Outgoing = yield* outgoing(original, keyed)
  const { method } = original
  for (let attempt = 1; ; attempt++) {
    const info = (headers: Headers): Reasons.RequestInfo => ({
      method,
      path: options.path,
      attempts: attempt,
      requestId: headers["x-request-id"] ?? null
    })
    const once = Effect.mapError(attemptOnce(connection, sending, options.read, info), (error) =>
      error._tag === "HttpClientError"
        ? new Reasons.ControlRoomError({ reason: transportReason(error), request: info({}) })
        : error
    )
    const limit = policy.attemptTimeoutMillis
    const result = yield* Effect.result(
      options.timed
        ? Effect.timeoutOrElse(once, { duration: limit, orElse: () => Effect.fail(timeoutError(limit, "", info({}))) })
        : once
    )
    if (Result.isSuccess(result)) return result.success
    const error = result.failure
    const retry = Reasons.transient(error)
    const hint = retry?.retryAfterMillis ?? null
    const tooLong = hint !== null && hint > policy.maxRetryAfterMillis
    const limited = error._tag === "ControlRoomError" && error.reason._tag === "RateLimited"
    if (limited && hint !== null && !tooLong) connection.pauseUntil((yield* Clock.currentTimeMillis) + hint)
    // Asked now: the answer may be the first to say that keys are kept.
    const repeatable = options.repeatable || (keyed && connection.keepsKeys()) || retry?.acted === "no"
    if (attempt >= policy.attempts || retry === null || !repeatable || tooLong) return yield* error
    yield* pause(policy, attempt, hint)
  }
})

export const send = Effect.fnUntraced(function* <A>(
  connection: Connection,
  request: HttpClientRequest.HttpClientRequest,
  options: SendOptions<A>
): Effect.fn.Return<Sent<A>, Reasons.CallError> {
  const { totalTimeoutMillis } = yield* RetryPolicy
  const sending = sendByPolicy(connection, request, options)
  if (totalTimeoutMillis === null) return yield* sending
  return yield* Effect.timeoutOrElse(sending, {
    duration: totalTimeoutMillis,
    orElse: () =>
      Effect.fail(
        timeoutError(totalTimeoutMillis, " with all attempts", {
          method: request.method,
          path: options.path,
          attempts: 0,
          requestId: null
        })
      )
  })
})

/** For `read`: the answer itself, whose body the caller streams. */
export const unread = (response: HttpClientResponse.HttpClientResponse) => Effect.succeed(response)
