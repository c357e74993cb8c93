/**
 * The seam between bodies of flows and whatever runs them. A body reaches its interpreter through `Position`; the
 * identity of a step is its path.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import type { FlowContext, RequirementOf } from "../FlowContext.ts"
import { FlowDefect } from "../FlowDefect.ts"
import type { Codec } from "./Values.ts"

/** How a failed step is repeated, worked out from its options. */
export interface Retry<E> {
  readonly attempts: number
  readonly again: (error: E) => boolean
  /** The pause after the attempt of this number, in milliseconds. */
  readonly delayMillis: (attempt: number) => number
}

/** No retry. */
export const once: Retry<unknown> = { attempts: 1, again: () => false, delayMillis: () => 0 }

/** Where a step or a member of a race is. */
export interface Place {
  readonly path: string
  readonly name: string
}

/** One call of a step or of a sub-flow: all that an interpreter needs to run it, or to leave it out. */
export interface Call<S extends Codec, E extends Codec, R> extends Place {
  /** The input by its schema, null when it has none. */
  readonly input: Schema.Json
  readonly success: S
  readonly error: E
  /** One attempt. */
  readonly execute: Effect.Effect<S["Type"], E["Type"], R>
}

export interface StepCall<S extends Codec, E extends Codec, R> extends Call<S, E, R> {
  readonly retry: Retry<E["Type"]>
  /** What must have happened outside before the step has something to do. `execute` can wait for it too, by polling. */
  readonly awaits?: Awaited
}

/** Something outside that a step waits for. */
export interface Awaited {
  /** The id of a run. */
  readonly run: string
  /** After this the step runs anyway. */
  readonly timeoutMillis: number | null
}

/** The members of a race, and what each is called in paths. */
export type Contenders<A, E, R> = ReadonlyArray<readonly [key: string, member: Effect.Effect<A, E, R>]>

export interface Interpreter {
  /** Takes a path; dies when it is taken. */
  readonly claim: (path: string) => Effect.Effect<void>
  readonly step: <S extends Codec, E extends Codec, R>(
    call: StepCall<S, E, R>
  ) => Effect.Effect<S["Type"], E["Type"], R>
  readonly flow: <S extends Codec, E extends Codec, R>(call: Call<S, E, R>) => Effect.Effect<S["Type"], E["Type"], R>
  readonly sleep: (place: Place, millis: number) => Effect.Effect<void>
  /** Waits like `sleep`, without being a step. */
  readonly pause: (path: string, millis: number) => Effect.Effect<void>
  readonly signal: <S extends Codec>(place: Place, schema: S) => Effect.Effect<S["Type"]>
  /** Goes on with the member that ends first, well or not, and interrupts the others. */
  readonly race: <A, E, R>(place: Place, members: Contenders<A, E, R>) => Effect.Effect<A, E, R>
  /** Around the members of a `forEach` or `all`, of which one that fails interrupts the others. */
  readonly branches: <A, E, R>(path: string, members: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Keeps what to do when the execution fails or is canceled. */
  readonly addUndo: <E, R>(undo: Effect.Effect<unknown, E, R>) => Effect.Effect<void, never, R>
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
  interpreter: {
    claim: outside,
    step: outside,
    flow: outside,
    sleep: outside,
    pause: outside,
    signal: outside,
    race: outside,
    branches: outside,
    addUndo: outside
  },
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

/** Runs an effect below `name[key]`. */
export const inside = <A, E, R>(name: string, key: string, effect: Effect.Effect<A, E, R>) =>
  claimed(name, key, (path, interpreter) => at({ interpreter, prefix: `${path}/` })(effect))

/** What tells whether a path is taken, for one execution. */
export const makeClaim = (): Interpreter["claim"] => {
  const taken = new Set<string>()
  return (path) =>
    Effect.suspend(() => {
      if (taken.has(path)) {
        return Effect.die(
          new FlowDefect({
            message:
              `the path ${path} is used twice in this execution: give it a key, such as step(input, { key }), ` +
              "or another name. To repeat a step that failed, use its option retry"
          })
        )
      }
      taken.add(path)
      return Effect.void
    })
}

/**
 * Puts the phantom in the place of the real requirement. The one place, with `reveal`, where types are asserted: a
 * generator can be stopped from using services only by a requirement that is no service, and the fiber that runs the
 * body has the real ones all the time.
 */
export const conceal = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect as Effect.Effect<A, E, FlowContext<R>>

/** The reverse of `conceal`, for a whole body. */
export const reveal = <A, E, Context extends FlowContext<unknown>>(effect: Effect.Effect<A, E, Context>) =>
  effect as Effect.Effect<A, E, RequirementOf<Context>>

/**
 * A span around an effect. `Effect.withSpan` changes the requirement, and no generic `R` fits after that; `Effect.fn` takes
 * two stack traces for each call.
 */
export const inSpan = <A, E, R>(
  name: string,
  attributes: Readonly<Record<string, unknown>>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.useSpan(name, { attributes: { ...attributes } }, (span) =>
    Effect.updateContext(effect, (context: Context.Context<R>) => Context.add(context, Tracer.ParentSpan, span))
  )
