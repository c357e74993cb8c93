/**
 * The seam between bodies of flows and what runs them. A body reaches its interpreter through `Position`; the identity of
 * a step is its path.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import type { FlowContext, RequirementOf } from "../FlowContext.ts"
import { FlowDefect } from "../FlowDefect.ts"
import type { Codec } from "./Values.ts"

/** A failure that goes away by itself. */
export interface Transient {
  /** What the service asked to wait; null when it did not say. */
  readonly retryAfterMillis: number | null
  /** Whether the service may have done what it was asked for. Without: that makes no difference. */
  readonly acted?: "no" | "maybe"
  /** Whether it refuses because there are too many requests. */
  readonly isBusy?: boolean
}

/** A failed attempt, for the decision whether there is another one. */
export interface FailedAttempt<E> {
  readonly error: E
  /** Counts from 1. */
  readonly attempt: number
  /** Since the first attempt began. */
  readonly elapsedMillis: number
  /** Whether the execution outlives its process. */
  readonly durable: boolean
}

/** How a failed step is repeated: the milliseconds until the next attempt, or null for none. */
export type Retry<E> = (failed: FailedAttempt<E>) => Effect.Effect<number | null>

/** No retry. */
export const once: Retry<unknown> = () => Effect.succeed(null)

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
  readonly inputSchema: Codec
  /** Whether `path` was numbered by itself, so that a call that repeats a failed one may keep its idempotency scope. */
  readonly numbered: Numbered | null
  readonly retry: Retry<E["Type"]>
  /** Of a step whose attempts are spaced before a control room: which errors go away by themselves. Each request is sent once. */
  readonly transient: ((error: E["Type"]) => Transient | null) | null
  /** `child`: the start of another execution. Default: a step. */
  readonly kind?: "step" | "child"
  /** False: a step that was cut off by the end of its process halts the execution instead of running again. */
  readonly repeatable: boolean
  /** What must have happened outside before the step has something to do. `execute` can wait for it too, by polling. */
  readonly awaits?: Effect.Effect<Awaited | null, never, R>
}

/** Something outside that a step waits for. */
export interface Awaited {
  /** Tells it from all others, such as a run of a workspace. */
  readonly subject: string
  /** After this the step runs anyway. */
  readonly timeoutMillis: number | null
  /** Called when the wait is recorded: from then on somebody has to look after it. */
  readonly recorded: Effect.Effect<void>
}

/** The members of a group, and the prefix of the paths in each. */
export type Members<A, E, R> = ReadonlyArray<readonly [prefix: string, member: Effect.Effect<A, E, R>]>

/** The calls of one name in one place, for their numbers. */
export interface Numbered {
  count: number
  /** The last call: a call that repeats it after a failure keeps its scope. */
  last: { readonly scope: string; readonly input: string; failed: boolean } | null
}

export interface Claimed {
  readonly path: string
  readonly numbered: Numbered | null
}

/** What the code of one branch of a body reaches. A branch does one thing at a time. */
export interface Interpreter {
  /** Takes the path of a name and key below a prefix. One that comes again is numbered if it `repeats`, else a defect. */
  readonly claim: (prefix: string, name: string, key: string | undefined, repeats: boolean) => Effect.Effect<Claimed>
  readonly step: <S extends Codec, E extends Codec, R>(
    call: StepCall<S, E, R>
  ) => Effect.Effect<S["Type"], E["Type"], R>
  readonly flow: <S extends Codec, E extends Codec, R>(call: Call<S, E, R>) => Effect.Effect<S["Type"], E["Type"], R>
  readonly sleep: (place: Place, millis: number) => Effect.Effect<void>
  readonly signal: <S extends Codec>(place: Place, address: string, schema: S) => Effect.Effect<S["Type"]>
  readonly inbox: <S extends Codec>(place: Place, address: string, schema: S) => Effect.Effect<S["Type"]>
  readonly patched: (place: Place) => Effect.Effect<boolean>
  /** Halts the execution, whatever its branches do: the code of one broke a rule. */
  readonly halt: (defect: FlowDefect) => void
  readonly continueAs: (input: Schema.Json) => Effect.Effect<never>
  /** Runs the members beside each other; the failure of one interrupts the others. Results are in their order. */
  readonly all: <A, E, R>(members: Members<A, E, R>, concurrency: number) => Effect.Effect<Array<A>, E, R>
  /** Returns what the member that ends first returns or fails with; the others are interrupted. */
  readonly race: <A, E, R>(members: Members<A, E, R>) => Effect.Effect<A, E, R>
  /** Registers what undoes a call once it has succeeded. */
  readonly compensate: <A, E, R, E2, R2>(
    prefix: string,
    call: Effect.Effect<A, E, R>,
    undo: (value: A) => Effect.Effect<unknown, E2, R2>
  ) => Effect.Effect<A, E, R | R2>
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
    signal: outside,
    inbox: outside,
    patched: outside,
    halt: () => {},
    continueAs: outside,
    all: outside,
    race: outside,
    compensate: outside
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
  use: (claimed: Claimed, interpreter: Interpreter) => Effect.Effect<A, E, R>,
  { repeats = key === undefined }: { readonly repeats?: boolean } = {}
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Position, ({ interpreter, prefix }) => {
    if (name === "" || /[/[\]#]/.test(name)) {
      return Effect.die(
        new FlowDefect({
          message:
            `"${name}" cannot be part of a path: a name is not empty and has no "/", "[", "]" or "#". What varies goes ` +
            "into the key"
        })
      )
    }
    return Effect.flatMap(interpreter.claim(prefix, name, key, repeats), (claim) => use(claim, interpreter))
  })

/** The members of a group below `path[key]`; a key that comes twice is a defect. */
export const membersOf = <A, E, R>(
  path: string,
  keyed: ReadonlyArray<readonly [key: string, member: Effect.Effect<A, E, R>]>
): Effect.Effect<Members<A, E, R>> =>
  Effect.suspend(() => {
    const taken = new Set<string>()
    const members: Array<readonly [string, Effect.Effect<A, E, R>]> = []
    for (const [key, member] of keyed) {
      const prefix = `${segment(path, key)}/`
      if (taken.has(prefix)) return Effect.die(usedTwice(prefix.slice(0, -1)))
      taken.add(prefix)
      members.push([prefix, member])
    }
    return Effect.succeed(members)
  })

export const usedTwice = (path: string): FlowDefect =>
  new FlowDefect({
    message: `the path ${path} is used twice in this execution: give each use a key of its own`
  })

/**
 * Puts the phantom in the place of the real requirement. The one place, with `reveal`, where types are asserted: a
 * generator can be stopped from using services only by a requirement that is no service, and the fiber that runs the
 * body has the real ones all the time.
 */
export const conceal = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect as Effect.Effect<A, E, FlowContext<R, never>>

/** The reverse of `conceal`, for a whole body. */
export const reveal = <A, E, Context extends FlowContext<unknown>>(effect: Effect.Effect<A, E, Context>) =>
  // The phantom requirement exists in types only.
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
