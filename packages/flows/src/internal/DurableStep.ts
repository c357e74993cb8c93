/**
 * One attempt of a step as an activity: run once, recorded, and given back from the record when the body runs again.
 */
import * as Clock from "effect/Clock"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Activity from "effect/workflow/Activity"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import { FlowDefect } from "../FlowDefect.ts"
import { FlowChanged } from "../FlowErrors.ts"
import type { FlowEvents } from "../FlowEvents.ts"
import { failureOf, publishTo } from "./Announce.ts"
import type { Engine } from "./engine/Parts.ts"
import { type StepKind, StepInfo } from "./FlowPayload.ts"
import type { RecordedStep } from "./FlowStore.ts"
import { at, type Call, inSpan, outsideFlow } from "./Position.ts"
import { checkError, type Codec, decodeRecorded, record, recordResult } from "./Values.ts"
import type { Replay } from "./Replay.ts"
import { Reporter } from "./Reporter.ts"
import { inStepScope } from "./StepScope.ts"
import { standstill } from "./Waits.ts"

/** One execution, for as long as its body runs. */
export interface Session {
  readonly executionId: string
  readonly flow: string
  readonly version: number
  readonly engine: Engine
  readonly events: FlowEvents
  readonly replay: Replay
  /** What the generation before has recorded and this one takes over. */
  readonly seeds: ReadonlyMap<string, RecordedStep>
  readonly root: WorkflowEngine.WorkflowInstance["Service"]
  /** The body is over and its undos run: nothing may be put aside any more. */
  undoing: boolean
}

/**
 * Gives an effect what it needs of the engine. The instance is that of the part of the body that runs: a race has one of
 * its own. Undos run when races are over, so they have that of the execution.
 */
export const inEngine = <A, E>(
  session: Session,
  effect: Effect.Effect<A, E, WorkflowEngine.WorkflowEngine | WorkflowEngine.WorkflowInstance>
): Effect.Effect<A, E> =>
  Effect.flatMap(instanceOf(session), (instance) =>
    effect.pipe(
      Effect.provideService(WorkflowEngine.WorkflowInstance, instance),
      Effect.provideService(WorkflowEngine.WorkflowEngine, session.engine.workflows)
    )
  )

export const instanceOf = (session: Session) =>
  Effect.map(Effect.serviceOption(WorkflowEngine.WorkflowInstance), (found) =>
    session.undoing ? session.root : Option.getOrElse(found, () => session.root)
  )

/** Defects come back from a store as plain errors. */
const restored = (defect: unknown): unknown => {
  if (defect instanceof FlowDefect || !Predicate.isError(defect) || defect.name !== "FlowDefect") return defect
  return new FlowDefect({ message: defect.message, ...(defect.cause === undefined ? {} : { cause: defect.cause }) })
}
export const withDefects = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchDefect(effect, (defect) => Effect.die(restored(defect)))

export interface Attempt<S extends Codec, E extends Codec, R> extends Call<S, E, R> {
  readonly kind: StepKind
  readonly attempt: number
  /** Whether its begin is told elsewhere, or not worth telling. */
  readonly silent: boolean
}

/** Runs an attempt unless it is recorded. `ran` tells which, once it has ended. */
export const runAttempt = Effect.fnUntraced(function* <S extends Codec, E extends Codec, R>(
  session: Session,
  call: Attempt<S, E, R>,
  onRan: () => void
) {
  const { events, executionId, replay } = session
  const { attempt, input, name, path } = call
  const publish = publishTo(events)
  const fields = (at: number) => ({ executionId, path, attempt, at })
  const info = { name, kind: session.undoing ? "compensation" : call.kind, input } as const
  const isRecorded = replay.recorded(path, attempt)
  if (!replay.recorded(path) && !session.undoing) {
    // First comes what is recorded, with the failures that interrupt what ran beside them: this step, maybe.
    if (replay.progress() > 0) {
      const instance = yield* instanceOf(session)
      yield* Effect.raceFirst(replay.all, standstill(instance, replay.progress))
      for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
    }
    const missed = replay.missedBefore(path)
    if (missed !== null) {
      const { flow, version } = session
      return yield* Effect.die(
        new FlowChanged({ flow, version, execution: executionId, recorded: missed, reached: path })
      )
    }
  }

  const context = yield* Effect.context<R>()
  let ran = false
  let startedAt = yield* Clock.currentTimeMillis
  const seed = session.undoing ? undefined : session.seeds.get(path)
  const work = inStepScope(executionId, path, call.execute).pipe(
    at(outsideFlow),
    Effect.updateService(
      Reporter,
      () => (progress) => publish((now) => ({ _tag: "StepProgress", ...fields(now), ...progress }))
    ),
    Effect.tapError((error) => checkError(call.error, error, `the step ${path}`)),
    Effect.flatMap((value) => recordResult(call.success, value, `the result of the step ${path}`)),
    Effect.map(({ value }) => value)
  )
  const execute = Effect.gen(function* () {
    if (seed !== undefined) {
      const what = `the record of the step ${path}`
      if (seed.state === "succeeded") return yield* decodeRecorded(call.success, seed.value, what)
      return yield* Effect.fail(yield* decodeRecorded(call.error, seed.value, what))
    }
    ran = true
    onRan()
    startedAt = yield* Clock.currentTimeMillis
    if (!call.silent) yield* publish((now) => ({ _tag: "StepStarted", ...fields(now) }))
    return yield* inSpan(`step ${name}`, { "flow.execution_id": executionId, "flow.path": path }, work)
  }).pipe(Effect.updateContext((inner: Context.Context<never>) => Context.merge(context, inner)))

  const activity = Activity.make({
    name: path,
    success: call.success,
    error: call.error,
    execute,
    annotations: Context.make(StepInfo, info)
  })
  const rowOf = Effect.fnUntraced(function* (exit: Exit.Exit<S["Type"], E["Type"]>): Effect.fn.Return<RecordedStep> {
    const endedAt = yield* Clock.currentTimeMillis
    const kept = { ...info, path, attempt, startedAt, endedAt }
    if (Exit.isSuccess(exit)) {
      const { json } = yield* record(call.success, exit.value, `the result of the step ${path}`)
      return { ...kept, state: "succeeded", value: json, failure: null }
    }
    const error = Cause.findErrorOption(exit.cause)
    const value = Option.isSome(error) ? (yield* record(call.error, error.value, `the error of ${path}`)).json : null
    return { ...kept, state: "failed", value, failure: failureOf(exit.cause) }
  })
  return yield* withDefects(inEngine(session, Effect.provideService(activity, Activity.CurrentAttempt, attempt))).pipe(
    Effect.onExit((exit) =>
      Effect.gen(function* () {
        const interrupted = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
        if (!interrupted && !isRecorded) yield* session.engine.store.recordStep(executionId, rowOf(exit))
        if (!ran) return
        if (Exit.isSuccess(exit)) return yield* publish((now) => ({ _tag: "StepSucceeded", ...fields(now) }))
        const { suspended } = yield* instanceOf(session)
        // A typed failure may be tried again, which the caller knows; what was put aside has not ended.
        if (Cause.hasFails(exit.cause) || (interrupted && suspended)) return
        const failure = failureOf(exit.cause)
        yield* publish((now) => ({ _tag: "StepFailed", ...fields(now), failure }))
      })
    )
  )
})
