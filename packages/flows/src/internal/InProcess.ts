/**
 * The interpreter that runs a flow from start to end in the process, and keeps nothing.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { FlowDefect } from "../FlowDefect.ts"
import type { Failure, FlowEvent, FlowEvents } from "../FlowEvents.ts"
import { at, type Call, inSpan, type Interpreter, outsideFlow, type StepCall } from "./Interpreter.ts"
import { checkError, type Codec, recordResult } from "./Journal.ts"
import { Reporter } from "./Reporter.ts"

/** A cause in an event. Defects are not quoted, except ours: they may hold anything. */
export const failureOf = (cause: Cause.Cause<unknown>): Failure => {
  if (Cause.hasInterruptsOnly(cause)) return { kind: "interrupted", tag: null, message: "interrupted" }
  const error = Cause.squash(cause)
  const kind = Cause.hasFails(cause) ? "failed" : "died"
  const named = Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) ? error._tag : undefined
  const tag = named ?? (error instanceof Error ? error.name : null)
  const quotable = kind === "failed" || error instanceof FlowDefect
  const message = quotable && error instanceof Error ? error.message.slice(0, 500) : ""
  return { kind, tag, message: message === "" ? (tag ?? kind) : message }
}

/** Publishes an event that is made for the time at hand. */
export const publishTo = (events: FlowEvents) => (event: (now: number) => FlowEvent) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => events.publish(event(now)))

/** Interprets one execution. */
export const make = (executionId: string, events: FlowEvents): Interpreter => {
  const publish = publishTo(events)
  const taken = new Set<string>()

  const claim = (path: string) =>
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

  /** Runs a call in a span of its own and tells how it ended. */
  const observed = <A, E, R>(
    kind: "step" | "flow",
    call: { readonly path: string; readonly name: string },
    attempt: () => number,
    work: Effect.Effect<A, E, R>
  ) =>
    inSpan(
      `${kind} ${call.name}`,
      { "flow.execution_id": executionId, "flow.path": call.path },
      Effect.onExit(work, (exit) =>
        publish((at) => {
          const fields = { executionId, path: call.path, attempt: attempt(), at }
          return Exit.isSuccess(exit)
            ? { _tag: "StepSucceeded", ...fields }
            : { _tag: "StepFailed", ...fields, failure: failureOf(exit.cause) }
        })
      )
    )

  const step = <S extends Codec, E extends Codec, R>(call: StepCall<S, E, R>) =>
    Effect.suspend(() => {
      const { path, retry } = call
      let attempt = 1
      const fields = (at: number) => ({ executionId, path, attempt, at })
      const execute = call.execute.pipe(
        at(outsideFlow),
        Effect.updateService(
          Reporter,
          () => (progress) => publish((now) => ({ _tag: "StepProgress", ...fields(now), ...progress }))
        )
      )
      const attempts = Effect.gen(function* () {
        for (; ; attempt++) {
          yield* publish((now) => ({ _tag: "StepStarted", ...fields(now) }))
          const result = yield* Effect.result(execute)
          if (Result.isSuccess(result)) {
            return (yield* recordResult(call.success, result.success, `the result of the step ${path}`)).value
          }
          const error = result.failure
          if (attempt >= retry.attempts || !retry.again(error)) {
            yield* checkError(call.error, error, `the step ${path}`)
            return yield* Effect.fail(error)
          }
          const delayMillis = retry.delayMillis(attempt)
          const failure = failureOf(Cause.fail(error))
          yield* publish((now) => ({ _tag: "StepRetrying", ...fields(now), failure, delayMillis }))
          yield* Effect.sleep(delayMillis)
        }
      })
      return observed("step", call, () => attempt, attempts)
    })

  const flow = <S extends Codec, E extends Codec, R>(call: Call<S, E, R>) => {
    const { path } = call
    const work = Effect.gen(function* () {
      yield* publish((now) => ({ _tag: "StepStarted", executionId, path, attempt: 1, at: now }))
      const value = yield* call.execute.pipe(
        at({ interpreter, prefix: `${path}/` }),
        Effect.tapError((error) => checkError(call.error, error, `the flow ${path}`))
      )
      return (yield* recordResult(call.success, value, `the result of the flow ${path}`)).value
    })
    return observed("flow", call, () => 1, work)
  }

  const interpreter: Interpreter = {
    claim,
    step,
    flow,
    sleep: ({ duration, name, path }) =>
      step({
        path,
        name,
        success: Schema.Void,
        error: Schema.Never,
        execute: Effect.sleep(duration),
        retry: { attempts: 1, again: () => false, delayMillis: () => 0 }
      })
  }
  return interpreter
}
