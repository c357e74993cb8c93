/**
 * The subscribers to changes in this process. Concurrent changes of one execution are combined.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/**
 * The process that owns the execution, the execution, and whether it has ended; null twice: notifications may have been lost.
 */
export type Change = readonly [process: string | null, execution: string | null, ended: boolean]

export interface Subscriber {
  readonly tell: (change: Change) => void
}

export const missed: Change = [null, null, false]

/** The remote subscription without other processes. */
const nowhere = ({ tell }: Subscriber): Effect.Effect<never> =>
  Effect.suspend(() => {
    tell(missed)
    return Effect.never
  })

export const make = () => {
  const subscribers = new Set<Subscriber>()
  return {
    publish: (change: Change): void => {
      for (const { tell } of subscribers) tell(change)
    },
    /** Runs `onChange` for published changes and those of `remote`, at the start as if notifications had been lost. */
    hear: (
      onChange: (...change: Change) => Effect.Effect<void>,
      remote: (subscriber: Subscriber) => Effect.Effect<never> = nowhere
    ): Effect.Effect<never> =>
      Effect.suspend(() => {
        const pending = new Map<string, Change>()
        const arrived = Latch.makeUnsafe()
        const subscriber: Subscriber = {
          tell: (change) => {
            pending.set(JSON.stringify(change), change)
            arrived.openUnsafe()
          }
        }
        const deliver = Effect.gen(function* () {
          yield* arrived.await
          arrived.closeUnsafe()
          const changes = [...pending.values()]
          pending.clear()
          for (const change of changes) yield* onChange(...change)
        })
        subscribers.add(subscriber)
        return Effect.ensuring(
          Effect.raceFirst(Effect.forever(deliver), remote(subscriber)),
          Effect.sync(() => subscribers.delete(subscriber))
        )
      })
  }
}
