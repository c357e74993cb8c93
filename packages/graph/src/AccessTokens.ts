/**
 * Where calls get their access token from. Replace it to bring tokens of your own.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { OAuthError } from "./OAuthError.ts"
import type { TokenStoreError } from "./TokenStore.ts"

export type TokenError = OAuthError | TokenStoreError

export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    /** A token that is thought to be valid. */
    readonly current: Effect.Effect<Redacted.Redacted, TokenError>
    /** Another token, after the service refused this one. */
    readonly renew: (refused: Redacted.Redacted) => Effect.Effect<Redacted.Redacted, TokenError>
  }
>()("@signalbox/graph/AccessTokens") {
  /** Uses one token that the caller renews; once the service refuses it, calls fail as `Unauthenticated`. */
  static readonly layerFixed = (token: Redacted.Redacted): Layer.Layer<AccessTokens> =>
    Layer.succeed(AccessTokens, { current: Effect.succeed(token), renew: () => Effect.succeed(token) })
}
