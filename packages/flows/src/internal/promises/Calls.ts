/**
 * Calls of a program on the engine that it has opened: as promises, until it closes.
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import type { FlowEngine } from "../../FlowEngine.ts"
import { FlowsClosed } from "../../FlowErrors.ts"
import * as Calling from "../journal/Calling.ts"

/** How long a call waits, whatever the database does. It then rejects with `CallUnanswered`. */
export interface CallOptions {
  /** Default: 30 seconds for a database that is away, and no limit for the result of an execution. */
  readonly limit?: Duration.Input
  /** Ends the call when it is aborted, such as `request.signal`. */
  readonly abortSignal?: AbortSignal
}

export interface Calls {
  /** Runs a call. `execution` is the one that it waits for, when it is known. */
  readonly call: <A, E>(
    effect: Effect.Effect<A, E, FlowEngine>,
    options?: CallOptions,
    execution?: string | null
  ) => Promise<A>
  /** Ends when the program closes its flows. */
  readonly scope: Scope.Scope
  readonly close: () => Promise<void>
}

/** Opens the engine. Rejects with its error when it cannot be opened. */
export const open = async (engine: Layer.Layer<FlowEngine, unknown>): Promise<Calls> => {
  const runtime = ManagedRuntime.make(engine)
  // Storage that cannot be opened rejects here, not at the first call.
  await runtime.context()
  const scope = Scope.makeUnsafe()
  let isClosed = false
  const call = async <A, E>(
    effect: Effect.Effect<A, E, FlowEngine>,
    { abortSignal, limit }: CallOptions = {},
    execution: string | null = null
  ): Promise<A> => {
    if (isClosed) throw new FlowsClosed({ execution })
    const progress = new Calling.Progress()
    progress.execution = execution
    const begun = performance.now()
    const noted = Effect.provideService(effect, Calling.CurrentProgress, progress)
    const followed: Effect.Effect<A, unknown, FlowEngine> =
      limit === undefined
        ? abortSignal === undefined
          ? noted
          : Calling.followed(noted, progress)
        : Calling.within(noted, limit, progress)
    const exit = await runtime.runPromiseExit(followed, abortSignal === undefined ? undefined : { signal: abortSignal })
    if (Exit.isSuccess(exit)) return exit.value
    if (isClosed && Cause.hasInterruptsOnly(exit.cause)) {
      throw new FlowsClosed({ execution: progress.execution })
    }
    if (abortSignal?.aborted === true && Cause.hasInterruptsOnly(exit.cause)) {
      throw progress.unanswered("aborted", Math.round(performance.now() - begun))
    }
    throw Cause.squash(exit.cause)
  }
  return {
    call,
    scope,
    close: async () => {
      isClosed = true
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await runtime.dispose()
    }
  }
}
