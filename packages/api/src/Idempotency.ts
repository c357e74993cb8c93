/**
 * Idempotency keys: a service that keeps them executes a POST once, however often it is sent.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Where the keys of POSTs come from. A call takes one key and keeps it over its attempts. */
export interface IdempotencyKeys {
  readonly next: Effect.Effect<string>
}

/** Random keys, unless a program says otherwise with `withIdempotencyScope`. */
export const IdempotencyKeys = Context.Reference<IdempotencyKeys>("@signalbox/api/IdempotencyKeys", {
  defaultValue: () => ({ next: Effect.sync(() => crypto.randomUUID()) })
})

/**
 * Runs a part of a program whose POSTs get the keys `scope/1`, `scope/2` and so on, in their order. When that part is
 * repeated with the same scope and makes the same calls, a service that keeps keys executes none of them twice.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import { withIdempotencyScope } from "@signalbox/api/Idempotency"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const once = (process: ProcessId, day: string) =>
 *   withIdempotencyScope(`orders-${day}`, WorkItems.create({ process, payload: { day } }))
 * ```
 */
export const withIdempotencyScope = <A, E, R>(scope: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let count = 0
    return Effect.provideService(effect, IdempotencyKeys, { next: Effect.sync(() => `${scope}/${++count}`) })
  })
