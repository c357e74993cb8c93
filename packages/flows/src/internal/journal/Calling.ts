/**
 * Calls of a program: how long they wait for a database that is away. The engine itself waits without a limit, since the result of a
 * step must not be lost.
 */
import { promptly } from "@signalbox/sql/Promptly"
import { Sent } from "@signalbox/sql/Sent"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { CallUnanswered } from "../../FlowErrors.ts"

/** How long a call without a limit waits. */
export const defaultPatienceMillis = 30_000

/** How long the current call waits for a database that is away, in milliseconds; null: it is one of the engine. */
export const Patience = Context.Reference<number | null>("@signalbox/flows/Patience", { defaultValue: () => null })

/** Services of code whose calls wait without a limit: flows and their steps, which have limits of their own, and schedules. */
export const unlimited = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.merge(context, Context.make(Patience, Infinity))

/** Runs an effect that outlives the call that starts it. */
export const ofEngine = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(Effect.provideService(Patience, null), Effect.provideService(Sent, null))

/** Runs a call: unless it has a limit, it dies with `CallUnanswered` when the database is away for long. */
export const asCall = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Patience, (given) =>
    given === null
      ? call.pipe(
          Effect.provideService(Patience, defaultPatienceMillis),
          Effect.provideService(Sent, { isSent: false })
        )
      : call
  )

/** Returns a part of a call that may run later: what has passed since now counts as its time, too. */
export const fromNow = <A, E, R>(part: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E, R>> =>
  Effect.sync(() => {
    const begun = performance.now()
    return Effect.updateService(part, Patience, (patience) =>
      patience === null ? null : patience - (performance.now() - begun)
    )
  })

/** What is known of a call that is under way. */
export class Progress {
  readonly sent: Sent = { isSent: false }
  /** The execution that it waits for. */
  execution: string | null = null

  /** Returns the error of a call that its caller does not wait for any longer. */
  unanswered(why: CallUnanswered["why"], afterMillis: number): CallUnanswered {
    const { execution, sent } = this
    return new CallUnanswered({ why, sent: sent.isSent ? "maybe" : "no", execution, afterMillis })
  }
}

/** The progress of the current call with a limit. */
export const CurrentProgress = Context.Reference<Progress | null>("@signalbox/flows/Progress", {
  defaultValue: () => null
})

/** Runs the part of a call that waits for an execution. */
export const waitsFor = <A, E, R>(execution: string, wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentProgress, (progress) => {
    if (progress !== null) progress.execution = execution
    return wait
  })

/** Runs a call whose caller decides how long it waits. */
export const followed = <A, E, R>(call: Effect.Effect<A, E, R>, progress: Progress): Effect.Effect<A, E, R> =>
  promptly(call).pipe(
    Effect.provideService(Patience, Infinity),
    Effect.provideService(Sent, progress.sent),
    Effect.provideService(CurrentProgress, progress)
  )

/** Ends a call after so long. */
export const within = <A, E, R>(
  call: Effect.Effect<A, E, R>,
  limit: Duration.Input,
  progress = new Progress()
): Effect.Effect<A, E | CallUnanswered, R> =>
  Effect.timeoutOrElse(followed(call, progress), {
    duration: limit,
    orElse: () =>
      Effect.suspend(() =>
        Effect.fail(progress.unanswered("limit", Duration.toMillis(Duration.fromInputUnsafe(limit))))
      )
  })
