/**
 * One call for what several step runs settle and take: what comes while a call about their run is under way goes with the
 * next one, so that many step runs cost as many calls as one.
 */
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import { maxStepRunsAtOnce } from "@signalbox/api/contract/WorkerProtocol"
import { type CallError, Conflict } from "@signalbox/api/ControlRoomError"
import type * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import { retryUntilAvailable } from "./Failures.ts"
import { LeaseLost } from "./LeaseLost.ts"

export type Calls = Pick<Effect.Success<ReturnType<typeof WorkerProtocol.makeItems>>, "nextItems">

/** What one step run has settled, and the item that it has in hand then; null when it has none. */
export type Next = (
  ask: WorkerProtocol.NextAsk
) => Effect.Effect<WorkerProtocol.ItemInHand | null, CallError | LeaseLost>

interface Waiting {
  readonly ask: WorkerProtocol.NextAsk
  readonly answer: Deferred.Deferred<WorkerProtocol.ItemInHand | null, CallError | LeaseLost>
}

type Answer = Effect.Success<ReturnType<Calls["nextItems"]>>[number]

const exitOf = (run: ProcessRunId, answer: Answer | undefined): Exit.Exit<Answer["item"], Conflict | LeaseLost> => {
  if (answer === undefined) return Exit.die(new Error("the service did not answer for every step run"))
  const { error, item } = answer
  if (error === null) return Exit.succeed(item)
  if (error.code === "LEASE_LOST") return Exit.fail(new LeaseLost())
  const request = { method: "POST", path: `/worker-v1/process-runs/${run}/next`, attempts: 1, requestId: null }
  return Exit.fail(new Conflict({ ...error, request }))
}

/** Calls go on until the scope closes. */
export const make = Effect.fnUntraced(function* (calls: Calls) {
  const fibers = yield* FiberSet.make()
  const runs = new Map<ProcessRunId, Array<Waiting>>()

  const send = Effect.fnUntraced(function* (run: ProcessRunId, waiting: Array<Waiting>) {
    // Those that are about to ask do so first.
    yield* Effect.yieldNow
    while (waiting.length > 0) {
      const sent = waiting.splice(0, maxStepRunsAtOnce)
      const asks = sent.map(({ ask }) => ask)
      const exit = yield* Effect.exit(retryUntilAvailable(calls.nextItems(run, asks)))
      for (const [index, { answer }] of sent.entries()) {
        Deferred.doneUnsafe(answer, Exit.isSuccess(exit) ? exitOf(run, exit.value[index]) : Exit.failCause(exit.cause))
      }
      yield* Effect.yieldNow
    }
    runs.delete(run)
  })

  const next: Next = Effect.fnUntraced(function* (ask) {
    const run = ask.lease.process_run_id
    const mine: Waiting = { ask, answer: Deferred.makeUnsafe() }
    const waiting = runs.get(run)
    if (waiting === undefined) {
      const started = [mine]
      runs.set(run, started)
      yield* FiberSet.run(fibers, send(run, started))
    } else {
      waiting.push(mine)
    }
    // What was not sent yet need not be.
    const leave = Effect.sync(() => {
      const all = runs.get(run)
      const at = all?.indexOf(mine) ?? -1
      if (at >= 0) all?.splice(at, 1)
    })
    return yield* Effect.onInterrupt(Deferred.await(mine.answer), () => leave)
  })
  return next
})
