/**
 * The interpreter of durable executions: each step is an activity of a workflow, so that a body that runs again gets the
 * results that are recorded and goes on after them.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Context from "effect/Context"
import { FlowDefect } from "../FlowDefect.ts"
import { failureOf, publishTo } from "./Announce.ts"
import { type Attempt, inEngine, instanceOf, runAttempt, type Session } from "./DurableStep.ts"
import {
  at,
  type Awaited,
  type Call,
  type Contenders,
  type Interpreter,
  makeClaim,
  once,
  type Place,
  type StepCall
} from "./Position.ts"
import { checkError, type Codec, decodeRecorded } from "./Values.ts"
import type { RunWatchers } from "./RunWatchers.ts"
import type { Undos } from "./Undos.ts"
import { awaitDeferred, runKind, signalDeferred, standstill, timerOf, WaitIsOver } from "./Waits.ts"

export const make = (session: Session, undos: Undos, watchers: RunWatchers["Service"]): Interpreter => {
  const { engine, events, executionId, replay, seeds } = session
  const { store, workflows } = engine
  const publish = publishTo(events)
  const claimPath = makeClaim()

  const begun = (path: string) => publish((at) => ({ _tag: "StepStarted", executionId, path, attempt: 1, at }))
  const failed = (path: string, attempt: number, cause: Cause.Cause<unknown>) =>
    publish((at) => ({ _tag: "StepFailed", executionId, path, attempt, at, failure: failureOf(cause) }))

  /** Whether there is nothing to wait for: the step has an end, or gets it from the generation before. */
  const isOver = (path: string) => replay.recorded(path) || seeds.has(path)

  /** A failure that is recorded ends what runs beside it, so that must have come as far as it came the first time. */
  const afterEarlier = (path: string) =>
    Effect.flatMap(instanceOf(session), (instance) =>
      Effect.raceFirst(replay.earlier(path), standstill(instance, replay.progress))
    )

  const step = Effect.fnUntraced(function* <S extends Codec, E extends Codec, R>(
    call: StepCall<S, E, R>,
    kind: Attempt<S, E, R>["kind"] = "step",
    silent = false
  ) {
    const { path, retry } = call
    for (let attempt = 1; ; attempt++) {
      let ran = false
      const onRan = () => {
        ran = true
      }
      const outcome = yield* runAttempt(session, { ...call, kind, attempt, silent }, onRan).pipe(
        Effect.result,
        Effect.tapDefect(() => (ran || session.undoing ? Effect.void : afterEarlier(path)))
      )
      if (Result.isSuccess(outcome)) {
        replay.replayed(path)
        return outcome.success
      }
      const error = outcome.failure
      const cause = Cause.fail(error)
      // What the generation before tried often enough is not tried again.
      if (attempt >= retry.attempts || seeds.has(path) || !retry.again(error)) {
        if (ran) yield* failed(path, attempt, cause)
        else if (!session.undoing) yield* afterEarlier(path)
        replay.replayed(path)
        return yield* Effect.fail(error)
      }
      if (!replay.recorded(path, attempt + 1)) replay.replayed(path)
      const delayMillis = retry.delayMillis(attempt)
      if (ran) {
        const failure = failureOf(cause)
        yield* publish((at) => ({ _tag: "StepRetrying", executionId, path, attempt, at, failure, delayMillis }))
      }
      // Of a step whose next attempt is recorded the pause is over.
      if (!replay.recorded(path, attempt + 1)) yield* pause(`${path}/attempt ${attempt + 1}`, delayMillis)
    }
  })

  /** A step that gives what the interpreter has found out, so that it is recorded. */
  const noted = <S extends Codec, E extends Codec>(kind: Attempt<S, E, never>["kind"], call: Call<S, E, never>) =>
    step({ ...call, retry: once }, kind, true)

  /** So that it can be told what the execution waits for. */
  const recordTimer = (path: string, millis: number) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      store.recordTimer(executionId, { path, due: Math.ceil(now + millis) })
    )

  const pause: Interpreter["pause"] = (path, millis) => {
    if (session.undoing) return Effect.sleep(millis)
    if (millis <= 0) return Effect.void
    const clock = timerOf(path, millis)
    return inEngine(
      session,
      Effect.gen(function* () {
        const { workflow } = yield* instanceOf(session)
        const done = yield* workflows.deferredResult(clock.deferred)
        if (Option.isSome(done)) return
        yield* recordTimer(path, millis)
        yield* workflows.scheduleClock(workflow, { executionId, clock })
        yield* awaitDeferred(workflows, clock.deferred, Effect.sleep(millis))
      })
    )
  }

  /** Tells that a wait begins, unless it began before the body was run again. */
  const beginWait = <S extends Codec>(path: string, deferred: DurableDeferred.DurableDeferred<S>) =>
    Effect.flatMap(inEngine(session, workflows.deferredResult(deferred)), (done) =>
      Option.isSome(done) ? Effect.void : begun(path)
    )

  const awaitRun = Effect.fnUntraced(function* (path: string, { run, timeoutMillis }: Awaited) {
    const context = yield* Effect.context<never>()
    const room = Context.getOption(context, ControlRoom)
    if (Option.isNone(room)) return
    const clock = timerOf(path, timeoutMillis ?? 0)
    const { workflow } = yield* instanceOf(session)
    const done = yield* inEngine(session, workflows.deferredResult(clock.deferred))
    if (Option.isSome(done)) return
    const wait = { execution: executionId, path, kind: runKind(room.value.workspaceId), subject: run }
    yield* store.recordWait(wait)
    yield* watchers.add(room.value, wait)
    if (timeoutMillis !== null) {
      yield* recordTimer(path, timeoutMillis)
      yield* workflows.scheduleClock(workflow, { executionId, clock })
    }
    yield* inEngine(session, awaitDeferred(workflows, clock.deferred))
  })

  const interpreter: Interpreter = {
    claim: (path) =>
      Effect.andThen(
        claimPath(path),
        Effect.sync(() => replay.reach(path))
      ),
    step: (call) => {
      const { awaits, path } = call
      if (awaits === undefined || session.undoing) return step(call)
      const look = step({ ...call, execute: Effect.provideService(call.execute, WaitIsOver, true) }, "wait", true)
      if (isOver(path)) return look
      return Effect.gen(function* () {
        yield* beginWait(path, timerOf(path, 0).deferred)
        yield* awaitRun(path, awaits)
        const result = yield* look
        yield* store.endWait(executionId, path)
        return result
      })
    },
    flow: Effect.fnUntraced(function* (call) {
      const { path } = call
      if (!isOver(path) && !replay.hasBelow(path)) yield* begun(path)
      const outcome = yield* call.execute.pipe(
        at({ interpreter, prefix: `${path}/` }),
        Effect.tapError((error) => checkError(call.error, error, `the flow ${path}`)),
        Effect.tapDefect((defect) => (isOver(path) ? Effect.void : failed(path, 1, Cause.die(defect)))),
        Effect.result
      )
      return yield* noted("flow", { ...call, execute: Effect.fromResult(outcome) })
    }),
    sleep: (place, millis) => {
      const rest = isOver(place.path)
        ? Effect.void
        : Effect.andThen(beginWait(place.path, timerOf(place.path, 0).deferred), pause(place.path, millis))
      const call = { ...place, input: millis, success: Schema.Void, error: Schema.Never, execute: Effect.void }
      return Effect.andThen(rest, noted("sleep", call))
    },
    pause,
    signal: Effect.fnUntraced(function* <S extends Codec>(place: Place, schema: S) {
      const { name, path } = place
      let execute: Effect.Effect<S["Type"]> = Effect.never
      if (session.undoing) {
        return yield* Effect.die(new FlowDefect({ message: `the undo ${path} awaits a signal: an undo cannot wait` }))
      }
      if (!isOver(path)) {
        const deferred = signalDeferred(path)
        yield* beginWait(path, deferred)
        yield* store.recordWait({ execution: executionId, path, kind: "signal", subject: name })
        const json = yield* inEngine(session, awaitDeferred(workflows, deferred))
        yield* store.endWait(executionId, path)
        execute = decodeRecorded(schema, json, `the signal ${path}`)
      }
      return yield* noted("signal", { ...place, input: null, success: schema, error: Schema.Never, execute })
    }),
    race: Effect.fnUntraced(function* <A, E, R>(place: Place, members: Contenders<A, E, R>) {
      const { path } = place
      const exits = new Map<string, Exit.Exit<A, E>>()
      const context = yield* Effect.context<R>()
      const contender = ([key, member]: Contenders<A, E, R>[number]) =>
        Effect.flatMap(Effect.exit(member), (exit) => {
          // Put aside is not ended: the fiber of a part of this member was.
          if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return Effect.failCause(exit.cause)
          exits.set(key, exit)
          return Effect.succeed(key)
        }).pipe(Effect.updateContext((inner: Context.Context<never>) => Context.merge(context, inner)))
      const [first, ...others] = members
      if (first === undefined) {
        return yield* Effect.die(new FlowDefect({ message: `the race ${path} has no members` }))
      }
      const decided = inEngine(
        session,
        DurableDeferred.raceAll({
          name: path,
          success: Schema.String,
          error: Schema.Never,
          effects: [contender(first), ...others.map(contender)]
        })
      )
      const known = replay.succeeded(path) ?? seeds.get(path)
      const winner = yield* noted("wait", {
        ...place,
        input: null,
        success: Schema.String,
        error: Schema.Never,
        execute: Effect.succeed(known === undefined ? yield* decided : String(known.value))
      })
      const member = members.find(([key]) => key === winner)?.[1]
      if (member === undefined) {
        return yield* Effect.die(
          new FlowDefect({ message: `the race ${path} was won by ${winner}, which is not there` })
        )
      }
      const exit = exits.get(winner)
      const result = yield* Effect.onExit(exit ?? member, () => Effect.sync(() => replay.release(path)))
      return result
    }),
    branches: (path, members) =>
      Effect.catchCause(members, (cause) =>
        Effect.flatMap(instanceOf(session), (instance) => {
          // A part that was put aside ended the others; the body must not take that for a failure.
          if (Cause.hasInterruptsOnly(cause) && instance.suspended) return Workflow.suspend(instance)
          replay.release(path)
          return Effect.failCause(cause)
        })
      ),
    addUndo: undos.add
  }
  return interpreter
}
