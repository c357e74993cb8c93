/** Idempotency keys: a service that supports them executes a POST once, however often it is sent. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Provides the keys of POSTs. All attempts of a call use the same key. */
export interface IdempotencyKeys {
  readonly next: Effect.Effect<string>
  /** The requested lifetime of each key in seconds; null: the service decides. */
  readonly ttlSeconds: number | null
}

/** Random keys with the service's default lifetime, unless a program uses `withIdempotencyScope`. */
export const IdempotencyKeys = Context.Reference<IdempotencyKeys>("@signalbox/api/IdempotencyKeys", {
  defaultValue: () => ({ next: Effect.sync(() => crypto.randomUUID()), ttlSeconds: null })
})

/** How long the keys of a scope live. */
export interface ScopeOptions {
  /** In whole seconds. Default: that of the surrounding scope; without one, the service decides. */
  readonly ttlSeconds?: number
}

const scoped = <A, E, R>(scope: string, effect: Effect.Effect<A, E, R>, options: ScopeOptions = {}) =>
  Effect.suspend(() => {
    let count = 0
    return Effect.updateService(effect, IdempotencyKeys, (outer) => ({
      next: Effect.sync(() => `${scope}/${++count}`),
      ttlSeconds: options.ttlSeconds ?? outer.ttlSeconds
    }))
  })

/**
 * Runs a part of a program whose POSTs get the keys `scope/1`, `scope/2` and so on, in their order. When that part is
 * repeated with the same scope and sends the same calls, a service that supports keys executes none of them twice.
 *
 * That holds for the lifetime of the keys: 24 hours after the first request with a key, or `ttlSeconds`, in whole
 * seconds up to 604,800 (7 days); a Signalbox service refuses other numbers with a 400. A nested scope has the same
 * lifetime unless it sets `ttlSeconds`. A service may grant less: `ControlRoom.keyLifetime` returns the lifetime that
 * it grants.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import { withIdempotencyScope } from "@signalbox/api/Idempotency"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const once = (process: ProcessId, day: string) =>
 *   withIdempotencyScope(
 *     `orders-${day}`,
 *     WorkItems.create({ process, payload: { day } }),
 *     { ttlSeconds: 3 * 86_400 }
 *   )
 *
 * export const piped = (process: ProcessId, day: string) =>
 *   WorkItems.create({ process, payload: { day } }).pipe(
 *     withIdempotencyScope(`orders-${day}`)
 *   )
 * ```
 */
export function withIdempotencyScope<A, E, R>(
  scope: string,
  effect: Effect.Effect<A, E, R>,
  options?: ScopeOptions
): Effect.Effect<A, E, R>
export function withIdempotencyScope(
  scope: string,
  options?: ScopeOptions
): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
export function withIdempotencyScope<A, E, R>(
  scope: string,
  given?: Effect.Effect<A, E, R> | ScopeOptions,
  options?: ScopeOptions
) {
  if (Effect.isEffect(given)) return scoped(scope, given, options)
  return (effect: Effect.Effect<A, E, R>) => scoped(scope, effect, given)
}
