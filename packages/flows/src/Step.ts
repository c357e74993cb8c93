/**
 * Steps: the named units of work of a flow.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { check, time } from "@signalbox/transport/OptionError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Failing, FlowContext } from "./FlowContext.ts"
import { InvalidInput } from "./FlowErrors.ts"
import { type Awaited, claimed, conceal, once, type Retry, type Transient } from "./internal/body/Position.ts"
import { checkRetry, retryOf } from "./internal/body/Retrying.ts"
import { durably } from "./internal/body/TransientErrors.ts"
import { type Codec, recordResult } from "./internal/model/Values.ts"
import type { RetryOptions } from "./Retry.ts"

export type { RetryOptions } from "./Retry.ts"

/** An attempt of a step took longer than the step's `timeout`, and was interrupted. */
export class StepTimeout extends TaggedError<StepTimeout>()("StepTimeout", {
  step: Schema.String,
  afterMillis: Schema.Finite
}) {
  override get message(): string {
    return `the step ${this.step} took longer than ${this.afterMillis} ms`
  }
}

/** The error schema of a step: the one that it declares and, when it has a timeout, `StepTimeout`. */
export type WithTimeout<E extends Codec, T> = [T] extends [never] ? E : Schema.Union<readonly [E, typeof StepTimeout]>

/** What `with` of a step can change: `startRun.with({ timeout: "1 minute" })`. */
export interface CallPolicy<E, T extends Duration.Input> {
  readonly retry?: RetryOptions<E>
  /** The time limit of an attempt. The step can then also fail with `StepTimeout`. */
  readonly timeout?: T
}

export interface StepOptions<
  I extends Codec,
  S extends Codec,
  E extends Codec,
  R,
  T extends Duration.Input
> extends CallPolicy<WithTimeout<E, T>["Type"], T> {
  readonly input: I
  /** The result: JSON by this schema, at most 1 MB, without secrets. */
  readonly success: S
  /** The errors of the step; `Schema.Never` for a step that cannot fail. */
  readonly error: E
  /** The work. May use any service. May run again, so its effects should be safe to repeat. */
  readonly run: (input: I["Type"]) => Effect.Effect<S["Type"], E["Type"], R>
  /**
   * `"never"`: an attempt that was interrupted by the end of its process is not run again; the execution halts, and a person
   * decides. Default: it is run again, with the same idempotency keys.
   */
  readonly repeat?: "never"
}

/** A step: call it in the body of a flow. */
export interface Step<I extends Codec, S extends Codec, E extends Codec, R, Name extends string = string> {
  /**
   * Runs the step. Its path, its name and key after those around it, identifies it in the execution: a key is used once in one place;
   * without a key, repeated calls in one place are numbered (`notify#2`).
   */
  (
    input: I["Type"],
    options?: { readonly key?: string }
  ): Effect.Effect<S["Type"], E["Type"], FlowContext<R, Failing<Name, E["Type"]>>>
  readonly name: Name
  readonly input: I
  readonly success: S
  readonly error: E
  /** Returns the same step with another retry policy, or with a time limit for each attempt. */
  readonly with: <const T extends Duration.Input = never>(
    policy: CallPolicy<WithTimeout<E, T>["Type"], T>
  ) => Step<I, S, WithTimeout<E, T>, R, Name>
}

/** Throws an `OptionError` for a policy that cannot be. */
const checkPolicy = <E, T extends Duration.Input>(of: string, { retry, timeout }: CallPolicy<E, T>): void => {
  if (timeout !== undefined) check(of, { timeout }, { timeout: time })
  if (retry !== undefined) checkRetry(of, retry)
}

/**
 * Creates a step.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { ProcessId } from "@signalbox/api/contract/Ids"
 * import {
 *   Conflict,
 *   ControlRoomError,
 *   InvalidRequest,
 *   NotFound
 * } from "@signalbox/api/ControlRoomError"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const submit = Flow.step("submit", {
 *   input: Schema.Struct({ process: ProcessId, day: Schema.String }),
 *   success: Schema.String,
 *   error: Schema.Union([NotFound, InvalidRequest, Conflict, ControlRoomError]),
 *   retry: { attempts: 3, while: (error) => error._tag === "ControlRoomError" },
 *   run: Effect.fnUntraced(function* ({ day, process }) {
 *     const item = yield* WorkItems.create({ process, payload: { day } })
 *     return item.id
 *   })
 * })
 * ```
 */
export const step = <
  I extends Codec,
  S extends Codec,
  E extends Codec,
  R,
  const Name extends string,
  const T extends Duration.Input = never
>(
  name: Name,
  options: StepOptions<I, S, E, R, T>
): Step<I, S, WithTimeout<E, T>, R, Name> => makeStep(name, options, {})

/** Options that only ready steps have. */
export interface Ready<I, E, R> {
  /** The external event that the step waits for before it runs. */
  readonly awaits?: ((input: I) => Effect.Effect<Awaited, never, R>) | undefined
  /** Transient errors: a durable execution retries them for a day, unless the step has a policy. */
  readonly transient?: (error: E) => Transient | null
  /** Whether an attempt that may have acted can be repeated; default always. */
  readonly isSafe?: ((input: I) => boolean) | undefined
  /** Whether its attempts share a rate gate with all others to the same control room; each then sends its requests once. */
  readonly isSpaced?: boolean
}

/** @internal `step`, with the options of ready steps. */
export const makeStep = <
  I extends Codec,
  S extends Codec,
  E extends Codec,
  R,
  const Name extends string,
  const T extends Duration.Input = never
>(
  name: Name,
  options: StepOptions<I, S, E, R, T>,
  ready: Ready<I["Type"], E["Type"], R>
): Step<I, S, WithTimeout<E, T>, R, Name> => {
  const of = `the step ${name}`
  checkPolicy(of, options)
  const timeout = options.timeout === undefined ? undefined : Duration.toMillis(options.timeout)
  // `T` is `never` exactly when there is no timeout, which the compiler cannot conclude from the value.
  const error = (timeout === undefined ? options.error : Schema.Union([options.error, StepTimeout])) as WithTimeout<
    E,
    T
  >
  const { awaits, isSafe, isSpaced = false, transient } = ready
  const passing =
    transient === undefined || options.retry !== undefined
      ? null
      : (failure: WithTimeout<E, T>["Type"]): Transient | null =>
          failure instanceof StepTimeout ? { retryAfterMillis: null, acted: "maybe" } : transient(failure)
  const retryFor = (input: I["Type"]): Retry<WithTimeout<E, T>["Type"]> => {
    if (options.retry !== undefined) return retryOf(of, options.retry)
    if (passing === null) return once
    if (isSafe === undefined || isSafe(input)) return durably(passing)
    return durably((failure) => {
      const found = passing(failure)
      return found?.acted === "maybe" ? null : found
    })
  }

  const execute = (path: string, input: I["Type"]): Effect.Effect<S["Type"], WithTimeout<E, T>["Type"], R> => {
    const attempt = Effect.suspend(() => options.run(input))
    if (timeout === undefined) return attempt
    return Effect.timeoutOrElse(attempt, {
      duration: timeout,
      orElse: () => Effect.fail(new StepTimeout({ step: path, afterMillis: timeout }))
    })
  }

  const call = (input: I["Type"], callOptions: { readonly key?: string } = {}) =>
    conceal(
      claimed(name, callOptions.key, ({ numbered, path }, interpreter) =>
        Effect.flatMap(recordResult(options.input, input, `the input of the step ${path}`), (recorded) =>
          interpreter.step({
            path,
            name,
            numbered,
            input: recorded.json,
            inputSchema: options.input,
            success: options.success,
            error,
            execute: execute(path, recorded.value),
            retry: retryFor(recorded.value),
            transient: isSpaced ? passing : null,
            repeatable: options.repeat !== "never",
            awaits: awaits?.(recorded.value)
          })
        )
      )
    )
  // The new property has the type of its value, which `defineProperty` loses.
  const named = Object.defineProperty(call, "name", { value: name }) as typeof call & { readonly name: Name }
  return Object.assign(named, {
    input: options.input,
    success: options.success,
    error,
    with: <const T2 extends Duration.Input = never>(
      policy: CallPolicy<WithTimeout<WithTimeout<E, T>, T2>["Type"], T2>
    ) => makeStep(name, { input: options.input, success: options.success, run: options.run, error, ...policy }, ready)
  })
}

/** A value with an error schema, such as a step or a flow, or an error schema itself. */
type Failable = Codec | { readonly error: Codec }

/** A flow that is called or started fails with `InvalidInput` too. */
type ErrorSchemaOf<F> = F extends Codec
  ? F
  : F extends { readonly error: infer E extends Codec; readonly body: unknown }
    ? Schema.Union<readonly [E, typeof InvalidInput]>
    : F extends { readonly error: infer E extends Codec }
      ? E
      : never

const isCodec = (failable: Failable): failable is Codec => Schema.isSchema(failable)

const schemaOf = (failable: Failable): Codec => {
  if (isCodec(failable)) return failable
  return "body" in failable ? Schema.Union([failable.error, InvalidInput]) : failable.error
}

/** The schemas of `errorsOf`, in its order. */
export type ErrorSchemas<F extends ReadonlyArray<Failable>> = { readonly [K in keyof F]: ErrorSchemaOf<F[K]> }

/**
 * Returns the schema of the errors of steps, called flows and plain schemas, for the `error` of `Flow.make`. If the errors of a step
 * are missing, the flow does not compile; the message names the step.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { ProcessId, ProcessRunId } from "@signalbox/api/contract/Ids"
 * import { createWorkItem, startRun } from "@signalbox/flows/ControlRoomSteps"
 * import * as Effect from "effect/Effect"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const started = Flow.make("started", {
 *   version: 1,
 *   input: ProcessId,
 *   success: ProcessRunId,
 *   error: Flow.errorsOf(createWorkItem, startRun, Flow.FlowTimeout),
 *   idempotencyKey: (process) => process,
 *   run: Effect.fnUntraced(function* (process) {
 *     const item = yield* createWorkItem({ process, payload: null })
 *     return yield* Flow.timeout(
 *       "start",
 *       "1 hour",
 *       startRun({ process, workItems: [item] })
 *     )
 *   })
 * })
 * ```
 */
export const errorsOf = <const F extends ReadonlyArray<Failable>>(...failables: F): Schema.Union<ErrorSchemas<F>> => {
  const schemas = failables.map(schemaOf)
  // `map` does to each element what `ErrorSchemas` declares.
  return Schema.Union(schemas) as unknown as Schema.Union<ErrorSchemas<F>>
}
