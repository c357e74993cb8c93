/**
 * The schedules of this program, so that one can be woken by its name.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

interface Local {
  readonly digest: string
  readonly changed: Latch.Latch
}

export class LocalSchedules extends Context.Service<
  LocalSchedules,
  {
    /** Adds a schedule while the scope is open; null when the name is in use. */
    readonly add: (name: string, digest: string) => Effect.Effect<Latch.Latch | null, never, Scope.Scope>
    /** The digest of this program's definition; null when it defines no such schedule. */
    readonly digestOf: (name: string) => string | null
    /** Wakes a schedule after this program has changed its row. */
    readonly wake: (name: string) => Effect.Effect<void>
  }
>()("@signalbox/flows/LocalSchedules") {
  static readonly layer = Layer.sync(LocalSchedules, () => {
    const all = new Map<string, Local>()
    return LocalSchedules.of({
      add: (name, digest) =>
        Effect.suspend(() => {
          if (all.has(name)) return Effect.succeed(null)
          const changed = Latch.makeUnsafe(true)
          all.set(name, { digest, changed })
          return Effect.as(
            Effect.addFinalizer(() => Effect.sync(() => all.delete(name))),
            changed
          )
        }),
      digestOf: (name) => all.get(name)?.digest ?? null,
      wake: (name) => Effect.sync(() => void all.get(name)?.changed.openUnsafe())
    })
  })
}
