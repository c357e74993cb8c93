/**
 * Who hears of changes in this process. Changes of one execution that come together are told of once.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/**
 * The process that owns the execution, the execution, and whether it has ended; null twice: changes may have been missed.
 */
export type Change = readonly [process: string | null, execution: string | null, ended: boolean]

export interface Subscriber {
  readonly tell: (change: Change) => void
}

export const missed: Change = [null, null, false]

/** Where there are no other processes. */
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
    /** Runs `onChange` for what is published and for what `remote` tells the subscriber of, beginning with what was missed. */
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
