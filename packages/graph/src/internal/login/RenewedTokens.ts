/**
 * Access tokens that one source gives again and again: renewed shortly before their end or when the service refuses one, by one
 * caller at a time.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import type { AccessTokens } from "../../AccessTokens.ts"
import type { OAuthError } from "../../OAuthError.ts"

/** A token, and when it ends, in milliseconds since 1970. */
export interface Issued {
  readonly token: Redacted.Redacted
  readonly expiresAt: number
}

/** A token this close to its end is renewed before it is used; one that lives shortly, after half of its life. */
const skewMillis = 30_000

export const renewed = Effect.fnUntraced(function* (
  ask: Effect.Effect<Issued, OAuthError>
): Effect.fn.Return<AccessTokens["Service"]> {
  const permit = yield* Semaphore.make(1)
  let known: { readonly token: Redacted.Redacted; readonly until: number } | undefined

  const usable = (refused: Redacted.Redacted | null, now: number) =>
    known !== undefined &&
    known.until > now &&
    (refused === null || Redacted.value(known.token) !== Redacted.value(refused))
      ? known.token
      : undefined

  const renew = Effect.fnUntraced(function* (refused: Redacted.Redacted | null) {
    // A caller that waited here finds the token of the previous renewal.
    const brought = usable(refused, yield* Clock.currentTimeMillis)
    if (brought !== undefined) return brought
    const { expiresAt, token } = yield* ask
    const now = yield* Clock.currentTimeMillis
    const left = expiresAt - now
    known = { token, until: now + Math.max(left - skewMillis, left / 2) }
    return token
  })

  const fresh = Effect.fnUntraced(function* (refused: Redacted.Redacted | null) {
    return usable(refused, yield* Clock.currentTimeMillis) ?? (yield* permit.withPermits(1)(renew(refused)))
  })
  return { current: fresh(null), renew: fresh }
})
