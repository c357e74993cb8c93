/**
 * The failures of calls. Those that callers handle have separate tags (`NotFound`, `Conflict`, `InvalidRequest`), on
 * the operations that declare them; the rest is one `ControlRoomError` with a tagged reason. No error contains a key, a
 * secret or a payload.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { actedOn } from "@signalbox/transport/Attempts"
import type { Acted } from "@signalbox/transport/NoResponse"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"

/** The request behind an error: the path has no query, `attempts` counts the attempts that were sent. */
export const RequestInfo = Schema.Struct({
  /** The function that was called, such as `WorkItems.create`; null in an error that was stored by an older version. */
  operation: Schema.NullOr(Schema.String).pipe(
    Schema.withConstructorDefault(Effect.succeed(null)),
    Schema.withDecodingDefaultTypeKey(Effect.succeed(null))
  ),
  method: Schema.String,
  path: Schema.String,
  attempts: Schema.Finite,
  /** The id of this request in the logs of the service. */
  requestId: Schema.NullOr(Schema.String)
})
export interface RequestInfo extends Schema.Schema.Type<typeof RequestInfo> {}

const answer = { code: Schema.String, message: Schema.String, request: RequestInfo }

/** 404: the resource does not exist in the workspace. */
export class NotFound extends TaggedError<NotFound>()("NotFound", answer) {}

/** 409: the state of the resource does not allow this. Nothing was changed. */
export class Conflict extends TaggedError<Conflict>()("Conflict", answer) {}

/** 400, 413 or 415: the input is invalid, too large or of the wrong type; the message names the field. */
export class InvalidRequest extends TaggedError<InvalidRequest>()("InvalidRequest", answer) {}

/** 401: no key was sent, or it is malformed. */
export class Unauthorized extends TaggedError<Unauthorized>()("Unauthorized", {
  code: Schema.String,
  message: Schema.String
}) {}

/** 403: the key is unknown, belongs to another workspace or lacks the permission. */
export class Forbidden extends TaggedError<Forbidden>()("Forbidden", {
  code: Schema.String,
  message: Schema.String
}) {}

/**
 * `Retry-After` in milliseconds; null if the service did not send it, or in an error that was stored by an older
 * version.
 */
const retryAfterMillis = Schema.NullOr(Schema.Finite).pipe(
  Schema.withConstructorDefault(Effect.succeed(null)),
  Schema.withDecodingDefaultTypeKey(Effect.succeed(null))
)

/** What the service calls the failure; null if it did not say, or in an error that was stored by an older version. */
const saidCode = Schema.NullOr(Schema.String).pipe(
  Schema.withConstructorDefault(Effect.succeed(null)),
  Schema.withDecodingDefaultTypeKey(Effect.succeed(null))
)

/**
 * 429 after the last attempt. `retryAfterMillis`: when the service will accept a call again, null if it did not say. `code`: what the
 * service calls it, such as `RATE_LIMITED`, null if it did not say.
 */
export class RateLimited extends TaggedError<RateLimited>()("RateLimited", {
  code: saidCode,
  message: Schema.String,
  retryAfterMillis
}) {}

/** 502, 503, 504 or 507 after the last attempt. `retryAfterMillis` and `code` as in `RateLimited`. */
export class Unavailable extends TaggedError<Unavailable>()("Unavailable", {
  status: Schema.Finite,
  code: saidCode,
  message: Schema.String,
  retryAfterMillis
}) {}

/**
 * A time limit was exceeded. `waitedFor: "answer"`: the whole response to a request, within the time of the policy;
 * `"outcome"`: an outcome such as the end of a run, within the time that the caller gave.
 */
export class Timeout extends TaggedError<Timeout>()("Timeout", {
  message: Schema.String,
  afterMillis: Schema.Finite,
  // Errors stored by older versions lack this; nothing is retried for them.
  waitedFor: Schema.Literals(["answer", "outcome"]).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed("outcome")))
}) {}

/** No response. `sent: "no"`: nothing reached the service; `"maybe"`: it may have acted. */
export class Unreachable extends TaggedError<Unreachable>()("Unreachable", {
  message: Schema.String,
  sent: Schema.Literals(["no", "maybe"])
}) {}

/** The response does not match the contract: not JSON, or another shape. */
export class Malformed extends TaggedError<Malformed>()("Malformed", { message: Schema.String }) {}

/** Any other status. `retryAfterMillis` as in `RateLimited`. */
export class Unexpected extends TaggedError<Unexpected>()("Unexpected", {
  status: Schema.Finite,
  code: Schema.String,
  message: Schema.String,
  retryAfterMillis
}) {}

export const Reason = Schema.Union([
  Unauthorized,
  Forbidden,
  RateLimited,
  Unavailable,
  Timeout,
  Unreachable,
  Malformed,
  Unexpected
])
export type Reason = typeof Reason.Type

/** A call failed for a reason that callers rarely handle by itself. */
export class ControlRoomError extends TaggedError<ControlRoomError>()("ControlRoomError", {
  reason: Reason,
  request: RequestInfo
}) {
  override get message(): string {
    const { attempts, method, operation, path, requestId } = this.request
    const facts = [
      ...(attempts > 1 ? [`${attempts} attempts`] : []),
      ...(requestId === null ? [] : [`request ${requestId}`])
    ]
    const tail = facts.length === 0 ? "" : ` (${facts.join(", ")})`
    const where = operation === null ? "" : ` in ${operation},`
    return `${this.reason._tag}: ${this.reason.message},${where} on ${method} ${path}${tail}`
  }
}

const statusOf = { InvalidRequest: 400, NotFound: 404, Conflict: 409 } as const

/** A response that the operation does not declare, as an unexpected one. */
export const unexpected = (error: NotFound | Conflict | InvalidRequest): ControlRoomError =>
  new ControlRoomError({
    reason: new Unexpected({ status: statusOf[error._tag], code: error.code, message: error.message }),
    request: error.request
  })

type ErrorOfStatus<S> = S extends 404
  ? NotFound
  : S extends 409
    ? Conflict
    : S extends 400 | 413
      ? InvalidRequest
      : never

/** The failures of a call whose operation declares these responses: the tags of their statuses, and `ControlRoomError`. */
export type FailureOf<Response> =
  | (Response extends { readonly status: infer S } ? ErrorOfStatus<S> : never)
  | ControlRoomError

/** The failures of a call of an endpoint: the tags of the statuses that it declares, and `ControlRoomError`. */
export type Failure<E extends HttpApiEndpoint.ConstraintRequest> = FailureOf<HttpApiEndpoint.Error<E>["Type"]>

/** The failures of all operations. */
export type CallError = NotFound | Conflict | InvalidRequest | ControlRoomError

/** How to retry a transient failure. */
export interface Transient {
  /** The wait that the service asked for; null if it did not say. */
  readonly retryAfterMillis: number | null
  /**
   * `"no"`: the service did not act on the last request that was sent (the only one with `sendOnce`). `"maybe"`: it may
   * have, so repeat only what is safe to repeat, such as a POST under the same key.
   */
  readonly acted: Acted
}

/**
 * Returns how to retry a call after a transient failure, and null when the same call would fail again. The client
 * retries by the same table; this is for callers that continue to retry after that, or instead of it (`sendOnce` of
 * `Policy`).
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { type CallError, transient } from "@signalbox/api/ControlRoomError"
 *
 * export const retryUntilAvailable = <A, E extends CallError, R>(
 *   call: Effect.Effect<A, E, R>
 * ): Effect.Effect<A, E, R> =>
 *   Effect.catch(call, (error) => {
 *     const retry = transient(error)
 *     if (retry === null) return Effect.fail(error)
 *     return Effect.delay(
 *       retryUntilAvailable(call),
 *       retry.retryAfterMillis ?? 1000
 *     )
 *   })
 * ```
 */
export const transient = (error: CallError): Transient | null => {
  if (error._tag !== "ControlRoomError") return null
  const { reason } = error
  switch (reason._tag) {
    case "RateLimited":
      return { retryAfterMillis: reason.retryAfterMillis, acted: "no" }
    case "Unavailable":
    case "Unexpected": {
      const acted = actedOn(reason.status)
      return acted === null ? null : { retryAfterMillis: reason.retryAfterMillis, acted }
    }
    case "Unreachable":
      return { retryAfterMillis: null, acted: reason.sent }
    case "Timeout":
      return reason.waitedFor === "answer" ? { retryAfterMillis: null, acted: "maybe" } : null
    case "Unauthorized":
    case "Forbidden":
    case "Malformed":
      return null
  }
}
