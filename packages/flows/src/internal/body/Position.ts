/**
 * The interface between bodies of flows and their interpreter. A body reaches its interpreter through `Position`; the identity of
 * a step is its path.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import type { FlowContext, RequirementOf } from "../../FlowContext.ts"
import { FlowDefect } from "../../FlowDefect.ts"
import type { Codec } from "../model/Values.ts"
import { Reporter } from "./Reporter.ts"

/** A transient failure. */
export interface Transient {
  /** The pause that the service asked for; null when it named none. */
  readonly retryAfterMillis: number | null
  /** Whether the service may have acted on the request; absent when that does not matter. */
  readonly acted?: "no" | "maybe"
  /** Whether it refuses because of too many requests. */
  readonly isBusy?: boolean
}

/** A failed attempt, for the decision about a retry. */
export interface FailedAttempt<E> {
  readonly error: E
  /** Counts from 1. */
  readonly attempt: number
  /** Since the first attempt began. */
  readonly elapsedMillis: number
  /** Whether the execution outlives its process. */
  readonly durable: boolean
}

/** Decides about the retry of a failed step: returns the milliseconds until the next attempt, or null for none. */
export type Retry<E> = (failed: FailedAttempt<E>) => Effect.Effect<number | null>

/** No retry. */
export const once: Retry<unknown> = () => Effect.succeed(null)

/** The place of a step or of a member of a race. */
export interface Place {
  readonly path: string
  readonly name: string
}

/** One call of a step or of a sub-flow, with everything that an interpreter needs to run or skip it. */
export interface Call<S extends Codec, E extends Codec, R> extends Place {
  /** The input as JSON, null when it has none. */
  readonly input: Schema.Json
  readonly success: S
  readonly error: E
  /** One attempt. */
  readonly execute: Effect.Effect<S["Type"], E["Type"], R>
}

export interface StepCall<S extends Codec, E extends Codec, R> extends Call<S, E, R> {
  readonly inputSchema: Codec
  /** The counter of automatically numbered calls; a call that repeats a failed one may keep its idempotency scope. */
  readonly numbered: Numbered | null
  readonly retry: Retry<E["Type"]>
  /** For a step whose attempts share the rate gate of a control room: which errors are transient. Each request is sent once. */
  readonly transient: ((error: E["Type"]) => Transient | null) | null
  /** `child`: the start of another execution. Default: a step. */
  readonly kind?: "step" | "child"
  /** False: a step that was interrupted by the end of its process halts the execution instead of running again. */
  readonly repeatable: boolean
  /** The external event that must happen before the step runs. `execute` can also wait for it, by polling. */
  readonly awaits?: Effect.Effect<Awaited | null, never, R> | undefined
}

/** An external event that a step waits for. */
export interface Awaited {
  /** Identifies the event, such as the end of a run of a workspace. */
  readonly subject: string
  /** After this the step runs anyway. */
  readonly timeoutMillis: number | null
  /** Called when the wait is recorded: from then on the event must be watched. */
  readonly recorded: Effect.Effect<void>
}

/** What a body says of its execution: the value of a state, or an item of a feed. */
export interface Saying<S extends Codec> {
  readonly name: string
  readonly schema: S
  readonly value: S["Type"]
  /** What the feed keeps; null for a state. */
  readonly keeps: { readonly count: number; readonly ageMillis: number | null } | null
}

/** A request that the body has received. */
export interface Received<I> {
  readonly id: string
  readonly input: I
}

/** The answer of a body to a request. */
export interface Answering<S extends Codec> {
  /** That of the request with its key. */
  readonly name: string
  readonly id: string
  readonly state: "answered" | "refused"
  readonly schema: S
  readonly value: S["Type"]
}

/** The members of a group, and the prefix of the paths in each. */
export type Members<A, E, R> = ReadonlyArray<readonly [prefix: string, member: Effect.Effect<A, E, R>]>

/** Counts the calls of one name in one place. */
export interface Numbered {
  count: number
  /** The last call: a call that repeats it after a failure keeps its scope. */
  last: { readonly scope: string; readonly input: string; failed: boolean } | null
}

export interface Claimed {
  readonly path: string
  readonly numbered: Numbered | null
}

/** The operations that the code of a branch can call, one at a time. */
export interface Interpreter {
  /** Claims the path of a name and key below a prefix. A repeated one is numbered if it `repeats`, else a defect. */
  readonly claim: (prefix: string, name: string, key: string | undefined, repeats: boolean) => Effect.Effect<Claimed>
  readonly step: <S extends Codec, E extends Codec, R>(
    call: StepCall<S, E, R>
  ) => Effect.Effect<S["Type"], E["Type"], R>
  readonly flow: <S extends Codec, E extends Codec, R>(call: Call<S, E, R>) => Effect.Effect<S["Type"], E["Type"], R>
  readonly sleep: (place: Place, millis: number) => Effect.Effect<void>
  readonly signal: <S extends Codec>(place: Place, address: string, schema: S) => Effect.Effect<S["Type"]>
  readonly inbox: <S extends Codec>(place: Place, address: string, schema: S) => Effect.Effect<S["Type"]>
  /** Like `inbox`, for a message that is answered. */
  readonly request: <S extends Codec>(place: Place, address: string, schema: S) => Effect.Effect<Received<S["Type"]>>
  /** Answers a request; a second answer is a defect. */
  readonly answer: <S extends Codec>(answer: Answering<S>) => Effect.Effect<void>
  readonly patched: (place: Place) => Effect.Effect<boolean>
  /** Sets a state or appends to a feed; `address` is its name with its key. */
  readonly say: <S extends Codec>(address: string, saying: Saying<S>) => Effect.Effect<void>
  /** Halts the execution because the code of a branch broke a rule. */
  readonly halt: (defect: FlowDefect) => void
  readonly continueAs: (input: Schema.Json) => Effect.Effect<never>
  /** Runs the members concurrently; the failure of one interrupts the others. Results are in the order of the members. */
  readonly all: <A, E, R>(members: Members<A, E, R>, concurrency: number) => Effect.Effect<Array<A>, E, R>
  /** Returns the result or fails with the error of the first member to end; the others are interrupted. */
  readonly race: <A, E, R>(members: Members<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs a call, and registers its undo when it has succeeded. */
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

const silent = () =>
  Effect.die(
    new FlowDefect({
      message:
        "a request was answered outside the body of a flow: do it in the run of Flow.make, not in the run of a step"
    })
  )

/** The position of the running code in a flow: its interpreter, and the path to which the next segment is appended. */
export interface Position {
  readonly interpreter: Interpreter
  readonly prefix: string
}

/** The position outside of flows, and inside of steps. */
export const outsideFlow: Position = {
  interpreter: {
    claim: outside,
    step: outside,
    flow: outside,
    sleep: outside,
    signal: outside,
    inbox: outside,
    request: outside,
    answer: silent,
    patched: outside,
    say: (_address, said) => Effect.flatMap(Reporter, ({ say }) => say(said)),
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

/** Returns a segment of a path: `name`, or `name[key]`. It is different for each pair of name and key. */
export const segment = (name: string, key?: string): string =>
  key === undefined ? name : `${name}[${key.replace(/[\\\]]/g, "\\$&")}]`

/** Whether a name can be part of a path. */
export const isSegment = (name: string): boolean => name !== "" && !/[/[\]#]/.test(name)

/** Claims the path of `name` and `key` at this position, and passes it to `use` with the interpreter. */
export const claimed = <A, E, R>(
  name: string,
  key: string | undefined,
  use: (claimed: Claimed, interpreter: Interpreter) => Effect.Effect<A, E, R>,
  { repeats = key === undefined }: { readonly repeats?: boolean } = {}
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Position, ({ interpreter, prefix }) => {
    if (!isSegment(name)) {
      return Effect.die(
        new FlowDefect({
          message:
            `"${name}" cannot be part of a path: a name is not empty and has no "/", "[", "]" or "#". Put variable parts ` +
            "into the key"
        })
      )
    }
    return Effect.flatMap(interpreter.claim(prefix, name, key, repeats), (claim) => use(claim, interpreter))
  })

/** Returns the members of a group below `path[key]`; a duplicate key is a defect. */
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
    message: `the path ${path} is used twice in this execution: give each use a different key`
  })

/**
 * Replaces the real requirement by the phantom. The cast holds because the fiber of the body has the real services: only a
 * requirement that is no service can stop a generator from using services directly.
 */
export const conceal = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect as Effect.Effect<A, E, FlowContext<R, never>>

/** The reverse of `conceal`, for a whole body. */
export const reveal = <A, E, Context extends FlowContext<unknown>>(effect: Effect.Effect<A, E, Context>) =>
  // The phantom requirement exists in types only.
  effect as Effect.Effect<A, E, RequirementOf<Context>>

/**
 * Puts a span around an effect. `Effect.withSpan` changes the requirement, so that no generic `R` fits; `Effect.fn` captures two stack
 * traces for each call.
 */
export const inSpan = <A, E, R>(
  name: string,
  attributes: Readonly<Record<string, unknown>>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.useSpan(name, { attributes: { ...attributes } }, (span) =>
    Effect.updateContext(effect, (context: Context.Context<R>) => Context.add(context, Tracer.ParentSpan, span))
  )
