/**
 * The tokens of one account, and the shapes in which they are stored.
 */
import type * as Redacted from "effect/Redacted"

export interface Tokens {
  /** Null when only a refresh token is known. */
  readonly accessToken: Redacted.Redacted | null
  /** Null for an app that signs in as itself. */
  readonly refreshToken: Redacted.Redacted | null
  /** When the access token ends, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** What was granted, as the identity provider names it. */
  readonly scopes: ReadonlyArray<string>
}
