/**
 * Runs an async function as the code of a branch. The fiber of the branch carries out the calls on its context, one at a time; between
 * the result of one call and the next call the branch counts as running.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { FlowDefect } from "../../FlowDefect.ts"
import { FlowCancelled } from "../../FlowErrors.ts"
import { ExecutionId } from "../model/Identity.ts"
import { Position } from "./Position.ts"

/** Asks the branch to run an effect, and resolves to its result. */
export type Ask = <A, E>(effect: Effect.Effect<A, E, never>) => Promise<A>

type Event =
  | {
      readonly _tag: "Asked"
      readonly effect: Effect.Effect<unknown, unknown>
      readonly resolve: (value: unknown) => void
      readonly reject: (error: unknown) => void
    }
  | { readonly _tag: "Returned"; readonly value: unknown }
  | { readonly _tag: "Threw"; readonly error: unknown }

const two = new FlowDefect({
  message:
    "a branch of a flow called a second operation before the first had resolved: await each call, use ctx.all or ctx.forEach " +
    "instead of Promise.all, and in their functions use the context that is passed to them"
})
const late = new FlowDefect({
  message: "a flow called an operation on a context whose function had returned: await every call on it"
})

const channel = (halt: (defect: FlowDefect) => void) => {
  let state: "free" | "asked" | "over" = "free"
  let arrived: Event | null = null
  let take: ((event: Event) => void) | null = null
  const put = (event: Event) => {
    const taken = take
    // The branch may request the next event before this returns.
    take = null
    if (taken === null) arrived = event
    else taken(event)
  }
  const ask: Ask = (effect) => {
    if (state !== "free") {
      const defect = state === "asked" ? two : late
      halt(defect)
      return Promise.reject(defect)
    }
    state = "asked"
    const answer = new Promise<unknown>((resolve, reject) => {
      // Later in this turn, so that a second call of the same turn is refused before the first one begins.
      queueMicrotask(() => put({ _tag: "Asked", effect, resolve, reject }))
    })
    // A cancel may reject it when it has no listener any more.
    answer.catch(() => {})
    // The type of the promise is that of the effect.
    return answer as Promise<never>
  }
  return {
    ask,
    end: (event: Event) => {
      if (state === "asked") return halt(late)
      state = "over"
      put(event)
    },
    answered: () => {
      state = "free"
    },
    next: Effect.callback<Event>((resume) => {
      const event = arrived
      arrived = null
      if (event !== null) return resume(Effect.succeed(event))
      take = (next) => resume(Effect.succeed(next))
      // An interrupted branch takes the next event after it.
      return Effect.sync(() => {
        take = null
      })
    })
  }
}

/** Mistakes in the code of a body: they halt the execution, which a new deployment then continues. */
const isMistake = (error: unknown): boolean =>
  error instanceof FlowDefect ||
  [TypeError, ReferenceError, RangeError, SyntaxError].some((mistake) => error instanceof mistake)

/** Runs the function; fails with what it throws. The signal is aborted when the branch is cancelled. */
export const drive = <A>(run: (ask: Ask, signal: AbortSignal) => PromiseLike<A> | A): Effect.Effect<A, unknown> =>
  // The code of an interrupted branch cannot be stopped: it is told, and the branch ends with it.
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { interpreter } = yield* Position
      const execution = yield* ExecutionId
      const { answered, ask, end, next } = channel(interpreter.halt)
      const controller = new AbortController()
      let isCancelled = false
      const cancelled = () => {
        isCancelled = true
        controller.abort(new FlowCancelled({ execution }))
      }
      Promise.resolve()
        .then(() => run(ask, controller.signal))
        .then(
          (value) => end({ _tag: "Returned", value }),
          (error: unknown) => end({ _tag: "Threw", error })
        )
      for (;;) {
        const taken = yield* isCancelled ? Effect.exit(next) : Effect.exit(restore(next))
        if (Exit.isFailure(taken)) {
          cancelled()
          continue
        }
        const event = taken.value
        // An interrupted branch ends as interrupted, even if its code caught that.
        if (event._tag !== "Asked" && isCancelled) return yield* Effect.interrupt
        // The value comes from the code that `drive` was given, which returns an `A`.
        if (event._tag === "Returned") return event.value as A
        if (event._tag === "Threw") {
          return yield* isMistake(event.error) ? Effect.die(event.error) : Effect.fail(event.error)
        }
        const exit = yield* Effect.exit(restore(event.effect))
        answered()
        if (Exit.isSuccess(exit)) {
          event.resolve(exit.value)
          continue
        }
        const failed = exit.cause.reasons.find(Cause.isFailReason)
        if (failed !== undefined) {
          event.reject(failed.error)
        } else if (Cause.hasInterruptsOnly(exit.cause)) {
          cancelled()
          event.reject(new FlowCancelled({ execution }))
        } else {
          return yield* Effect.failCause(exit.cause)
        }
      }
    })
  )
