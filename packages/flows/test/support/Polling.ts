/**
 * How tests wait for executions, on a clock that is real or virtual.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Workflow from "effect/workflow/Workflow"

/** Lets real things happen, whatever the clock. */
export const breathe = Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 2)))

/** Waits until it holds. */
export const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) => (holds ? Effect.void : Effect.andThen(breathe, until(condition))))

export const isSuspended = (result: Option.Option<Workflow.Result<unknown, unknown>>) =>
  Option.isSome(result) && result.value._tag === "Suspended"

export const isComplete = (result: Option.Option<Workflow.Result<unknown, unknown>>) =>
  Option.isSome(result) && result.value._tag === "Complete"

export const exitOf = (result: Option.Option<Workflow.Result<unknown, unknown>>): Exit.Exit<unknown, unknown> =>
  Option.isSome(result) && result.value._tag === "Complete"
    ? result.value.exit
    : Exit.die(new Error("the execution has not ended"))
