/**
 * What a body has asked to be undone when its execution fails or is canceled.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { failureOf } from "./Announce.ts"

export interface Undos {
  readonly add: <E, R>(undo: Effect.Effect<unknown, E, R>) => Effect.Effect<void, never, R>
  /** Runs all, the last one first; one that fails does not keep the others from running. */
  readonly run: Effect.Effect<void>
}

export const make = (what: string): Undos => {
  const undos: Array<Effect.Effect<void>> = []
  return {
    add: (undo) =>
      Effect.contextWith((context) =>
        Effect.sync(() => {
          // In a fiber of its own, because timeouts do not work where nothing can be interrupted.
          const inFiber = Effect.flatMap(Effect.forkChild(undo), (fiber) =>
            Effect.onInterrupt(Fiber.await(fiber), () => Fiber.interrupt(fiber))
          )
          const reported = Effect.flatMap(inFiber, (exit) =>
            exit._tag === "Success"
              ? Effect.void
              : Effect.logWarning(`an undo of ${what} did not succeed: ${failureOf(exit.cause).message}`)
          )
          undos.push(Effect.provideContext(reported, context))
        })
      ),
    run: Effect.suspend(() => Effect.forEach(undos.toReversed(), (undo) => undo, { discard: true }))
  }
}
