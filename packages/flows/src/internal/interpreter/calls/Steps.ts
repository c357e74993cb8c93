/**
 * Steps and sub-flows: what runs in an attempt, under which idempotency scope, and what is recorded of its end.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { sendOnce } from "@signalbox/api/Policy"
import { failureOf } from "../../model/Failure.ts"
import { at, type Awaited, type Call, inSpan, type Numbered, outsideFlow, type StepCall } from "../../body/Position.ts"
import { Reporter } from "../../body/Reporter.ts"
import { inStepScope } from "../../model/StepScope.ts"
import { canonical, checkError, type Codec, readRecorded, recordResult } from "../../model/Values.ts"
import type { Caller, Services } from "./Caller.ts"
import { sayInStep } from "./Says.ts"
import type { AttemptInfo, End, Spec } from "./Spec.ts"

/** Set in a step when its external event has happened: it reads the result once instead of polling. */
export const WaitIsOver = Context.Reference<boolean>("@signalbox/flows/WaitIsOver", { defaultValue: () => false })

// ---- an attempt

const reporterOf = (services: Services, path: string, { attempt, report }: AttemptInfo): Reporter => {
  const { id, publish } = services
  return {
    progress: (progress) =>
      publish((now) => ({ _tag: "StepProgress", executionId: id, path, attempt, at: now, ...progress })),
    what: `the details of the step ${path} of the execution ${id}`,
    details: report.details,
    record: report.record,
    say: (said) => sayInStep(services, report, said)
  }
}

/** The code of a step in its scope, outside of the flow. */
const codeOf = <S extends Codec, E extends Codec, R>(
  services: Services,
  call: StepCall<S, E, R>,
  scope: string,
  info: AttemptInfo
): Effect.Effect<S["Type"], E["Type"], R> => {
  const { durable, gates, id, origin } = services
  const { execute, name, path, transient } = call
  const code = inStepScope(
    id,
    `${origin}/${scope}`,
    durable,
    gates !== null && transient !== null ? gates.pass(sendOnce(execute), transient) : execute
  ).pipe(
    at(outsideFlow),
    Effect.provideService(Reporter, reporterOf(services, path, info)),
    Effect.provideService(WaitIsOver, info.awaited)
  )
  return inSpan(`step ${name}`, { "flow.execution_id": id, "flow.path": path }, code)
}

/** One attempt of a step, with the services of the code that called it. */
const attemptOf =
  <S extends Codec, E extends Codec, R>(
    services: Services,
    call: StepCall<S, E, R>,
    scope: string,
    context: Context.Context<R>
  ): Spec["attempt"] =>
  (info) =>
    Effect.gen(function* (): Effect.fn.Return<End, never, R> {
      const { durable, id, publish } = services
      const { path } = call
      const { attempt, elapsedMillis } = info
      yield* publish((now) => ({ _tag: "StepStarted", executionId: id, path, attempt, at: now }))
      const exit = yield* Effect.exit(codeOf(services, call, scope, info))
      if (Exit.isSuccess(exit)) {
        const { json } = yield* recordResult(call.success, exit.value, `the result of the step ${path}`)
        return { _tag: "Succeeded", json }
      }
      const { cause } = exit
      const failed = cause.reasons.find(Cause.isFailReason)
      if (failed === undefined) return { _tag: "Died", cause }
      const { error } = failed
      const retryMillis = yield* call.retry({ error, attempt, elapsedMillis: elapsedMillis(), durable })
      yield* checkError(call.error, error, `the step ${path}`)
      const { json } = yield* recordResult(call.error, error, `the error of the step ${path}`)
      return { _tag: "Failed", json, cause: Cause.fail(error), retryMillis }
    }).pipe(
      Effect.catchCause((cause) => Effect.succeed<End>({ _tag: "Died", cause })),
      Effect.provideContext(context)
    )

// ---- the call

/** The idempotency scope of a call: one that repeats the previous failed one with equal input keeps its scope. */
const scopeOf = (path: string, redo: number, numbered: Numbered | null, input: string): string => {
  const own = redo === 0 ? path : `${path}~${redo}`
  if (numbered === null) return own
  const { last } = numbered
  const scope = last !== null && last.failed && last.input === input ? last.scope : own
  numbered.last = { scope, input, failed: false }
  return scope
}

const noAwait = Effect.succeed(null)
const nothingAwaited = Effect.succeed({ subject: "", timeoutMillis: null, recorded: Effect.void })

/** The external event that a step waits for. Only a recorded wait outlives the process. */
const awaitedBy = <R>(
  { durable, replays }: Services,
  awaits: StepCall<Codec, Codec, R>["awaits"]
): Effect.Effect<Awaited | null, never, R> => {
  if (!durable || awaits === undefined) return noAwait
  return replays ? nothingAwaited : awaits
}

/** Calls a step: parks the branch until the step has ended, now or in the record. */
export const step = <S extends Codec, E extends Codec, R>(
  { branch, services }: Caller,
  call: StepCall<S, E, R>
): Effect.Effect<S["Type"], E["Type"], R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.flatMap(awaitedBy(services, call.awaits), (awaited) => {
      const { id, park, redoOf } = services
      const { input, inputSchema, kind = "step", name, numbered, path, repeatable } = call
      const scope = scopeOf(path, redoOf(path), numbered, canonical(input))
      return park<S["Type"], E["Type"]>(branch, {
        path,
        name,
        kind: awaited === null ? kind : "run",
        input,
        inputSchema,
        address: "",
        dueMillis: awaited?.timeoutMillis ?? null,
        subject: awaited?.subject ?? null,
        repeatable,
        announced: false,
        recorded: awaited?.recorded ?? Effect.void,
        numbered,
        attempt: attemptOf(services, call, scope, context),
        resultOf: (entry) =>
          entry.state === "succeeded"
            ? readRecorded(id, call.success, entry.value, `the recorded result of ${path}`)
            : Effect.flatMap(readRecorded(id, call.error, entry.value, `the recorded error of ${path}`), Effect.fail)
      })
    })
  )

/** Calls a sub-flow: its steps are recorded, it is not. Its events are published when its end is new. */
export const flow = <S extends Codec, E extends Codec, R>(
  { branch, services }: Caller,
  { error, execute, path, success }: Call<S, E, R>
): Effect.Effect<S["Type"], E["Type"], R> =>
  Effect.gen(function* () {
    const { id, isLive, publish } = services
    const fields = (at: number) => ({ executionId: id, path, attempt: 1, at })
    if (isLive()) yield* publish((now) => ({ _tag: "StepStarted", ...fields(now) }))
    const checked = execute.pipe(
      at({ interpreter: branch.interpreter, prefix: `${path}/` }),
      Effect.tapError((failure) => checkError(error, failure, `the flow ${path}`)),
      Effect.flatMap((value) => recordResult(success, value, `the result of the flow ${path}`))
    )
    const { value } = yield* checked.pipe(
      Effect.onExit((exit) =>
        isLive()
          ? publish((now) =>
              Exit.isSuccess(exit)
                ? { _tag: "StepSucceeded", ...fields(now) }
                : { _tag: "StepFailed", ...fields(now), failure: failureOf(exit.cause) }
            )
          : Effect.void
      )
    )
    return value
  })
