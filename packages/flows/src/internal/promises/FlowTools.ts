/**
 * The context of an async body: its operations are those of `Flow`, carried out by the fiber of the branch.
 */
import type * as Duration from "effect/Duration"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Branches from "../../Branches.ts"
import { compensate } from "../../Compensation.ts"
import * as Flow from "../../Flow.ts"
import type { FlowContext } from "../../FlowContext.ts"
import type { Request } from "../../Requests.ts"
import type { Signal } from "../../Signals.ts"
import type { Feed, State } from "../../States.ts"
import type * as Step from "../../Step.ts"
import { type Ask, drive } from "../body/AsyncBody.ts"
import { conceal, reveal } from "../body/Position.ts"
import type { Codec } from "../model/Values.ts"

/** A request that a body has received. */
export interface Asked<I, S, E> {
  readonly id: string
  readonly input: I
  readonly answer: (value: S) => Promise<void>
  readonly refuse: (error: E) => Promise<void>
}

/** A part of a body: a function with its own context. */
export type Part<A, R> = (ctx: FlowTools<R>) => PromiseLike<A> | A

type Parts<R> = Readonly<Record<string, Part<unknown, R>>> | ReadonlyArray<Part<unknown, R>>
type ResultsOf<P> = { -readonly [K in keyof P]: P[K] extends (...args: never) => infer A ? Awaited<A> : never }
type ResultOf<P> =
  P extends ReadonlyArray<infer One>
    ? One extends (...args: never) => infer A
      ? Awaited<A>
      : never
    : ResultsOf<P>[keyof P]

/**
 * The operations of a flow body. `await` each: a second call before the first has resolved halts the execution. Instead of
 * `Promise.all` use `all` and `forEach`. After a cancel the current call and all later ones reject with `FlowCancelled`. `finally`
 * blocks do not run when an execution is evicted from memory.
 */
export interface FlowTools<R> {
  /**
   * Aborted with `FlowCancelled` when this part of the body is cancelled: pass it to what is awaited outside of steps. A body that
   * does not end within 10 seconds then halts the execution as `STALLED`.
   */
  readonly abortSignal: AbortSignal
  readonly step: <I extends Codec, S extends Codec, E extends Codec>(
    step: Step.Step<I, S, E, R>,
    input: I["Type"],
    options?: { readonly key?: string }
  ) => Promise<S["Type"]>
  /** Waits for a duration, over restarts of the program. */
  readonly sleep: (name: string, duration: Duration.Input, options?: { readonly key?: string }) => Promise<void>
  /** Returns the current time, and records it: use it instead of `new Date()`. */
  readonly now: (name: string, options?: { readonly key?: string }) => Promise<Date>
  /** Runs the functions concurrently: resolves to their results, or rejects with the first failure. */
  readonly all: <const P extends Parts<R>>(
    name: string,
    parts: P,
    options?: Branches.Concurrency
  ) => Promise<ResultsOf<P>>
  /** Runs a function for each item, which `key` identifies. */
  readonly forEach: <A, B>(
    name: string,
    items: Iterable<A>,
    options: Branches.Concurrency & { readonly key: (item: A, index: number) => string },
    part: (ctx: FlowTools<R>, item: A, index: number) => PromiseLike<B> | B
  ) => Promise<Array<B>>
  /** Resolves or rejects like the first function to end; the others are cancelled. */
  readonly race: <const P extends Parts<R>>(name: string, parts: P) => Promise<ResultOf<P>>
  /** Rejects with `FlowTimeout` when the function takes longer. */
  readonly timeout: <A>(
    name: string,
    duration: Duration.Input,
    part: Part<A, R>,
    options?: { readonly key?: string }
  ) => Promise<A>
  /** Waits for a signal that the flow lists. */
  readonly signal: <S extends Codec>(signal: Signal<S>, options?: { readonly key?: string }) => Promise<S["Type"]>
  /** Waits for the next message of an inbox that the flow lists. */
  readonly inbox: <S extends Codec>(inbox: Signal<S>, options?: { readonly key?: string }) => Promise<S["Type"]>
  /** Waits for the next request that the flow lists: `answer` or `refuse` it once. */
  readonly request: <V extends Codec, A extends Codec, F extends Codec>(
    request: Request<V, A, F>,
    options?: { readonly key?: string }
  ) => Promise<Asked<V["Type"], A["Type"], F["Type"]>>
  /** Sets the value of a state that the flow lists: it is no step, so it may be set a thousand times. */
  readonly set: <S extends Codec>(
    state: State<S>,
    value: S["Type"],
    options?: { readonly key?: string }
  ) => Promise<void>
  /** Appends an item to a feed that the flow lists. */
  readonly append: <S extends Codec>(feed: Feed<S>, value: S["Type"]) => Promise<void>
  /** Runs a function that calls steps; `undo` runs when the execution fails later or is cancelled. */
  readonly compensate: <A>(
    call: Part<A, R>,
    undo: (ctx: FlowTools<R>, value: A) => PromiseLike<unknown> | unknown
  ) => Promise<A>
  /** Whether an execution runs changed code: see `Flow.patched`. */
  readonly patched: (name: string) => Promise<boolean>
  /** Restarts the execution with another input: see `Flow.continueAs`. */
  readonly continueAs: <I extends Codec>(
    flow: { readonly name: string; readonly input: I },
    input: I["Type"]
  ) => Promise<never>
  /** Runs another flow as a part of this one. */
  readonly call: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.Flow<I, S, E, R>,
    input: I["Type"],
    options?: { readonly key?: string }
  ) => Promise<S["Type"]>
  /** Starts another flow as a separate execution, a child, without waiting for it: see `Flow.start`. */
  readonly start: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.Flow<I, S, E, R>,
    input: I["Type"],
    options?: Flow.StartOptions
  ) => Promise<Flow.Child<S["Type"], E["Type"]>>
  /** Resolves to the execution of another flow with this key, without starting it; rejects with `ExecutionNotFound`: see `Flow.find`. */
  readonly find: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.FlowDefinition<I, S, E>,
    key: string
  ) => Promise<Flow.Child<S["Type"], E["Type"]>>
  /** Waits until a child has ended, without a limit; rejects with its error, `FlowCancelled` or `DeadlineExceeded`. */
  readonly result: <S, E>(child: Flow.Child<S, E>) => Promise<S>
  /** Sends a child a signal or a message that its flow lists. Rejects when it has received another value, or has ended. */
  readonly send: <S, E, V extends Codec>(
    child: Flow.Child<S, E>,
    signal: Signal<V>,
    value: V["Type"],
    options?: { readonly key?: string }
  ) => Promise<void>
  /** Cancels a child and runs its undos. Changes nothing when it has ended. */
  readonly cancel: <S, E>(child: Flow.Child<S, E>) => Promise<void>
}

/** Turns a function with its own context into code of the branch that runs it. */
export const partOf = <A, R>(
  run: (ctx: FlowTools<R>) => PromiseLike<A> | A
): Effect.Effect<A, unknown, FlowContext<R>> =>
  // The operations of `toolsOf` need the services `R`, which `drive` does not see.
  conceal(drive((ask, abortSignal) => run(toolsOf<R>(ask, abortSignal))) as Effect.Effect<A, unknown, R>)

const membersOf = <R>(parts: Parts<R>) =>
  Object.fromEntries(Object.entries<Part<unknown, R>>(parts).map(([key, part]) => [key, partOf(part)]))

const toolsOf = <R>(ask: Ask, abortSignal: AbortSignal): FlowTools<R> => {
  // The fiber of the branch has the services of the steps.
  const answer = <A, E>(effect: Effect.Effect<A, E, FlowContext<R>>) => ask(reveal(effect) as Effect.Effect<A, E>)
  return {
    abortSignal,
    step: (step, input, options) => answer(step(input, options)),
    sleep: (name, duration, options) => answer(Flow.sleep(name, duration, options)),
    now: (name, options) => answer(Effect.map(Flow.now(name, options), DateTime.toDateUtc)),
    all: (name, parts, options) =>
      answer(
        Effect.map(Branches.all(name, membersOf(parts), { concurrency: "unbounded", ...options }), (results) =>
          Array.isArray(parts) ? Object.values(results) : results
        )
      ) as Promise<never>, // the overloads of `all` declare the type of the result
    forEach: <A, B>(
      name: string,
      items: Iterable<A>,
      options: Parameters<typeof Branches.forEach<A, B, unknown, FlowContext<R>>>[2],
      part: (ctx: FlowTools<R>, item: A, index: number) => PromiseLike<B> | B
    ) => answer(Branches.forEach(name, items, options, (item, index) => partOf<B, R>((ctx) => part(ctx, item, index)))),
    // The result has the type that the overloads of `race` declare.
    race: (name, parts) => answer(Branches.race(name, membersOf(parts))) as Promise<never>,
    timeout: (name, duration, part, options) => answer(Branches.timeout(name, duration, partOf(part), options)),
    signal: (signal, options) => answer(signal.receive(options)),
    inbox: (inbox, options) => answer(inbox.receive(options)),
    request: async (request, options) => {
      const asked = await answer(request.receive(options))
      return {
        id: asked.id,
        input: asked.input,
        answer: (value) => answer(asked.answer(value)),
        refuse: (error) => answer(asked.refuse(error))
      }
    },
    set: (state, value, options) => answer(state.set(value, options)),
    append: (feed, value) => answer(feed.append(value)),
    compensate: (call, undo) =>
      answer(compensate(partOf(call), (value) => partOf<unknown, R>((ctx) => undo(ctx, value)))),
    patched: (name) => answer(Flow.patched(name)),
    continueAs: (flow, input) => answer(Flow.continueAs(flow, input)),
    call: (flow, input, options) => answer(Flow.call(flow, input, options)),
    start: (flow, input, options) => answer(Flow.start(flow, input, options)),
    find: (flow, key) => answer(Flow.find(flow, key)),
    result: (child) => answer(child.result),
    send: (child, signal, value, options) => answer(child.signal(signal, value, options)),
    cancel: (child) => answer(child.cancel)
  }
}
