/**
 * Interruption that does not wait for a server that is away.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** Enough for a server that responds to cancel a statement, or to roll a transaction back. */
const patienceMillis = 100

/**
 * Interrupts a fiber, and waits until it has ended, but only briefly: it may wait for a response of the server. It then
 * ends in the background.
 */
export const abandon = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    // In real time, since a virtual clock of tests does not wait for a server.
    const timer = setTimeout(() => resume(Effect.void), patienceMillis)
    fiber.addObserver(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    fiber.interruptUnsafe()
  })

/** Runs an effect in a separate fiber, which is abandoned when this one is interrupted. */
export const promptly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.callback<A, E>((resume) => {
      const fiber = Effect.runForkWith(context)(effect)
      fiber.addObserver(resume)
      return abandon(fiber)
    })
  )
