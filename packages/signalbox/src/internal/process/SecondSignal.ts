/** The second SIGTERM or Ctrl-C of a command that finishes something after the first. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

const signals = ["SIGTERM", "SIGINT"] as const

/** Completes at the second signal since this was called, while the scope is open. */
export const make = Effect.gen(function* () {
  const second = yield* Deferred.make<void>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      let seen = 0
      const listener = () => {
        seen++
        if (seen === 2) Deferred.doneUnsafe(second, Exit.void)
      }
      for (const signal of signals) process.on(signal, listener)
      return listener
    }),
    (listener) =>
      Effect.sync(() => {
        for (const signal of signals) process.removeListener(signal, listener)
      })
  )
  return Deferred.await(second)
})
