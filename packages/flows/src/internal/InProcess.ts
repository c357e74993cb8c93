/**
 * The interpreter that runs a flow from start to end in the process, and keeps nothing.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { FlowEvents } from "../FlowEvents.ts"
import type { FlowSignals } from "../FlowSignals.ts"
import { failureOf, publishTo } from "./Announce.ts"
import { at, type Call, inSpan, type Interpreter, makeClaim, once, outsideFlow, type StepCall } from "./Position.ts"
import { checkError, type Codec, decodeRecorded, recordResult } from "./Values.ts"
import { Reporter } from "./Reporter.ts"
import { inStepScope } from "./StepScope.ts"
import type { Undos } from "./Undos.ts"

export interface Options {
  readonly executionId: string
  readonly events: FlowEvents
  readonly signals: FlowSignals
  readonly undos: Undos
}

/** Interprets one execution. */
export const make = ({ events, executionId, signals, undos }: Options): Interpreter => {
  const publish = publishTo(events)

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
      const execute = inStepScope(executionId, path, call.execute).pipe(
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
    claim: makeClaim(),
    step,
    flow,
    sleep: (place, millis) =>
      step({
        ...place,
        input: millis,
        success: Schema.Void,
        error: Schema.Never,
        execute: Effect.sleep(millis),
        retry: once
      }),
    pause: (_path, millis) => Effect.sleep(millis),
    signal: (place, schema) =>
      step({
        ...place,
        input: null,
        success: schema,
        error: Schema.Never,
        execute: Effect.flatMap(signals.receive({ executionId, path: place.path }), (value) =>
          decodeRecorded(schema, value, `the signal ${place.path}`)
        ),
        retry: once
      }),
    race: (_place, members) => Effect.raceAllFirst(members.map(([, member]) => member)),
    branches: (_path, members) => members,
    addUndo: undos.add
  }
  return interpreter
}
