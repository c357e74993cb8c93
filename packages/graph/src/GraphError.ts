/**
 * What a call can fail with: one `GraphError` whose `reason` has a tag for each meaning that callers act on. No error holds
 * a token, a secret, a query or a body.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The request behind an error: the path has no query, texts searched for are left out of it. */
export class RequestInfo extends Schema.Opaque<RequestInfo>()(
  Schema.Struct({
    /** The function that was called, such as `Users.get`; null when it is not known, as in an error that an older version stored. */
    operation: Schema.NullOr(Schema.String).pipe(
      Schema.withConstructorDefault(Effect.succeed(null)),
      Schema.withDecodingDefaultTypeKey(Effect.succeed(null))
    ),
    method: Schema.String,
    path: Schema.String,
    /** How often it was sent; 0: it was refused before. */
    attempts: Schema.Finite,
    /** The last status, null when there was no answer. */
    status: Schema.NullOr(Schema.Finite),
    /** What the service calls this request in its logs. */
    requestId: Schema.NullOr(Schema.String),
    /** What this client called it (`client-request-id`). */
    clientRequestId: Schema.NullOr(Schema.String)
  })
) {}

/** `codes`: those of the service, from the general one to the deepest; empty when it gave none. */
const answer = { message: Schema.String, codes: Schema.Array(Schema.String) }

/** 404: there is no such thing, or it may not be seen. */
export class NotFound extends TaggedError<NotFound>()("NotFound", answer) {}

/** 410: it was there; of a delta: start over (`resyncRequired`). */
export class Gone extends TaggedError<Gone>()("Gone", answer) {}

/** 409: an item of this name is there. */
export class NameAlreadyExists extends TaggedError<NameAlreadyExists>()("NameAlreadyExists", answer) {}

/** 409: the state of the resource does not allow this. */
export class Conflict extends TaggedError<Conflict>()("Conflict", answer) {}

/** 412: the resource changed since its `eTag` was read. */
export class PreconditionFailed extends TaggedError<PreconditionFailed>()("PreconditionFailed", answer) {}

/** 423: the resource is locked, for example open in an editor. */
export class Locked extends TaggedError<Locked>()("Locked", answer) {}

/** 416: the range is not there, or was received already. */
export class InvalidRange extends TaggedError<InvalidRange>()("InvalidRange", answer) {}

/** 507: no storage is left. */
export class QuotaExceeded extends TaggedError<QuotaExceeded>()("QuotaExceeded", answer) {}

/** 400, 405, 406, 411, 413, 415, 422; or refused before it was sent. The message names what is wrong. */
export class InvalidRequest extends TaggedError<InvalidRequest>()("InvalidRequest", answer) {}

/** 401 also with a fresh token, or there is no token to be had: the message says what to do. */
export class Unauthenticated extends TaggedError<Unauthenticated>()("Unauthenticated", answer) {}

/** 403: the account or the app lacks a permission. */
export class Forbidden extends TaggedError<Forbidden>()("Forbidden", answer) {}

/** 429 or 509 that outlasted the policy. `retryAfterMillis`: when to come back, null if the service did not say. */
export class Throttled extends TaggedError<Throttled>()("Throttled", {
  ...answer,
  retryAfterMillis: Schema.NullOr(Schema.Finite)
}) {}

/** 500, 502, 503 or 504 that outlasted the policy, or that may not be repeated. */
export class Unavailable extends TaggedError<Unavailable>()("Unavailable", {
  ...answer,
  retryAfterMillis: Schema.NullOr(Schema.Finite)
}) {}

/** No whole answer within the policy's time. */
export class Timeout extends TaggedError<Timeout>()("Timeout", { ...answer, afterMillis: Schema.Finite }) {}

/** No answer at all. `sent: "no"`: nothing reached the service; `"maybe"`: it may have acted. */
export class Unreachable extends TaggedError<Unreachable>()("Unreachable", {
  ...answer,
  sent: Schema.Literals(["no", "maybe"])
}) {}

/** The answer is not what the service documents: no JSON, another shape, a link to another host. */
export class Malformed extends TaggedError<Malformed>()("Malformed", answer) {}

/** 404: the session of a workbook has ended. Changes that it did not save are gone. */
export class SessionLost extends TaggedError<SessionLost>()("SessionLost", answer) {}

/**
 * Of a call in a batch, and of one of a workbook that cannot be repeated: it was sent and no answer came, so the service may have
 * acted. Look whether it did before you send it again.
 */
export class OutcomeUnknown extends TaggedError<OutcomeUnknown>()("OutcomeUnknown", answer) {}

/**
 * Of a call in a batch, or of a mail with large attachments: it was not sent, since what came before it failed. Send it again.
 */
export class NotSent extends TaggedError<NotSent>()("NotSent", answer) {}

/** Any other status. */
export class Unexpected extends TaggedError<Unexpected>()("Unexpected", answer) {}

export const Reason = Schema.Union([
  NotFound,
  Gone,
  NameAlreadyExists,
  Conflict,
  PreconditionFailed,
  Locked,
  InvalidRange,
  QuotaExceeded,
  InvalidRequest,
  Unauthenticated,
  Forbidden,
  Throttled,
  Unavailable,
  Timeout,
  Unreachable,
  Malformed,
  SessionLost,
  OutcomeUnknown,
  NotSent,
  Unexpected
])
export type Reason = typeof Reason.Type

/**
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const find = (id: string) =>
 *   Users.get(id).pipe(
 *     Effect.map(Option.some),
 *     Effect.catchReason("GraphError", "NotFound", () => Effect.succeedNone)
 *   )
 * ```
 */
export class GraphError extends TaggedError<GraphError>()("GraphError", {
  reason: Reason,
  request: RequestInfo
}) {
  /** The deepest code of the service, such as `itemNotFound`; null when it gave none. */
  get code(): string | null {
    return this.reason.codes.at(-1) ?? null
  }

  override get message(): string {
    const { attempts, clientRequestId, method, operation, path, requestId, status } = this.request
    const facts = [
      ...(status === null ? [] : [`status ${status}`]),
      ...(this.code === null ? [] : [this.code]),
      ...(attempts > 1 ? [`${attempts} attempts`] : []),
      ...(requestId === null ? [] : [`request ${requestId}`]),
      ...(clientRequestId === null ? [] : [`client request ${clientRequestId}`])
    ]
    const tail = facts.length === 0 ? "" : ` (${facts.join(", ")})`
    const where = operation === null ? "" : ` in ${operation},`
    return `${this.reason._tag}: ${this.reason.message},${where} on ${method} ${path}${tail}`
  }
}

/** How a failure that may pass is to be retried. */
export interface Transient {
  /** How long the service asked to wait; null if it did not say. */
  readonly retryAfterMillis: number | null
  /** `"no"`: the service did not act on the request. `"maybe"`: it may have, so repeat only what is safe to repeat. */
  readonly acted: "no" | "maybe"
}

/**
 * Returns how to retry the call when its failure may pass, and null when the same call would fail again. The client retries
 * what it may by its policy; this is for callers that go on after that.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { type GraphError, transient } from "@signalbox/graph/GraphError"
 *
 * export const retryUntilAvailable = <A, R>(
 *   read: Effect.Effect<A, GraphError, R>
 * ): Effect.Effect<A, GraphError, R> =>
 *   Effect.catch(read, (error) => {
 *     const retry = transient(error)
 *     if (retry === null) return Effect.fail(error)
 *     return Effect.delay(
 *       retryUntilAvailable(read),
 *       retry.retryAfterMillis ?? 60_000
 *     )
 *   })
 * ```
 */
export const transient = ({ reason, request: { status } }: GraphError): Transient | null => {
  switch (reason._tag) {
    case "Throttled":
    case "Unavailable": {
      const { retryAfterMillis } = reason
      // Without a status there was no token, so nothing was sent. A 503 that says when to come back was refused.
      const refused = status === null || status === 429 || (status === 503 && retryAfterMillis !== null)
      return { retryAfterMillis, acted: refused ? "no" : "maybe" }
    }
    case "Unreachable":
      return { retryAfterMillis: null, acted: reason.sent }
    case "Timeout":
    case "OutcomeUnknown":
      return { retryAfterMillis: null, acted: "maybe" }
    case "NotSent":
      return { retryAfterMillis: null, acted: "no" }
    default:
      return null
  }
}
