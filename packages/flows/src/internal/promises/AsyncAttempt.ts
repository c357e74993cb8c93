/**
 * An attempt of a step whose work is an async function.
 */
import { type AnySchema, codecOf, type TypeOf } from "@signalbox/api/StandardSchema"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { details } from "../../Details.ts"
import * as Flow from "../../Flow.ts"
import type { Feed } from "../../States.ts"
import { StepTimeout } from "../../Step.ts"
import { Attempt } from "../model/Identity.ts"
import type { Codec } from "../model/Values.ts"
import { failureOf } from "./Thrown.ts"

/** The second argument of the `run` of a step. */
export interface StepTools {
  /** Aborted when the step is interrupted: by its timeout, by a race, by the failure of another branch. */
  readonly signal: AbortSignal
  /** The same for all attempts of the step: send it with requests that must not act twice. */
  readonly idempotencyKey: string
  /** Reports the progress of the step. */
  readonly progress: (progress: Parameters<typeof Flow.progress>[0]) => void
  /** Resolves to what earlier attempts recorded last, and to how this one records how far it is: see `Flow.details`. */
  readonly details: <S extends AnySchema>(schema: S) => Promise<StepDetails<TypeOf<S>>>
  /** Appends an item to a feed that the flow lists. Items of failed attempts stay. */
  readonly append: <S extends Codec>(feed: Feed<S>, value: S["Type"]) => Promise<void>
}

/** What the attempts of a step record while they run. */
export interface StepDetails<A> {
  /** What earlier attempts recorded last; undefined: nothing, or what does not fit the schema. */
  readonly last: A | undefined
  /** Records a value, which replaces the one before. A loop may call it for each row. */
  readonly record: (value: A) => Promise<void>
}

/** What is known of a step when it is attempted. */
interface Work<I, O> {
  readonly name: string
  readonly run: (input: I, tools: StepTools) => PromiseLike<O> | O
  readonly timeout?: Duration.Input | undefined
}

const ran = Effect.fnUntraced(function* <I, O>(work: Work<I, O>, input: I) {
  const attempt = yield* Attempt
  const inFlow = yield* Effect.context<never>()
  const within = Effect.runPromiseWith(inFlow)
  return yield* Effect.tryPromise({
    try: async (signal) =>
      work.run(input, {
        signal,
        idempotencyKey: attempt?.scope ?? "",
        progress: (progress) => void Effect.runForkWith(inFlow)(Flow.progress(progress)),
        details: async (schema) => {
          const { last, record } = await within(details(codecOf(schema)))
          return { last: Option.getOrUndefined(last), record: (value) => within(record(value)) }
        },
        append: (feed, value) => within(feed.append(value))
      }),
    catch: failureOf
  })
})

/** Runs the function; fails with what it throws, or when it takes longer than the time limit of an attempt. */
export const attempt = <I, O>(work: Work<I, O>, input: I) => {
  const { name, timeout } = work
  if (timeout === undefined) return ran(work, input)
  return Effect.timeoutOrElse(ran(work, input), {
    duration: timeout,
    orElse: () => Effect.fail(failureOf(new StepTimeout({ step: name, afterMillis: Duration.toMillis(timeout) })))
  })
}
