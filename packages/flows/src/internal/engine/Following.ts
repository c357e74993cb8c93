/**
 * Callers that wait for something that an execution writes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Engine } from "./Engine.ts"

/** Notifications may be lost, and processes do not notify others of each write. */
const pollMillis = { alone: 5_000, shared: 1_000 }

/**
 * Looks until there is something, when the execution changes and from time to time; returns null when there is nothing after the wait.
 * `look` is told whether the execution may still write: it had not ended before the look.
 */
export const follow = Effect.fnUntraced(function* <A, E, R>(
  { isShared, journal, watch }: Engine["Service"],
  execution: string,
  waitMillis: number,
  look: (isOpen: boolean) => Effect.Effect<A | null, E, R>
) {
  const changed = Latch.makeUnsafe()
  yield* watch((id) => {
    if (id === null || id === execution) changed.openUnsafe()
  })
  const until = (yield* Clock.currentTimeMillis) + waitMillis
  while (true) {
    changed.closeUnsafe()
    const isOpen = (yield* journal.unended([execution])).has(execution)
    const found = yield* look(isOpen)
    if (found !== null) return found
    const left = until - (yield* Clock.currentTimeMillis)
    if (left <= 0) return null
    yield* Effect.timeoutOption(changed.await, Math.min(left, isShared ? pollMillis.shared : pollMillis.alone))
  }
}, Effect.scoped)
