/**
 * What a call can fail with. The meanings that a caller acts on have tags of their own (`NotFound`, `Conflict`,
 * `InvalidRequest`), on the operations that can give them; the rest is one `ControlRoomError` with a tagged reason.
 * No error holds a key, a secret or a payload.
 */
import { actedOn } from "@signalbox/transport/Attempts"
import type { Acted } from "@signalbox/transport/NoAnswer"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"

/** The request behind an error: the path has no query, `attempts` counts what was sent. */
export const RequestInfo = Schema.Struct({
  method: Schema.String,
  path: Schema.String,
  attempts: Schema.Finite,
  /** What the service calls this request in its logs. */
  requestId: Schema.NullOr(Schema.String)
})
export interface RequestInfo extends Schema.Schema.Type<typeof RequestInfo> {}

const answer = { code: Schema.String, message: Schema.String, request: RequestInfo }

/** 404: there is no such resource in the workspace. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", answer) {}

/** 409: the resource is in a state that does not allow this. Nothing was changed. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", answer) {}

/** 400, 413 or 415: the input is invalid, too large or of the wrong type; the message names the field. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", answer) {}

/** 401: no key was sent, or it is malformed. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  code: Schema.String,
  message: Schema.String
}) {}

/** 403: the key is unknown, belongs to another workspace or lacks the permission. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  code: Schema.String,
  message: Schema.String
}) {}

/** `Retry-After` in milliseconds; null if the service did not say, or in an error that was stored before it was kept. */
const retryAfterMillis = Schema.NullOr(Schema.Finite).pipe(
  Schema.withConstructorDefault(Effect.succeed(null)),
  Schema.withDecodingDefaultTypeKey(Effect.succeed(null))
)

/** 429 that outlasted the policy. `retryAfterMillis`: when the service would take a call again, null if it did not say. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  message: Schema.String,
  retryAfterMillis
}) {}

/** 502, 503, 504 or 507 that outlasted the policy. `retryAfterMillis` as in `RateLimited`. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  status: Schema.Finite,
  message: Schema.String,
  retryAfterMillis
}) {}

/**
 * Something did not come within the time it had. `waitedFor: "answer"`: the whole answer to a request, within the policy's
 * time; `"outcome"`: what the caller waits for, such as the end of a run, within the time that the caller gave.
 */
export class Timeout extends Schema.TaggedError<Timeout>()("Timeout", {
  message: Schema.String,
  afterMillis: Schema.Finite,
  // Errors that were stored before this do not say; nothing is repeated for them.
  waitedFor: Schema.Literals(["answer", "outcome"]).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed("outcome")))
}) {}

/** No answer at all. `sent: "no"`: nothing reached the service; `"maybe"`: it may have acted. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  message: Schema.String,
  sent: Schema.Literals(["no", "maybe"])
}) {}

/** The answer is not what the contract says: no JSON, or another shape. */
export class Malformed extends Schema.TaggedError<Malformed>()("Malformed", { message: Schema.String }) {}

/** Any other status. `retryAfterMillis` as in `RateLimited`. */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {
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

/** A call failed for a reason that no caller of this operation is likely to act on by itself. */
export class ControlRoomError extends Schema.TaggedError<ControlRoomError>()("ControlRoomError", {
  reason: Reason,
  request: RequestInfo
}) {
  override get message(): string {
    const { attempts, method, path, requestId } = this.request
    const facts = [
      ...(attempts > 1 ? [`${attempts} attempts`] : []),
      ...(requestId === null ? [] : [`request ${requestId}`])
    ]
    const tail = facts.length === 0 ? "" : ` (${facts.join(", ")})`
    return `${this.reason._tag}: ${this.reason.message}, on ${method} ${path}${tail}`
  }
}

const statusOf = { InvalidRequest: 400, NotFound: 404, Conflict: 409 } as const

/** An answer that the operation does not give by the contract, as what it then is: unexpected. */
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

/** What a call of an endpoint of the contract fails with: the tags of the statuses that it declares, and `ControlRoomError`. */
export type Failure<E extends HttpApiEndpoint.ConstraintRequest> =
  | (HttpApiEndpoint.Error<E>["Type"] extends infer R
      ? R extends { readonly status: infer S }
        ? ErrorOfStatus<S>
        : never
      : never)
  | ControlRoomError

/** Everything that some operation can fail with. */
export type CallError = NotFound | Conflict | InvalidRequest | ControlRoomError

/** How a failure that may pass is to be retried. */
export interface Transient {
  /** How long the service asked to wait; null if it did not say. */
  readonly retryAfterMillis: number | null
  /**
   * `"no"`: the service did not act on the last request that was sent (the only one with `sendOnce`). `"maybe"`: it may have,
   * so repeat only what is safe to repeat, such as a POST under the same key.
   */
  readonly acted: Acted
}

/**
 * Returns how to retry the call when its failure may pass, and null when the same call would fail again. The client retries
 * by the same table; this is for callers that go on retrying after that, or instead of it (`sendOnce` of `Policy`).
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
 *     return Effect.delay(retryUntilAvailable(call), retry.retryAfterMillis ?? 1000)
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
