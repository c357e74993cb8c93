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
import type { Wait } from "./FlowStore.ts"
import type { Codec } from "./Journal.ts"

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
