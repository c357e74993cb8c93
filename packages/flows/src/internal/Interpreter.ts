/**
 * The seam between bodies of flows and whatever runs them. A body reaches its interpreter through `Position`; the
 * identity of a step is its path.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { FlowContext, RequirementOf } from "../FlowContext.ts"
import { FlowDefect } from "../FlowDefect.ts"
import type { Codec } from "./Journal.ts"

/** How a failed step is repeated, worked out from its options. */
export interface Retry<E> {
  readonly attempts: number
  readonly again: (error: E) => boolean
  /** The pause after the attempt of this number, in milliseconds. */
  readonly delayMillis: (attempt: number) => number
}

/** One call of a step or of a sub-flow: all that an interpreter needs to run it, or to leave it out. */
export interface Call<S extends Codec, E extends Codec, R> {
  readonly path: string
  readonly name: string
  readonly success: S
  readonly error: E
  /** One attempt. */
  readonly execute: Effect.Effect<S["Type"], E["Type"], R>
}

export interface StepCall<S extends Codec, E extends Codec, R> extends Call<S, E, R> {
  readonly retry: Retry<E["Type"]>
}

export interface Interpreter {
  /** Takes a path; dies when it is taken. */
  readonly claim: (path: string) => Effect.Effect<void>
  readonly step: <S extends Codec, E extends Codec, R>(
    call: StepCall<S, E, R>
  ) => Effect.Effect<S["Type"], E["Type"], R>
  readonly flow: <S extends Codec, E extends Codec, R>(call: Call<S, E, R>) => Effect.Effect<S["Type"], E["Type"], R>
  readonly sleep: (call: {
    readonly path: string
    readonly name: string
    readonly duration: Duration.Duration
  }) => Effect.Effect<void>
}

const outside = () =>
  Effect.die(
    new FlowDefect({
      message:
        "a step was called outside the body of a flow: call it in the run of Flow.make and run the flow with Flow.run. " +
        "In the run of a step, call plain functions, no other steps"
    })
  )

/** Where in a flow the running code is: its interpreter, and the path that the next segment is appended to. */
export interface Position {
  readonly interpreter: Interpreter
  readonly prefix: string
}

/** Not in a flow, or inside a step of one. */
export const outsideFlow: Position = {
  interpreter: { claim: outside, step: outside, flow: outside, sleep: outside },
  prefix: ""
}

export const Position = Context.Reference<Position>("@signalbox/flows/Position", { defaultValue: () => outsideFlow })

/** Runs an effect at another position. */
export const at = (position: Position) => Effect.updateService(Position, () => position)

/** A segment of a path: `name`, or `name[key]`. No two pairs of name and key give the same segment. */
export const segment = (name: string, key?: string): string =>
  key === undefined ? name : `${name}[${key.replace(/[\\\]]/g, "\\$&")}]`

/** Takes the path of `name` and `key` at this position, and hands it to `use` with the interpreter. */
export const claimed = <A, E, R>(
  name: string,
  key: string | undefined,
  use: (path: string, interpreter: Interpreter) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Position, ({ interpreter, prefix }) => {
    if (name === "" || /[/[\]]/.test(name)) {
      return Effect.die(
        new FlowDefect({
          message: `"${name}" cannot be part of a path: a name is not empty and has no "/", "[" or "]". What varies goes into the key`
        })
      )
    }
    const path = prefix + segment(name, key)
    return Effect.andThen(interpreter.claim(path), use(path, interpreter))
  })

/**
 * Puts the phantom in the place of the real requirement. The one place, with `reveal`, where types are asserted: a
 * generator can be stopped from using services only by a requirement that is no service, and the fiber that runs the
 * body has the real ones all the time.
 */
export const conceal = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect as Effect.Effect<A, E, FlowContext<R>>

/** The reverse of `conceal`, for a whole body. */
export const reveal = <A, E, Context extends FlowContext<unknown>>(effect: Effect.Effect<A, E, Context>) =>
  effect as Effect.Effect<A, E, RequirementOf<Context>>

/** A span around an effect. `Effect.withSpan` changes the requirement, and no generic `R` fits after that. */
export const inSpan = <A, E, R>(
  name: string,
  attributes: Readonly<Record<string, unknown>>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const traced = Effect.fn(name, { attributes: { ...attributes } })(() => effect)
  return traced()
}
