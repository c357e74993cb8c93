/** Sends one logical call, and returns the response or fails with a tagged error. Every call to a service uses it. */
import { deliver } from "@signalbox/transport/Attempts"
import type { NoResponse } from "@signalbox/transport/NoResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Headers from "effect/http/Headers"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { lifetimeHeader } from "../../contract/IdempotencyKeys.ts"
import * as Reasons from "../../ControlRoomError.ts"
import { IdempotencyKeys } from "../../Idempotency.ts"
import { RetryPolicy } from "../../Policy.ts"
import type { Connection } from "./Connection.ts"
import { CurrentCall } from "./CurrentCall.ts"

/** The address of calls, and their credentials. */
export interface Transport {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly connection: Connection
  /** Of all calls, with their credentials. */
  readonly headers: Headers.Headers
}

/** The transport of calls with this value of `Authorization`; null: without one. */
export const transportTo = (baseUrl: string, connection: Connection, authorization: string | null): Transport => {
  const { headers } = connection
  return {
    baseUrl,
    connection,
    headers: authorization === null ? headers : Headers.set(headers, "authorization", authorization)
  }
}

/** The headers of a request to the service, with those of the current call. */
export const headersOf = ({ headers }: Transport): Effect.Effect<Headers.Headers> =>
  Effect.map(CurrentCall, (call) => (call?.headers === undefined ? headers : Headers.setAll(headers, call.headers)))

export interface SendOptions<A> {
  /** The function that was called, for errors and events. */
  readonly operation: string
  /** The path for errors and events, without query. */
  readonly path: string
  /** The request may be sent again although the service may have acted on it. */
  readonly repeatable: boolean
  /** The request is a POST that carries an idempotency key. */
  readonly keyed: boolean
  /** The attempt timeout applies. */
  readonly timed: boolean
  /** Reads the response, as part of the attempt: a response that is cut off counts as none. */
  readonly read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, HttpClientError.HttpClientError>
}

/** A response, and the request behind it. */
export interface Sent<A> {
  readonly value: A
  readonly info: Reasons.RequestInfo
}

/** What an error response says. `code` is made of the status where the service did not say one. */
interface Said {
  readonly code: string
  readonly saidCode: string | null
  readonly message: string
}

/** Parses `{"error": {code, message}, "message"}`, `{"error": "text"}` and bodies that are not JSON. */
const readError = (status: number, body: unknown): Said => {
  const fallback = { code: `HTTP_${status}`, saidCode: null, message: `the service responded with ${status}` }
  if (!Predicate.isObjectOrArray(body)) return fallback
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
  const error = "error" in body ? body.error : undefined
  const nested = Predicate.isObjectOrArray(error) ? error : {}
  const saidCode = text("code" in nested ? nested.code : "code" in body ? body.code : undefined) ?? null
  return {
    code: saidCode ?? fallback.code,
    saidCode,
    message:
      text("message" in nested ? nested.message : undefined) ??
      text("message" in body ? body.message : undefined) ??
      text(error) ??
      fallback.message
  }
}

type Direct = typeof Reasons.InvalidRequest | typeof Reasons.NotFound | typeof Reasons.Conflict

/** Statuses with a separate tag. */
const direct: Readonly<Record<number, Direct>> = {
  400: Reasons.InvalidRequest,
  404: Reasons.NotFound,
  409: Reasons.Conflict,
  413: Reasons.InvalidRequest,
  415: Reasons.InvalidRequest,
  422: Reasons.InvalidRequest
}

const unavailable: ReadonlySet<number> = new Set([502, 503, 504, 507])

const reasonOfStatus = (
  status: number,
  retryAfterMillis: number | null,
  { saidCode, ...answer }: Said
): Reasons.Reason => {
  const { message } = answer
  if (status === 401) return new Reasons.Unauthorized(answer)
  if (status === 403) return new Reasons.Forbidden(answer)
  if (status === 429) return new Reasons.RateLimited({ code: saidCode, message, retryAfterMillis })
  if (unavailable.has(status)) return new Reasons.Unavailable({ status, code: saidCode, message, retryAfterMillis })
  return new Reasons.Unexpected({ status, ...answer, retryAfterMillis })
}

/** The reason for a missing or partial response. */
export const reasonOf = (reason: NoResponse): Reasons.Reason => {
  const { message } = reason
  switch (reason._tag) {
    case "Timeout":
      return new Reasons.Timeout({ message, afterMillis: reason.afterMillis, waitedFor: "answer" })
    case "Unreachable":
      return new Reasons.Unreachable({ message, sent: reason.sent })
    case "Unsendable":
      return new Reasons.Malformed({ message })
  }
}

/** Adds the key of the scope; `lifetime`: the seconds that the request asks for it, null if it does not. */
const withKey = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
  const { next, ttlSeconds } = yield* IdempotencyKeys
  const keyed = HttpClientRequest.setHeader(request, "idempotency-key", yield* next)
  return {
    request: ttlSeconds === null ? keyed : HttpClientRequest.setHeader(keyed, lifetimeHeader, String(ttlSeconds)),
    lifetime: ttlSeconds
  }
})

/** Sends a request by the policy; returns what `read` returned for a response below 400, or fails. */
export const send = Effect.fnUntraced(function* <A>(
  connection: Connection,
  original: HttpClientRequest.HttpClientRequest,
  options: SendOptions<A>
): Effect.fn.Return<Sent<A>, Reasons.CallError> {
  const keyed = options.keyed && connection.sendsKeys
  const { lifetime, request } = keyed ? yield* withKey(original) : { request: original, lifetime: null }
  const { method } = original
  const { operation, path } = options
  const info = (attempts: number, requestId: string | undefined): Reasons.RequestInfo => ({
    operation,
    method,
    path,
    attempts,
    requestId: requestId ?? null
  })
  const call = yield* CurrentCall
  const policy = yield* RetryPolicy
  connection.checkPolicy(policy)
  const answer = yield* deliver(connection.link, policy, request, {
    called: options,
    timed: options.timed,
    read: options.read,
    // Evaluated before each retry: the response may be the first to say that keys are supported.
    repeatable: () => options.repeatable || (keyed && connection.keepsKeys()),
    // The service stores no key of a refused request, so its response does not reflect the lifetime that was asked for.
    onResponse: (status, headers) => connection.learnKeys(headers, status < 400 ? lifetime : null)
  }).pipe(
    Effect.mapError(
      ({ attempts, reason }) =>
        new Reasons.ControlRoomError({ reason: reasonOf(reason), request: info(attempts, undefined) })
    )
  )
  const behind = info(answer.attempts, answer.headers["x-request-id"])
  if (call !== null) {
    const { attempts, requestId } = behind
    Object.assign(call.seen, { status: answer.status, requestId, attempts })
  }
  if (answer._tag === "Good") return { value: answer.value, info: behind }
  const { retryAfterMillis, status, text } = answer
  const body = yield* Effect.orElseSucceed(parseJson(text), () => null)
  const details = readError(status, body)
  const Direct = direct[status]
  if (Direct !== undefined) return yield* new Direct({ ...details, request: behind })
  return yield* new Reasons.ControlRoomError({
    reason: reasonOfStatus(status, retryAfterMillis, details),
    request: behind
  })
})

/** Fails when a text is not JSON. */
const parseJson = (text: string) => Effect.try({ try: (): unknown => JSON.parse(text), catch: () => "not JSON" })

/** For `read`: the response itself, whose body the caller streams. */
export const unread = (response: HttpClientResponse.HttpClientResponse) => Effect.succeed(response)
