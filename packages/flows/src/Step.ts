/**
 * Steps: the named units of work of a flow.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { FlowContext } from "./FlowContext.ts"
import { type Awaited, claimed, conceal, once, type Retry } from "./internal/Interpreter.ts"
import { type Codec, record } from "./internal/Values.ts"

/** An attempt of a step took longer than the step's `timeout`, and was interrupted. */
export class StepTimeout extends Schema.TaggedError<StepTimeout>()("StepTimeout", {
  step: Schema.String,
  afterMillis: Schema.Finite
}) {
  override get message(): string {
    return `the step ${this.step} took longer than ${this.afterMillis} ms`
  }
}

/** The error schema of a step: the one that it declares and, when it has a timeout, `StepTimeout`. */
export type WithTimeout<E extends Codec, T> = [T] extends [never] ? E : Schema.Union<readonly [E, typeof StepTimeout]>

/** How a step is repeated when it fails with an error of its schema. Defects are never repeated. */
export interface RetryOptions<E> {
  /** How often the step is run in all. */
  readonly attempts: number
  /** The pause before the second attempt; default 1 second. */
  readonly delay?: Duration.Input
  /** What each further pause is longer by, as a factor; default 2, and 1 keeps them equal. */
  readonly backoff?: number
  /** Which errors are worth another attempt; default: all. */
  readonly while?: (error: E) => boolean
}

export interface StepOptions<I extends Codec, S extends Codec, E extends Codec, R, T extends Duration.Input> {
  readonly input: I
  /** The result: JSON by this schema, at most 1 MB, without secrets. */
  readonly success: S
  /** What the step can fail with; `Schema.Never` for a step that can't. */
  readonly error: E
  /** The work. May use any service; may be run again, so what it does should be safe to repeat. */
  readonly run: (input: I["Type"]) => Effect.Effect<S["Type"], E["Type"], R>
  readonly retry?: RetryOptions<WithTimeout<E, T>["Type"]>
  /** The longest that one attempt may take. The step then fails with `StepTimeout` too. */
  readonly timeout?: T
}

/** A step: call it in the body of a flow. */
export interface Step<I extends Codec, S extends Codec, E extends Codec, R> {
  /**
   * Runs the step. Its path, the name and the key after those of what is around it, must be unique in an execution: a
   * step that is called several times in one place needs a key.
   */
  (input: I["Type"], options?: { readonly key?: string }): Effect.Effect<S["Type"], E["Type"], FlowContext<R>>
  readonly name: string
  readonly input: I
  readonly success: S
  readonly error: E
}

const retryOf = <E>(options: RetryOptions<E> | undefined): Retry<E> => {
  if (options === undefined) return once
  const first = Duration.toMillis(options.delay ?? "1 second")
  const factor = options.backoff ?? 2
  return {
    attempts: options.attempts,
    again: options.while ?? (() => true),
    delayMillis: (attempt) => first * factor ** (attempt - 1)
  }
}

/**
 * Makes a step.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { ProcessId } from "@signalbox/api/contract/Ids"
 * import { ControlRoomError, InvalidRequest, NotFound } from "@signalbox/api/ControlRoomError"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const submit = Flow.step("submit", {
 *   input: Schema.Struct({ process: ProcessId, day: Schema.String }),
 *   success: Schema.String,
 *   error: Schema.Union([NotFound, InvalidRequest, ControlRoomError]),
 *   retry: { attempts: 3, while: (error) => error._tag === "ControlRoomError" },
 *   run: Effect.fnUntraced(function* ({ day, process }) {
 *     const item = yield* WorkItems.create({ process, payload: { day } })
 *     return item.id
 *   })
 * })
 * ```
 */
export const step = <I extends Codec, S extends Codec, E extends Codec, R, const T extends Duration.Input = never>(
  name: string,
  options: StepOptions<I, S, E, R, T>
): Step<I, S, WithTimeout<E, T>, R> => stepThatAwaits(name, options)

/** @internal `step`, for what waits for something outside and then has little to do. */
export const stepThatAwaits = <
  I extends Codec,
  S extends Codec,
  E extends Codec,
  R,
  const T extends Duration.Input = never
>(
  name: string,
  options: StepOptions<I, S, E, R, T>,
  awaits?: (input: I["Type"]) => Awaited
): Step<I, S, WithTimeout<E, T>, R> => {
  const timeout = options.timeout === undefined ? undefined : Duration.toMillis(options.timeout)
  // `T` is `never` exactly when there is no timeout, which the compiler cannot conclude from the value.
  const error = (timeout === undefined ? options.error : Schema.Union([options.error, StepTimeout])) as WithTimeout<
    E,
    T
  >
  const retry = retryOf(options.retry)

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
      claimed(name, callOptions.key, (path, interpreter) =>
        Effect.flatMap(record(options.input, input, `the input of the step ${path}`), (recorded) =>
          interpreter.step({
            path,
            name,
            input: recorded.json,
            success: options.success,
            error,
            execute: execute(path, recorded.value),
            retry,
            ...(awaits === undefined ? {} : { awaits: awaits(recorded.value) })
          })
        )
      )
    )
  return Object.assign(Object.defineProperty(call, "name", { value: name }), {
    input: options.input,
    success: options.success,
    error
  })
}
