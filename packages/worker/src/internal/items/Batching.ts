/**
 * Batches what several step runs settle and reserve: requests that arrive while a call for their run is in flight go
 * with the next one, so that many step runs cost as many calls as one.
 */
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import { maxStepRunsAtOnce } from "@signalbox/api/contract/WorkerProtocol"
import { type CallError, Conflict } from "@signalbox/api/ControlRoomError"
import type * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import { retryUntilAvailable } from "../outcome/Failures.ts"
import { LeaseLost } from "../outcome/LeaseLost.ts"

export type Calls = Pick<Effect.Success<ReturnType<typeof WorkerProtocol.makeItems>>, "nextItems">

/** What a step run is given, and how long the call took. */
export interface Answer extends Omit<WorkerProtocol.NextItems, "error"> {
  readonly milliseconds: number
}

/** The requests of a step run, one at a time. */
export interface Request {
  /** Called when the call is made. */
  readonly ask: () => WorkerProtocol.NextAsk
  /** Whether it goes again with the next call. */
  readonly answered: (exit: Exit.Exit<Answer, CallError | LeaseLost>) => boolean
}

/** Sends the request of a step run with the next call for its run. */
export type Next = (run: ProcessRunId, request: Request) => Effect.Effect<void>

const exitOf = (
  run: ProcessRunId,
  given: WorkerProtocol.NextItems | undefined,
  milliseconds: number
): Exit.Exit<Answer, Conflict | LeaseLost> => {
  if (given === undefined) return Exit.die(new Error("the response of the service lacks a result for a step run"))
  const { error, ...items } = given
  if (error === null) return Exit.succeed({ ...items, milliseconds })
  if (error.code === "LEASE_LOST") return Exit.fail(new LeaseLost())
  const path = `/worker-v1/process-runs/${run}/next`
  const request = { operation: "WorkerProtocol.nextItems", method: "POST", path, attempts: 1, requestId: null }
  return Exit.fail(new Conflict({ ...error, request }))
}

/** Batching continues until the scope closes. */
export const make = Effect.fnUntraced(function* (calls: Calls) {
  const fibers = yield* FiberSet.make()
  const runs = new Map<ProcessRunId, Array<Request>>()

  const send = Effect.fnUntraced(function* (run: ProcessRunId, waiting: Array<Request>) {
    // Other fibers that are ready add their requests first.
    yield* Effect.yieldNow
    while (waiting.length > 0) {
      const sent = waiting.splice(0, maxStepRunsAtOnce)
      const asks = sent.map(({ ask }) => ask())
      const since = yield* Clock.currentTimeMillis
      const exit = yield* Effect.exit(retryUntilAvailable(calls.nextItems(run, asks)))
      const milliseconds = (yield* Clock.currentTimeMillis) - since
      for (const [index, request] of sent.entries()) {
        const result = Exit.isSuccess(exit) ? exitOf(run, exit.value[index], milliseconds) : Exit.failCause(exit.cause)
        if (request.answered(result)) waiting.push(request)
      }
      yield* Effect.yieldNow
    }
    runs.delete(run)
  })

  const next: Next = (run, request) =>
    Effect.suspend(() => {
      const waiting = runs.get(run)
      if (waiting !== undefined) return Effect.sync(() => void waiting.push(request))
      const started = [request]
      runs.set(run, started)
      return Effect.asVoid(FiberSet.run(fibers, send(run, started)))
    })
  return next
})
