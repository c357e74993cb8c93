/**
 * Flows for programs without Effect: bodies and steps are async functions, over the same interpreter. They define ordinary flows
 * and steps.
 */
import { type AnySchema, codecOf, type TypeOf } from "@signalbox/api/StandardSchema"
import { defined } from "@signalbox/transport/Defined"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Durable from "./Durable.ts"
import * as Flow from "./Flow.ts"
import type { FlowContext } from "./FlowContext.ts"
import type { FlowEngine } from "./FlowEngine.ts"
import type { Codec } from "./internal/model/Values.ts"
import { attempt, type StepTools } from "./internal/promises/AsyncAttempt.ts"
import { type CallOptions, open } from "./internal/promises/Calls.ts"
import { declareFlow, type DeclaredFlow, type FlowDeclaration } from "./internal/promises/Declaring.ts"
import { type FlowTools, partOf } from "./internal/promises/FlowTools.ts"
import {
  type ManagementOptions,
  type NodeHandler,
  toNodeHandler,
  toWebHandler
} from "./internal/promises/ManagementHandlers.ts"
import { layerOf, type OpenOptions } from "./internal/promises/OpenOptions.ts"
import { handleOf, type PromiseHandle } from "./internal/promises/PromiseHandle.ts"
import { type Query, transacted, transactionOf, type TransactionTools } from "./internal/promises/Transacting.ts"
import { errorOf, FlowError } from "./internal/promises/Thrown.ts"
import type { Signal } from "./Signals.ts"
import * as Step from "./Step.ts"

export type { AnySchema, TypeOf } from "@signalbox/api/StandardSchema"
export type { Child, StartOptions } from "./Children.ts"
export type { Debounce, SubmitOptions, WhenOptions } from "./Flow.ts"
export type { RetainOptions } from "./FlowEngine.ts"
export {
  CallUnanswered,
  DeadlineExceeded,
  FlowCancelled,
  FlowsClosed,
  InvalidInput,
  RequestAbandoned,
  RequestUnanswered
} from "./FlowErrors.ts"
export type { StepDetails, StepTools } from "./internal/promises/AsyncAttempt.ts"
export type { CallOptions } from "./internal/promises/Calls.ts"
export type { Asked, FlowTools, Part } from "./internal/promises/FlowTools.ts"
export type { ManagementOptions, NodeHandler } from "./internal/promises/ManagementHandlers.ts"
export type { OpenOptions } from "./internal/promises/OpenOptions.ts"
export type { PromiseHandle } from "./internal/promises/PromiseHandle.ts"
export { FlowError } from "./internal/promises/Thrown.ts"
export { request } from "./Requests.ts"
export type { Query, TransactionTools } from "./internal/promises/Transacting.ts"
export { declareFlow, type DeclaredFlow, type FlowDeclaration } from "./internal/promises/Declaring.ts"
export { approval, inbox, signal } from "./Signals.ts"
export { feed, state } from "./States.ts"

/** Any JSON, for steps and flows without a schema. */
export const json = Schema.Json

// ---- steps

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
  const { input, name, output, repeat, retry } = definition
  return Step.step(name, {
    input: codecOf(input),
    success: codecOf(output),
    error: FlowError,
    run: (given: TypeOf<I>) => attempt<TypeOf<I>, TypeOf<O>>(definition, given),
    ...defined({ retry, repeat })
  })
}

/** A step of promises whose rows and whose result are one commit. */
export type PromiseTransaction<I, O> = Step.Step<
  Schema.Codec<I, unknown>,
  Schema.Codec<O, unknown>,
  Schema.Union<readonly [typeof FlowError, typeof Flow.TransactionFailed]>,
  never
>

/**
 * Defines a step whose rows and whose result are one commit, by an async function: see `Flow.transaction`. `query` runs statements in its
 * transaction, in the database that has the flows; nothing else in it should have effects.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { defineTransaction } from "@signalbox/flows/Promises"
 *
 * // On SQLite; on Postgres parameters are $1 and $2.
 * export const book = defineTransaction({
 *   name: "book",
 *   input: Schema.Struct({ account: Schema.String, cents: Schema.Int }),
 *   output: Schema.Null,
 *   run: async ({ account, cents }, { query }) => {
 *     await query("UPDATE accounts SET cents = cents + ? WHERE id = ?", [
 *       cents,
 *       account
 *     ])
 *     return null
 *   }
 * })
 * ```
 */
export const defineTransaction = <I extends AnySchema, O extends AnySchema>({
  input,
  name,
  output,
  run
}: {
  readonly name: string
  readonly input: I
  /** The result: JSON, at most 1 MB, without secrets. */
  readonly output: O
  readonly run: (input: TypeOf<I>, tools: { readonly query: Query }) => PromiseLike<TypeOf<O>> | TypeOf<O>
}): PromiseTransaction<TypeOf<I>, TypeOf<O>> =>
  transactionOf(name, { input: codecOf(input), success: codecOf(output), run })

// ---- bodies

/** The class or key of a service. */
type AnyService = Context.Key<unknown, unknown>

export interface BodyDefinition<I, O, S extends AnyService> {
  /** The services of steps that are defined with Effect, such as `[ControlRoom]`; pass a layer of them to `openFlows`. */
  readonly services?: ReadonlyArray<S>
  /**
   * The body. All its effects and reads go through `ctx`. An exception is its failure, as a `FlowError`, except that a `TypeError`
   * and other mistakes in its code halt the execution, so that a corrected deployment continues it.
   */
  readonly run: (ctx: FlowTools<S["Identifier"]>, input: I) => PromiseLike<O> | O
}

export interface FlowDefinition<I extends AnySchema, O extends AnySchema, S extends AnyService>
  extends FlowDeclaration<I, O>, BodyDefinition<TypeOf<I>, TypeOf<O>, S> {}

/** A flow of promises: a `Flow.Flow` that fails with `FlowError`. */
export interface PromiseFlow<I, O, R> extends Flow.Flow<
  Schema.Codec<I, unknown>,
  Schema.Codec<O, unknown>,
  typeof FlowError,
  R
> {
  /** Registers it with an engine. */
  readonly layer: Layer.Layer<never, never, R | FlowEngine>
  /** Registers it with an engine, which only continues executions that have begun: see `drain` of `openFlows`. */
  readonly draining: Layer.Layer<never, never, R | FlowEngine>
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
): PromiseFlow<TypeOf<I>, TypeOf<O>, S["Identifier"]> => implementFlow(declareFlow(definition), definition)

/**
 * Gives a flow of `declareFlow` its body.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { declareFlow } from "@signalbox/flows/PromiseClient"
 * import { implementFlow } from "@signalbox/flows/Promises"
 *
 * // In a module that web applications import too.
 * export const reminder = declareFlow({
 *   name: "reminder",
 *   input: Schema.String,
 *   output: Schema.String,
 *   key: (text) => text
 * })
 *
 * // In the program that runs it.
 * export const remind = implementFlow(reminder, {
 *   run: async (ctx, text) => {
 *     await ctx.sleep("a while", "3 days")
 *     return text
 *   }
 * })
 * ```
 */
export const implementFlow = <I, O, S extends AnyService = never>(
  declared: DeclaredFlow<I, O>,
  { run }: BodyDefinition<I, O, S>
): PromiseFlow<I, O, S["Identifier"]> => {
  const flow = Flow.implement(declared, (given: I): Effect.Effect<O, FlowError, FlowContext<S["Identifier"]>> =>
    Effect.mapError(
      partOf<O, S["Identifier"]>((ctx) => run(ctx, given)),
      errorOf
    )
  )
  return { ...flow, layer: Durable.layer(flow), draining: Durable.layer(flow, { drain: true }) }
}

// ---- running

/**
 * The flows of a program. Promises reject with the tagged errors of the call (`error._tag`): `execute` and `submit` with
 * `InvalidInput` when the input does not fit the schema of the flow, which a backend returns as a status 400, and every call with
 * `CallUnanswered` when the database does not respond in time, a status 503.
 */
export interface Flows {
  /** Starts an execution or joins the one with its key, and waits for its result: see `Flow.execute`. */
  readonly execute: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.FlowDefinition<I, S, E>,
    input: I["Type"],
    options?: Flow.SubmitOptions & CallOptions
  ) => Promise<S["Type"]>
  /** Starts an execution, now or later, or joins the one with its key; returns its id: see `Flow.submit`. */
  readonly submit: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.FlowDefinition<I, S, E>,
    input: I["Type"],
    options?: Flow.SubmitOptions & CallOptions
  ) => Promise<string>
  /** Submits up to 1,000 inputs in one transaction; resolves to their ids in order: see `Flow.submitMany`. */
  readonly submitMany: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.FlowDefinition<I, S, E>,
    inputs: ReadonlyArray<I["Type"]>,
    options?: Flow.WhenOptions & CallOptions
  ) => Promise<ReadonlyArray<string>>
  /** Sends a signal to the execution of a key. */
  readonly signal: <I extends Codec, S extends Codec, E extends Codec, V extends Codec>(
    flow: Flow.FlowDefinition<I, S, E>,
    key: string,
    signal: Signal<V>,
    value: V["Type"],
    options?: Durable.SendOptions & CallOptions
  ) => Promise<void>
  /** Resolves to the execution of a key. */
  readonly handle: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.FlowDefinition<I, S, E>,
    key: string,
    options?: CallOptions
  ) => Promise<PromiseHandle<S["Type"]>>
  /**
   * Runs an async function in a transaction of the database that has the flows: its rows, the executions that it submits and the signals
   * that it sends are one commit. Rolled back when it rejects.
   */
  readonly transaction: <A>(run: (tools: TransactionTools) => PromiseLike<A> | A, options?: CallOptions) => Promise<A>
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

/**
 * Opens the storage and runs the executions of these flows, also those that a previous process started, until `close`. Rejects with
 * `FlowEngineError` when the storage cannot be opened, and with a `TypeError` when the options are invalid.
 */
export const openFlows = async <R = never>(options: OpenOptions<R>): Promise<Flows> => {
  const calls = await open(layerOf(options))
  const { call, close } = calls
  return {
    execute: (flow, input, submitting) => call(Durable.execute(flow, input, submitting), submitting),
    submit: (flow, input, submitting) => call(Durable.submit(flow, input, submitting), submitting),
    submitMany: (flow, inputs, submitting) => call(Durable.submitMany(flow, inputs, submitting), submitting),
    signal: (flow, key, signal, value, sending) =>
      call(
        Effect.flatMap(Durable.handle(flow, key), (handle) => handle.signal(signal, value, sending)),
        sending
      ),
    handle: (flow, key, calling) => handleOf(calls, flow, key, calling),
    transaction: (run, calling) => call(transacted(run), calling),
    run: (effect, calling) => call(effect, calling),
    toNodeHandler: (options) => toNodeHandler(calls, options),
    toWebHandler: (options) => toWebHandler(calls, options),
    close
  }
}
