/**
 * Idempotency keys: a service that keeps them executes a POST once, however often it is sent.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Where the keys of POSTs come from. A call takes one key and keeps it over its attempts. */
export interface IdempotencyKeys {
  readonly next: Effect.Effect<string>
  /** The seconds for which the service is asked to keep each key; null: it is not asked, and decides. */
  readonly ttlSeconds: number | null
}

/** Random keys of the service's own lifetime, unless a program says otherwise with `withIdempotencyScope`. */
export const IdempotencyKeys = Context.Reference<IdempotencyKeys>("@signalbox/api/IdempotencyKeys", {
  defaultValue: () => ({ next: Effect.sync(() => crypto.randomUUID()), ttlSeconds: null })
})

/**
 * Runs a part of a program whose POSTs get the keys `scope/1`, `scope/2` and so on, in their order. When that part is
 * repeated with the same scope and makes the same calls, a service that keeps keys executes none of them twice.
 *
 * That holds for as long as the service keeps them: 24 hours after the first request with a key, or what `ttlSeconds` asks
 * for, in whole seconds up to 604,800 (7 days); a Signalbox service answers another number with 400. A scope inside of this
 * one asks for the same unless it has a `ttlSeconds` of its own. A service may grant less: `ControlRoom.keyLifetime` says
 * how long it does.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import { withIdempotencyScope } from "@signalbox/api/Idempotency"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const once = (process: ProcessId, day: string) =>
 *   withIdempotencyScope(`orders-${day}`, WorkItems.create({ process, payload: { day } }), { ttlSeconds: 3 * 86_400 })
 * ```
 */
export const withIdempotencyScope = <A, E, R>(
  scope: string,
  effect: Effect.Effect<A, E, R>,
  options?: {
    /** Default: that of the scope around this one; without one, the service decides. */
    readonly ttlSeconds?: number
  }
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let count = 0
    return Effect.updateService(effect, IdempotencyKeys, (outer) => ({
      next: Effect.sync(() => `${scope}/${++count}`),
      ttlSeconds: options?.ttlSeconds ?? outer.ttlSeconds
    }))
  })
