/**
 * Sends one logical call: attempts, pauses, and the answer or a tagged error. Everything that talks to a service goes
 * through here.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Reasons from "../ControlRoomError.ts"
import { type Policy, RetryPolicy } from "../Policy.ts"

/** Where calls go and with which credentials. */
export interface Transport {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly client: HttpClient.HttpClient
  /** The value of `Authorization`, null for calls that carry none. */
  readonly authorization: string | null
}

export interface SendOptions {
  /** The request may be sent again although the service may have acted on it. */
  readonly repeatable: boolean
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
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : null
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
      return wrap(new Reasons.Unavailable({ status, message: answer.message }))
    default:
      return wrap(new Reasons.Unexpected({ status, ...answer }))
  }
}

const retryStatuses = new Set([408, 425, 429, 500, 502, 503, 504])
/** The service says that it did not act. */
const refusedStatuses = new Set([425, 429])

const transportReason = (error: HttpClientError.HttpClientError): Reasons.Reason => {
  const reason = error.reason
  if (reason._tag === "TransportError") {
    const code = causeCode(reason.cause)
    const sent = code !== undefined && connectCodes.has(code) ? "no" : "maybe"
    return new Reasons.Unreachable({
      sent,
      message: `${sent === "no" ? "nothing answers at this address" : "the connection broke"}${code === undefined ? "" : ` (${code})`}`
    })
  }
  return new Reasons.Malformed({ message: `the request could not be made (${reason._tag})` })
}

const pause = Effect.fnUntraced(function* (policy: Policy, attempt: number, hint: number | null) {
  const ceiling = Math.min(policy.capMillis, policy.baseMillis * 2 ** (attempt - 1))
  yield* Effect.sleep(hint ?? (yield* Random.next) * ceiling)
})

/** Sends a request by the policy; answers with a status below 400, or fails. */
export const send = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  path: string,
  options: SendOptions
): Effect.fn.Return<HttpClientResponse.HttpClientResponse, Reasons.CallError> {
  const policy = yield* RetryPolicy
  for (let attempt = 1; ; attempt++) {
    const info = (requestId: string | null): Reasons.RequestInfo => ({
      method: request.method,
      path,
      attempts: attempt,
      requestId
    })
    const last = attempt >= policy.attempts
    const result = yield* client.execute(request).pipe(
      Effect.mapError(transportReason),
      Effect.timeoutOrElse({
        duration: policy.attemptTimeoutMillis,
        orElse: () =>
          Effect.fail(
            new Reasons.Timeout({
              message: `no answer within ${policy.attemptTimeoutMillis} ms`,
              afterMillis: policy.attemptTimeoutMillis
            })
          )
      }),
      Effect.result
    )
    if (Result.isFailure(result)) {
      const reason = result.failure
      const unsent = reason._tag === "Unreachable" && reason.sent === "no"
      if (last || reason._tag === "Malformed" || !(options.repeatable || unsent)) {
        return yield* new Reasons.ControlRoomError({ reason, request: info(null) })
      }
      yield* pause(policy, attempt, null)
      continue
    }
    const response = result.success
    if (response.status < 400) return response
    const body = yield* response.json.pipe(Effect.catch(() => Effect.succeed(null)))
    const now = yield* Clock.currentTimeMillis
    const hint = retryAfterMillis(response.headers, now)
    const again = refusedStatuses.has(response.status) || (options.repeatable && retryStatuses.has(response.status))
    if (last || !again || (hint !== null && hint > policy.maxRetryAfterMillis)) {
      const requestId = response.headers["x-request-id"] ?? null
      return yield* statusError(response.status, hint, readError(response.status, body), info(requestId))
    }
    yield* pause(policy, attempt, hint)
  }
})
