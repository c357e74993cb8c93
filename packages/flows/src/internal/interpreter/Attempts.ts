/**
 * Attempts of steps: their code runs after their start is recorded, and their end is an event of the loop.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Activation, wake } from "./Activation.ts"
import { type End, isEnd } from "./calls/Spec.ts"
import { halt } from "./Halting.ts"
import { failureOf } from "../model/Failure.ts"
import { beginRegions, change, deliver, moment } from "./Operations.ts"
import * as Reports from "./Reports.ts"
import * as Operation from "./state/Operation.ts"

const ended = Effect.fnUntraced(function* (activation: Activation, operation: Operation.Operation, end: End) {
  const { leaving, now, operations, publish } = activation
  Reports.close(activation, operation)
  if (!operations.ended(operation)) return
  const { entry, spec } = operation
  const fields = (at: number) => ({ executionId: activation.execution.id, path: spec.path, attempt: entry.attempt, at })
  switch (end._tag) {
    case "Succeeded": {
      change(activation, operation, Operation.succeeded(end.json, moment(activation)))
      yield* publish((at) => ({ _tag: "StepSucceeded", ...fields(at) }))
      break
    }
    case "Failed": {
      const { cause, json, retryMillis } = end
      const failure = failureOf(cause)
      if (retryMillis === null) {
        change(activation, operation, Operation.failed(json, cause, moment(activation)))
        yield* publish((at) => ({ _tag: "StepFailed", ...fields(at), failure }))
        break
      }
      const due = Math.ceil(now + retryMillis)
      change(activation, operation, Operation.retried(json, cause, now, due))
      yield* publish((at) => ({ _tag: "StepRetrying", ...fields(at), failure, delayMillis: retryMillis }))
      operations.timers.add(due, operation)
      break
    }
    case "Died": {
      change(activation, operation, Operation.died(end.cause, now))
      yield* publish((at) => ({ _tag: "StepFailed", ...fields(at), failure: failureOf(end.cause) }))
      halt(activation, end.cause, { step: spec.path })
      // So that a cancel can let it run to its end.
      operations.reach(operation)
    }
  }
  if (!isEnd(operation.entry) || activation.halted !== null) return
  if (leaving.stays()) deliver(activation, operation)
  else leaving.hold(operation)
})

const launch = (activation: Activation, operation: Operation.Operation) => {
  const { entry, spec } = operation
  activation.operations.launched(operation)
  beginRegions(operation)
  const attempt = spec.attempt({
    attempt: entry.attempt,
    awaited: operation.awaited,
    elapsedMillis: () => activation.now - operation.firstStartedAt,
    report: Reports.open(activation, operation)
  })
  const { within } = activation.host
  const { context } = activation.body
  const start = (context: Context.Context<never>) => Effect.runForkWith(context)(attempt)
  const fiber =
    within === undefined
      ? start(context)
      : within(
          { execution: activation.execution.id, path: spec.path, isSuspect: (entry.stalled ?? null) !== null },
          context,
          start
        )
  operation.fiber = fiber
  fiber.addObserver((exit) => {
    const end: End = Exit.isSuccess(exit) ? exit.value : { _tag: "Died", cause: exit.cause }
    activation.ready.push(() => ended(activation, operation, end))
    wake(activation)
  })
}

/** Runs the steps whose starts are recorded, unless they were abandoned. */
export const launchAll = (activation: Activation) => {
  const { operations } = activation
  for (const operation of operations.takeToLaunch()) {
    if (operations.isOpen(operation)) launch(activation, operation)
  }
}

/** Interrupts a body that computes or waits outside of a step, because it is left. */
export const stopBody = ({ branches }: Activation) => {
  for (const { fiber } of branches.running()) fiber?.interruptUnsafe()
}

/** Interrupts running steps, and a body that does not come to rest. */
export const abort = (activation: Activation): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const operation of activation.operations.all()) {
      Reports.close(activation, operation)
      operation.fiber?.interruptUnsafe()
    }
    if (activation.outside !== null) stopBody(activation)
  })
