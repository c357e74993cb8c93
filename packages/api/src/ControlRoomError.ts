/**
 * What a call can fail with. The meanings that a caller acts on have tags of their own (`NotFound`, `Conflict`,
 * `InvalidRequest`), on the operations that can give them; the rest is one `ControlRoomError` with a tagged reason.
 * No error holds a key, a secret or a payload.
 */
import * as Schema from "effect/Schema"

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

/** 429 that outlasted the policy. `retryAfterMillis`: when the service would take a call again, null if it did not say. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  message: Schema.String,
  retryAfterMillis: Schema.NullOr(Schema.Finite)
}) {}

/** 502, 503, 504 or 507 that outlasted the policy. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  status: Schema.Finite,
  message: Schema.String
}) {}

/** No whole answer within the policy's time. */
export class Timeout extends Schema.TaggedError<Timeout>()("Timeout", {
  message: Schema.String,
  afterMillis: Schema.Finite
}) {}

/** No answer at all. `sent: "no"`: nothing reached the service; `"maybe"`: it may have acted. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  message: Schema.String,
  sent: Schema.Literals(["no", "maybe"])
}) {}

/** The answer is not what the contract says: no JSON, or another shape. */
export class Malformed extends Schema.TaggedError<Malformed>()("Malformed", { message: Schema.String }) {}

/** Any other status. */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {
  status: Schema.Finite,
  code: Schema.String,
  message: Schema.String
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

/** Everything that some operation can fail with. */
export type CallError = NotFound | Conflict | InvalidRequest | ControlRoomError
