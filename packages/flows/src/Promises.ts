/**
 * Flows for programs without Effect: bodies and steps are async functions, over the same interpreter. They define ordinary flows
 * and steps.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { type AnySchema, codecOf, type TypeOf } from "@signalbox/api/StandardSchema"
import { defined } from "@signalbox/transport/Defined"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import type * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Branches from "./Branches.ts"
import { compensate } from "./Compensation.ts"
import * as Durable from "./Durable.ts"
import * as Flow from "./Flow.ts"
import type { FlowContext } from "./FlowContext.ts"
import { FlowEngine, type FlowEngineError, type RetainOptions, type SharedOptions } from "./FlowEngine.ts"
import { FlowsClosed } from "./FlowErrors.ts"
import { Attempt } from "./internal/model/Identity.ts"
import * as Calling from "./internal/journal/Calling.ts"
import { type Ask, drive } from "./internal/body/AsyncBody.ts"
import { conceal, reveal } from "./internal/body/Position.ts"
import type { Codec } from "./internal/model/Values.ts"
import type { Signal } from "./Signals.ts"
import * as Step from "./Step.ts"

export { CallUnanswered, FlowCancelled, FlowsClosed, InvalidInput } from "./FlowErrors.ts"
export type { RetainOptions } from "./FlowEngine.ts"
export type { AnySchema, TypeOf } from "@signalbox/api/StandardSchema"
export type { Child, StartOptions } from "./Children.ts"
export { approval, inbox, signal } from "./Signals.ts"

/** Any JSON, for steps and flows without a schema. */
export const json = Schema.Json

/**
 * The failure of a step or a flow of promises. It is recorded, so it has only the name or tag of the exception, and its message.
 * Of a `Response` that was thrown it has the status, in `data`. Throw one yourself to pass other `data`, without secrets. In the `retry` of the step its `cause` is the exception
 * itself, which is not recorded.
 */
export class FlowError extends TaggedError<FlowError>()("FlowError", {
  /** The `_tag` or the `name` of the exception. */
  type: Schema.String,
  message: Schema.String,
  data: Schema.NullOr(Schema.Json)
}) {}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const errorOf = (thrown: unknown): FlowError => {
  if (thrown instanceof FlowError) return thrown
  if (thrown instanceof Response) {
    const { status, statusText } = thrown
    return new FlowError({
      type: "Response",
      message: `the service responded with ${`${status} ${statusText}`.trim()}`,
      data: { status }
    })
  }
  if (!(thrown instanceof Error)) return new FlowError({ type: "Error", message: String(thrown), data: null })
  const tag = "_tag" in thrown ? text(thrown._tag) : undefined
  return new FlowError({ type: tag ?? thrown.name, message: thrown.message, data: null })
}

/** The error of an attempt, with what was thrown, for the decision about a retry. */
const failureOf = (thrown: unknown): FlowError => {
  const error = errorOf(thrown)
  // Not enumerable, so that it is neither recorded nor compared.
  return error === thrown ? error : Object.defineProperty(error, "cause", { value: thrown })
}

// ---- steps

/** The second argument of the `run` of a step. */
export interface StepTools {
  /** Aborted when the step is interrupted: by its timeout, by a race, by the failure of another branch. */
  readonly signal: AbortSignal
  /** The same for all attempts of the step: send it with requests that must not act twice. */
  readonly idempotencyKey: string
  /** Reports the progress of the step. */
  readonly progress: (progress: Parameters<typeof Flow.progress>[0]) => void
}

export interface StepDefinition<I extends AnySchema, O extends AnySchema> {
  readonly name: string
  readonly input: I
  /** The result: JSON, at most 1 MB, without secrets. */
  readonly output: O
  /** The work. May run again, so its effects should be safe to repeat. An exception is a failure of the step. */
  readonly run: (input: TypeOf<I>, tools: StepTools) => PromiseLike<TypeOf<O>> | TypeOf<O>
  /** How it is retried: its functions get the failure, with the exception as `cause`. `Retry.http` reads that. */
  readonly retry?: Step.RetryOptions<FlowError>
  /** The time limit of an attempt. */
  readonly timeout?: Duration.Input
  /** `"never"`: see `Flow.step`. */
  readonly repeat?: "never"
}

/** A step of promises: a `Flow.step` that fails with `FlowError`. */
export type PromiseStep<I, O> = Step.Step<Schema.Codec<I, unknown>, Schema.Codec<O, unknown>, typeof FlowError, never>

/**
 * Defines a step by an async function.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { defineStep } from "@signalbox/flows/Promises"
 * import * as Retry from "@signalbox/flows/Retry"
 *
 * export const charge = defineStep({
 *   name: "charge",
 *   input: Schema.Struct({ customer: Schema.String, cents: Schema.Finite }),
 *   output: Schema.Struct({ receipt: Schema.String }),
 *   retry: { attempts: 20, delay: Retry.http, within: "1 day" },
 *   timeout: "30 seconds",
 *   run: async (input, { idempotencyKey, signal }) => {
 *     const response = await fetch("https://payments.example/charges", {
 *       method: "POST",
 *       body: JSON.stringify(input),
 *       headers: { "idempotency-key": idempotencyKey },
 *       signal
 *     })
 *     if (!response.ok) throw response
 *     return { receipt: await response.text() }
 *   }
 * })
 * ```
 */
export const defineStep = <I extends AnySchema, O extends AnySchema>(
  definition: StepDefinition<I, O>
): PromiseStep<TypeOf<I>, TypeOf<O>> => {
  const { input, name, output, repeat, retry, timeout } = definition
  const run = (given: TypeOf<I>) =>
    Effect.gen(function* () {
      const attempt = yield* Attempt
      const inFlow = yield* Effect.context<never>()
      return yield* Effect.tryPromise({
        try: async (signal) =>
          definition.run(given, {
            signal,
            idempotencyKey: attempt?.scope ?? "",
            progress: (progress) => void Effect.runForkWith(inFlow)(Flow.progress(progress))
          }),
        catch: failureOf
      })
    })
  const limited = (given: TypeOf<I>) =>
    timeout === undefined
      ? run(given)
      : Effect.timeoutOrElse(run(given), {
          duration: timeout,
          orElse: () =>
            Effect.fail(failureOf(new Step.StepTimeout({ step: name, afterMillis: Duration.toMillis(timeout) })))
        })
  return Step.step(name, {
    input: codecOf(input),
    success: codecOf(output),
    error: FlowError,
    run: limited,
    ...defined({ retry, repeat })
  })
}

// ---- bodies

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
  /** Waits until a child has ended, without a limit; rejects with its error, or with `FlowCancelled`. */
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
const partOf = <A, R>(run: (ctx: FlowTools<R>) => PromiseLike<A> | A): Effect.Effect<A, unknown, FlowContext<R>> =>
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
    compensate: (call, undo) =>
      answer(compensate(partOf(call), (value) => partOf<unknown, R>((ctx) => undo(ctx, value)))),
    patched: (name) => answer(Flow.patched(name)),
    continueAs: (flow, input) => answer(Flow.continueAs(flow, input)),
    call: (flow, input, options) => answer(Flow.call(flow, input, options)),
    start: (flow, input, options) => answer(Flow.start(flow, input, options)),
    result: (child) => answer(child.result),
    send: (child, signal, value, options) => answer(child.signal(signal, value, options)),
    cancel: (child) => answer(child.cancel)
  }
}

/** The class or key of a service. */
type AnyService = Context.Key<unknown, unknown>

export interface FlowDefinition<I extends AnySchema, O extends AnySchema, S extends AnyService> {
  readonly name: string
  /** Increment it when the body calls other steps than before; default 1. */
  readonly version?: number
  readonly input: I
  readonly output: O
  /** Returns the idempotency key: inputs with the same key are the same execution. */
  readonly key: (input: TypeOf<I>) => string
  /** The signals and inboxes of its executions. */
  readonly signals?: ReadonlyArray<Signal<Codec>>
  /** Returns tags by which an execution can be found. */
  readonly tags?: (input: TypeOf<I>) => ReadonlyArray<string>
  /** The limits of its executions: see `Flow.make`. */
  readonly limit?: ReadonlyArray<Flow.FlowLimit<TypeOf<I>>>
  /** The services of steps that are defined with Effect, such as `[ControlRoom]`; pass a layer of them to `openFlows`. */
  readonly services?: ReadonlyArray<S>
  /**
   * The body. All its effects and reads go through `ctx`. An exception is its failure, as a `FlowError`, except that a `TypeError`
   * and other mistakes in its code halt the execution, so that a corrected deployment continues it.
   */
  readonly run: (ctx: FlowTools<S["Identifier"]>, input: TypeOf<I>) => PromiseLike<TypeOf<O>> | TypeOf<O>
}

/** A flow of promises: a `Flow.Flow` that fails with `FlowError`. */
export interface PromiseFlow<I, O, R> extends Flow.Flow<
  Schema.Codec<I, unknown>,
  Schema.Codec<O, unknown>,
  typeof FlowError,
  R
> {
  /** Registers it with an engine. */
  readonly layer: Layer.Layer<never, never, R | FlowEngine>
}

/**
 * Defines a flow by an async function.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { defineFlow, defineStep, openFlows } from "@signalbox/flows/Promises"
 *
 * const greet = defineStep({
 *   name: "greet",
 *   input: Schema.String,
 *   output: Schema.String,
 *   run: async (name) => `hello ${name}`
 * })
 *
 * const welcome = defineFlow({
 *   name: "welcome",
 *   input: Schema.Array(Schema.String),
 *   output: Schema.Array(Schema.String),
 *   key: (names) => names.join(),
 *   run: async (ctx, names) => {
 *     await ctx.sleep("a while", "3 days")
 *     return ctx.forEach(
 *       "name",
 *       names,
 *       { key: (name) => name, concurrency: 4 },
 *       (ctx, name) => ctx.step(greet, name)
 *     )
 *   }
 * })
 *
 * export const main = async () => {
 *   const flows = await openFlows({ file: "data/flows.db", flows: [welcome] })
 *   const greetings = await flows.execute(welcome, ["ann", "bob"])
 *   await flows.close()
 *   return greetings
 * }
 * ```
 */
export const defineFlow = <I extends AnySchema, O extends AnySchema, S extends AnyService = never>(
  definition: FlowDefinition<I, O, S>
): PromiseFlow<TypeOf<I>, TypeOf<O>, S["Identifier"]> => {
  const { input, key, limit, name, output, run, signals, tags, version = 1 } = definition
  const flow = Flow.make(name, {
    version,
    input: codecOf(input),
    success: codecOf(output),
    error: FlowError,
    idempotencyKey: key,
    signals,
    tags,
    limit,
    run: (given: TypeOf<I>): Effect.Effect<TypeOf<O>, FlowError, FlowContext<S["Identifier"]>> =>
      Effect.mapError(
        partOf<TypeOf<O>, S["Identifier"]>((ctx) => run(ctx, given)),
        errorOf
      )
  })
  return { ...flow, layer: Durable.layer(flow) }
}

// ---- running

interface Common<R> {
  /** The flows of this program: those of `defineFlow`, and `{ layer: Flow.layer(flow) }` for others. */
  readonly flows: ReadonlyArray<{ readonly layer: Layer.Layer<never, never, R> }>
  /** The largest number of executions in memory; default 1,000. Not for `memory`. */
  readonly concurrency?: number
  /** How long executions are retained after their end: by default 30 days, and 90 days when they failed. Not for `memory`. */
  readonly retain?: RetainOptions
}

/** The storage of executions: a SQLite file, Postgres, or memory, for tests. */
type Storage =
  | { readonly file: string }
  | ({ readonly url: string; readonly schema?: string } & SharedOptions)
  | { readonly memory: true }

export type OpenOptions<R> = Common<R> &
  Storage &
  ([Exclude<R, FlowEngine>] extends [never]
    ? { readonly layer?: undefined }
    : {
        /** The services of steps that are defined with Effect. */
        readonly layer: Layer.Layer<Exclude<R, FlowEngine>, unknown>
      })

type AnyFlow<I extends Codec, S extends Codec, E extends Codec, R> = Flow.Flow<I, S, E, R>

/** How long a call waits, whatever the database does. It then rejects with `CallUnanswered`. */
export interface CallOptions {
  /** Default: 30 seconds for a database that is away, and no limit for the result of an execution. */
  readonly limit?: Duration.Input
  /** Ends the call when it is aborted, such as `request.signal`. */
  readonly abortSignal?: AbortSignal
}

/** An execution of a flow. */
export interface PromiseHandle<S> {
  readonly id: string
  readonly result: (options?: CallOptions) => Promise<S>
  readonly signal: <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options?: Durable.SendOptions & CallOptions
  ) => Promise<void>
  readonly cancel: (options?: CallOptions) => Promise<void>
  readonly terminate: (options?: CallOptions) => Promise<void>
  readonly suspend: (options?: CallOptions) => Promise<void>
  readonly resume: (options?: CallOptions) => Promise<void>
  readonly retry: (options?: { readonly from?: string } & CallOptions) => Promise<void>
}

/**
 * The flows of a program. Promises reject with the tagged errors of the call (`error._tag`): `execute` and `submit` with
 * `InvalidInput` when the input does not fit the schema of the flow, which a backend returns as a status 400, and every call with
 * `CallUnanswered` when the database does not respond in time, a status 503.
 */
export interface Flows {
  /** Starts an execution or joins the one with its key, and waits for its result: see `Flow.execute`. */
  readonly execute: <I extends Codec, S extends Codec, E extends Codec, R>(
    flow: AnyFlow<I, S, E, R>,
    input: I["Type"],
    options?: CallOptions
  ) => Promise<S["Type"]>
  /** Starts an execution or joins the one with its key; returns its id. */
  readonly submit: <I extends Codec, S extends Codec, E extends Codec, R>(
    flow: AnyFlow<I, S, E, R>,
    input: I["Type"],
    options?: { readonly key?: string } & CallOptions
  ) => Promise<string>
  /** Sends a signal to the execution of a key. */
  readonly signal: <I extends Codec, S extends Codec, E extends Codec, R, V extends Codec>(
    flow: AnyFlow<I, S, E, R>,
    key: string,
    signal: Signal<V>,
    value: V["Type"],
    options?: Durable.SendOptions & CallOptions
  ) => Promise<void>
  /** Resolves to the execution of a key. */
  readonly handle: <I extends Codec, S extends Codec, E extends Codec, R>(
    flow: AnyFlow<I, S, E, R>,
    key: string,
    options?: CallOptions
  ) => Promise<PromiseHandle<S["Type"]>>
  /** Runs any effect that needs the engine. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, FlowEngine>, options?: CallOptions) => Promise<A>
  /**
   * The management of executions over HTTP for `signalbox flows`, as a handler for `node:http`, Express or Fastify: see
   * `FlowManagement.toNodeHandler`. Rejects with `InvalidManagement` when the token has fewer than 16 characters.
   */
  readonly toNodeHandler: (options: ManagementOptions) => Promise<NodeHandler>
  /** Like `toNodeHandler`, for servers that use web requests, such as Hono. */
  readonly toWebHandler: (options: ManagementOptions) => Promise<(request: Request) => Promise<Response>>
  /**
   * Lets running steps end for up to 10 seconds, and releases the executions. Calls that wait reject with `FlowsClosed`: their
   * executions continue in the next program.
   */
  readonly close: () => Promise<void>
}

/** A listener for `createServer` of `node:http`. Its types are not named, since not every program has those of Node. */
export type NodeHandler = (
  request: { readonly method?: string | undefined; readonly url?: string | undefined },
  response: { readonly headersSent: boolean }
) => void

export interface ManagementOptions {
  /** At least 16 characters; `signalbox flows` sends it. */
  readonly token: string
  /** The path that the routes are mounted at, such as `/flows`; default: none. */
  readonly prefix?: string
}

type Settings = Pick<Common<never>, "concurrency" | "retain">

const engineOf = (options: Storage & Settings): Layer.Layer<FlowEngine, FlowEngineError> => {
  const { concurrency, retain } = options
  const limits = {
    concurrency,
    retain
  }
  if ("file" in options) return FlowEngine.layerSqlite({ file: options.file, ...limits })
  if ("memory" in options) return Layer.fresh(FlowEngine.layerMemory)
  const { leaseThread, schema, stallLimit, url } = options
  return FlowEngine.layerPostgres({
    url: Redacted.make(url),
    ...limits,
    stallLimit,
    leaseThread,
    ...defined({ schema })
  })
}

/** Unset variables arrive as `undefined` from programs without types, and as empty strings. */
const checked = <R>(options: OpenOptions<R>): OpenOptions<R> => {
  const there = (["file", "url", "memory"] as const).filter((name) => name in options)
  const [name] = there
  if (name === undefined || there.length > 1) {
    throw new TypeError("openFlows: needs one of `file` (SQLite), `url` (Postgres) and `memory: true`")
  }
  if (!Object.entries(options).some(([key, value]) => key === name && Boolean(value))) {
    throw new TypeError(`openFlows: \`${name}\` is empty`)
  }
  return options
}

/**
 * Opens the storage and runs the executions of these flows, also those that a previous process started, until `close`. Rejects with
 * `FlowEngineError` when the storage cannot be opened, and with a `TypeError` when the options are invalid.
 */
export const openFlows = async <R = never>(options: OpenOptions<R>): Promise<Flows> => {
  const { flows, layer } = checked(options)
  const storage: Storage & Settings = options
  // The overload without a layer accepts only flows without services.
  const services = (layer ?? Layer.empty) as Layer.Layer<Exclude<R, FlowEngine>, unknown>
  const registered = flows.reduce<Layer.Layer<never, never, R>>(
    (all, flow) => Layer.merge(all, flow.layer),
    Layer.empty
  )
  const runtime = ManagedRuntime.make(registered.pipe(Layer.provideMerge(engineOf(storage)), Layer.provide(services)))
  // Storage that cannot be opened rejects here, not at the first call.
  await runtime.context()
  const handlers = Scope.makeUnsafe()
  let isClosed = false
  /** Runs a call. `execution` is the one that it waits for, when it is known. */
  const called = async <A, E>(
    effect: Effect.Effect<A, E, FlowEngine>,
    { abortSignal, limit }: CallOptions = {},
    execution: string | null = null
  ): Promise<A> => {
    if (isClosed) throw new FlowsClosed({ execution })
    const progress = new Calling.Progress()
    progress.execution = execution
    const begun = performance.now()
    const noted = Effect.provideService(effect, Calling.CurrentProgress, progress)
    const call: Effect.Effect<A, unknown, FlowEngine> =
      limit === undefined
        ? abortSignal === undefined
          ? noted
          : Calling.followed(noted, progress)
        : Calling.within(noted, limit, progress)
    const exit = await runtime.runPromiseExit(call, abortSignal === undefined ? undefined : { signal: abortSignal })
    if (Exit.isSuccess(exit)) return exit.value
    if (isClosed && Cause.hasInterruptsOnly(exit.cause)) {
      throw new FlowsClosed({ execution: progress.execution })
    }
    if (abortSignal?.aborted === true && Cause.hasInterruptsOnly(exit.cause)) {
      throw progress.unanswered("aborted", Math.round(performance.now() - begun))
    }
    throw Cause.squash(exit.cause)
  }
  const handleOf = async <I extends Codec, S extends Codec, E extends Codec, R>(
    flow: AnyFlow<I, S, E, R>,
    key: string,
    calling?: CallOptions
  ): Promise<PromiseHandle<S["Type"]>> => {
    const handle = await called(Durable.handle(flow, key), calling)
    return {
      id: handle.id,
      result: (calling) => called(handle.result, calling, handle.id),
      signal: (signal, value, sending) => called(handle.signal(signal, value, sending), sending),
      cancel: (calling) => called(handle.cancel, calling),
      terminate: (calling) => called(handle.terminate, calling),
      suspend: (calling) => called(handle.suspend, calling),
      resume: (calling) => called(handle.resume(), calling),
      retry: (retrying) => called(handle.retry(retrying), retrying)
    }
  }
  const managed = ({ prefix, token }: ManagementOptions) => ({
    token: Redacted.make(token),
    prefix
  })
  return {
    execute: (flow, input, calling) => called(Durable.execute(flow, input), calling),
    submit: (flow, input, submitting) => called(Durable.submit(flow, input, submitting), submitting),
    signal: (flow, key, signal, value, sending) =>
      called(
        Effect.flatMap(Durable.handle(flow, key), (handle) => handle.signal(signal, value, sending)),
        sending
      ),
    handle: handleOf,
    run: (effect, calling) => called(effect, calling),
    // Loaded when it is used: programs without a server need none of it.
    toNodeHandler: async (options) => {
      const { toNodeHandler } = await import("./FlowManagement.ts")
      const handler = await called(Scope.provide(toNodeHandler(managed(options)), handlers))
      type Listener = Parameters<typeof handler>
      // Servers of Node call it with their own requests and responses.
      return (request, response) => handler(request as Listener[0], response as Listener[1])
    },
    toWebHandler: async (options) => {
      const { toWebHandler } = await import("./FlowManagement.ts")
      return called(Scope.provide(toWebHandler(managed(options)), handlers))
    },
    close: async () => {
      isClosed = true
      await Effect.runPromise(Scope.close(handlers, Exit.void))
      await runtime.dispose()
    }
  }
}
