/**
 * Subscriptions to the changes of executions.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Called with the id of an execution that changes; null: any may have changed. */
type Watcher = (id: string | null) => void

export const make = () => {
  const watchers = new Set<Watcher>()
  return {
    notify: (id: string | null) => {
      for (const watcher of watchers) watcher(id)
    },
    /** Subscribes while the scope is open. */
    watch: (watcher: Watcher): Effect.Effect<void, never, Scope.Scope> =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => watchers.add(watcher)),
          () => Effect.sync(() => watchers.delete(watcher))
        )
      )
  }
}

export type Watchers = ReturnType<typeof make>
