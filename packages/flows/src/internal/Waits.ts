/**
 * Waiting in a durable execution: for time, for signals, for runs. An execution that has nothing else to do is put aside;
 * one in which other steps run waits in memory, because being put aside and woken would interrupt those.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import type { Engine } from "./engine/Parts.ts"
import { workflowName } from "./FlowPayload.ts"
import type { Execution, RecordedStep, Wait } from "./FlowStore.ts"
import type { Codec } from "./Values.ts"
import { isBelow } from "./Paths.ts"
import { lastAttempts } from "./Replay.ts"

/** What a signal at a path completes. */
export const signalDeferred = (path: string) => DurableDeferred.make(`signal/${path}`, { success: Schema.Json })

/** A wait is a timer that something else can complete before its time. */
export const timerOf = (path: string, millis: number) => DurableClock.make({ name: path, duration: millis })

/** Set in a step whose wait is over, so that it looks once instead of waiting. */
export const WaitIsOver = Context.Reference<boolean>("@signalbox/flows/WaitIsOver", { defaultValue: () => false })

type Instance = WorkflowEngine.WorkflowInstance["Service"]

/**
 * Done when for so many turns no step of this part of the execution has run, and `progress` has not changed. Waiting for
 * what is recorded takes fewer turns than being put aside, which must come last.
 */
export const standstill = Effect.fnUntraced(function* (
  { activityState }: Instance,
  progress: () => number = () => 0,
  turns = 20
) {
  let before = progress()
  for (let turn = 0; turn < turns; turn++) {
    while (activityState.count > 0) {
      turn = 0
      yield* activityState.latch.await
      yield* Effect.yieldNow
    }
    yield* Effect.yieldNow
    if (progress() !== before) turn = 0
    before = progress()
  }
})

const turnsBeforeAside = 60

const firstLookMillis = 20
const longestLookMillis = 1_000

/** Waits for a deferred; `early` is what else ends the waiting while the execution is in memory. */
export const awaitDeferred = Effect.fnUntraced(function* <S extends Codec>(
  workflows: Engine["workflows"],
  deferred: DurableDeferred.DurableDeferred<S>,
  early: Effect.Effect<S["Type"]> = Effect.never
) {
  const instance = yield* WorkflowEngine.WorkflowInstance
  const first = yield* workflows.deferredResult(deferred)
  if (Option.isSome(first)) return yield* first.value
  const looking = Effect.gen(function* () {
    for (let pause = firstLookMillis; ; pause = Math.min(pause * 2, longestLookMillis)) {
      yield* Effect.sleep(pause)
      const seen = yield* workflows.deferredResult(deferred)
      if (Option.isSome(seen)) return yield* seen.value
    }
  })
  const inMemory = yield* Effect.raceAllFirst([
    Effect.asSome(looking),
    Effect.asSome(early),
    Effect.as(standstill(instance, undefined, turnsBeforeAside), Option.none<S["Type"]>())
  ])
  return Option.isSome(inMemory) ? inMemory.value : yield* DurableDeferred.await(deferred)
})

/** The kind of the waits for runs of a workspace. */
export const runKind = (workspaceId: string): string => `run in ${workspaceId}`

/** What an execution waited for outside has happened: wakes it. Doing it again changes nothing. */
export const completeWait = Effect.fnUntraced(function* (
  { store, workflows }: Engine,
  wait: Pick<Wait, "execution" | "path">
) {
  const found = yield* store.find(wait.execution)
  if (found !== null) {
    const { deferred } = timerOf(wait.path, 0)
    yield* workflows.deferredDone(deferred, {
      workflowName: workflowName(found),
      executionId: found.id,
      deferredName: deferred.name,
      exit: Exit.void
    })
  }
  yield* store.endWait(wait.execution, wait.path)
})

/** Gives a signal to an execution. */
export const completeSignal = (
  { workflows }: Engine,
  execution: Execution,
  path: string,
  exit: Exit.Exit<Schema.Json>
) => {
  const deferred = signalDeferred(path)
  return workflows.deferredDone(deferred, {
    workflowName: workflowName(execution),
    executionId: execution.id,
    deferredName: deferred.name,
    exit
  })
}

/** What an execution waits for. Times are milliseconds since 1970. */
export interface OpenWait {
  /** The path of the step that waits. */
  readonly path: string
  /** A timer is a sleep, the pause before another attempt of a step, or a limit. */
  readonly kind: "signal" | "run" | "timer"
  /** The id of the run that it waits for. */
  readonly run: string | null
  /** When it goes on by itself; null when it does not. */
  readonly due: number | null
}

const beforeAttempt = /\/attempt (\d+)$/

/**
 * What an execution waits for now, by what is recorded. What lost a race, or ran beside what failed, is still in the
 * record: it is over once what it is in has an end.
 */
export const openWaits = Effect.fnUntraced(function* (
  { store }: Engine,
  execution: string,
  steps: ReadonlyArray<RecordedStep>
) {
  const ended = lastAttempts(steps)
  const isOver = (path: string, attempt: number | null) =>
    ended.some(
      (step) => isBelow(path, step.path) || (step.path === path && (attempt === null || step.attempt >= attempt))
    )
  const timers = new Map<string, number>()
  for (const { due, path } of yield* store.timers(execution)) {
    const attempt = beforeAttempt.exec(path)
    const of = attempt === null ? path : path.slice(0, attempt.index)
    if (!isOver(of, attempt === null ? null : Number(attempt[1]))) timers.set(of, due)
  }
  const waits: Array<OpenWait> = []
  for (const { kind, path, subject } of yield* store.waitsOf(execution)) {
    if (isOver(path, null)) continue
    const due = timers.get(path) ?? null
    timers.delete(path)
    waits.push(kind === "signal" ? { path, kind, run: null, due } : { path, kind: "run", run: subject, due })
  }
  for (const [path, due] of timers) waits.push({ path, kind: "timer", run: null, due })
  return waits
})
