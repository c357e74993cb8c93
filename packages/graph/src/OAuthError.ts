/**
 * What authorizing and getting tokens can fail with: one `OAuthError` whose `reason` has a tag for each meaning. No error holds
 * a code, a token, a secret or an address that does.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

const answer = {
  message: Schema.String,
  /** What the identity provider calls it, such as `invalid_grant`; null when it did not say. Branch on the tag or on this. */
  error: Schema.NullOr(Schema.String),
  /** The provider's numbers (`AADSTS…`), for people and search engines; they change. */
  numbers: Schema.Array(Schema.Finite),
  correlationId: Schema.NullOr(Schema.String),
  traceId: Schema.NullOr(Schema.String)
}

/** The answer does not belong to the request that was made: start over, and paste the whole address. */
export class StateMismatch extends TaggedError<StateMismatch>()("StateMismatch", answer) {}

/** The user or an administrator said no. */
export class AccessDenied extends TaggedError<AccessDenied>()("AccessDenied", answer) {}

/** The code or the refresh token is expired, used or revoked: authorize again. */
export class InvalidGrant extends TaggedError<InvalidGrant>()("InvalidGrant", answer) {}

/** The app is unknown, its secret is wrong or expired, or it may not do this. */
export class InvalidClient extends TaggedError<InvalidClient>()("InvalidClient", answer) {}

/** A person must do something first: sign in, consent, confirm with a second factor. */
export class InteractionRequired extends TaggedError<InteractionRequired>()("InteractionRequired", answer) {}

/** What was given is wrong: a scope, the redirect URI, the pasted address. */
export class InvalidRequest extends TaggedError<InvalidRequest>()("InvalidRequest", answer) {}

/** Nobody has authorized yet: the store holds no refresh token. */
export class NotAuthorized extends TaggedError<NotAuthorized>()("NotAuthorized", answer) {}

/** Nobody completed the sign-in in time. */
export class Expired extends TaggedError<Expired>()("Expired", answer) {}

/** The identity provider is overloaded or down, after all attempts. */
export class Unavailable extends TaggedError<Unavailable>()("Unavailable", answer) {}

/** The identity provider did not answer, after all attempts. */
export class Unreachable extends TaggedError<Unreachable>()("Unreachable", answer) {}

/** The response is not one of an identity provider. */
export class Malformed extends TaggedError<Malformed>()("Malformed", answer) {}

export const Reason = Schema.Union([
  StateMismatch,
  AccessDenied,
  InvalidGrant,
  InvalidClient,
  InteractionRequired,
  InvalidRequest,
  NotAuthorized,
  Expired,
  Unavailable,
  Unreachable,
  Malformed
])
export type Reason = typeof Reason.Type

/**
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { OAuth } from "@signalbox/graph/OAuth"
 *
 * export const renewed = Effect.flatMap(OAuth, (oauth) => oauth.refresh()).pipe(
 *   Effect.catchReason("OAuthError", "InvalidGrant", () =>
 *     Effect.succeed("authorize again")
 *   )
 * )
 * ```
 */
export class OAuthError extends TaggedError<OAuthError>()("OAuthError", { reason: Reason }) {
  override get message(): string {
    const { correlationId, error, message, traceId } = this.reason
    const facts = [
      ...(error === null ? [] : [error]),
      ...(traceId === null ? [] : [`trace ${traceId}`]),
      ...(correlationId === null ? [] : [`correlation ${correlationId}`])
    ]
    return `${this.reason._tag}: ${message}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`
  }
}

/** What every reason has. */
export interface Details {
  readonly message: string
  readonly error: string | null
  readonly numbers: ReadonlyArray<number>
  readonly correlationId: string | null
  readonly traceId: string | null
}

/** The details of a reason that is not in the identity provider's words. */
export const own = (message: string): Details => ({
  message,
  error: null,
  numbers: [],
  correlationId: null,
  traceId: null
})
