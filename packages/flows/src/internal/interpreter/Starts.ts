/**
 * What begins an operation, and what ends a wait: the turn after the branch reached it, its time, or its event.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { StepCutOff, StepStalled } from "../../FlowErrors.ts"
import type { Activation } from "./Activation.ts"
import { isEnd, isWork } from "./calls/Spec.ts"
import { halt } from "./Halting.ts"
import type { Stalled } from "../model/Execution.ts"
import { change, deliver, moment } from "./Operations.ts"
import * as Operation from "./state/Operation.ts"

/** A step that was interrupted longer ago halts the execution: the idempotency keys of its POSTs expire after seven days. */
const longestCutOffMillis = Duration.toMillis("156 hours")

/** A step whose process stood still so often is not run again. */
const mostStalls = 3

const begin = (activation: Activation, operation: Operation.Operation, attempt: number) => {
  if (operation.spec.kind === "child") activation.mayHaveChildren = true
  change(activation, operation, Operation.began(operation, attempt, activation.host.name, moment(activation)))
}

/** Halts the execution because of a step that kept the event loop too often. A person who resumes it begins another attempt. */
const haltStalled = (activation: Activation, operation: Operation.Operation, { host, millis, times }: Stalled) => {
  const { path } = operation.spec
  const cause = Cause.die(new StepStalled({ execution: activation.execution.id, path, host, millis, times }))
  change(activation, operation, Operation.died(cause, activation.now))
  activation.operations.reach(operation)
  halt(activation, cause)
}

/** Resumes a step: an interrupted attempt runs again, under the same keys, unless that is not safe. */
const takeUpWork = (
  activation: Activation,
  operation: Operation.Operation,
  wasRunning: boolean
): Effect.Effect<void> => {
  const { execution, host, now, operations } = activation
  const { entry, spec } = operation
  const { startedAt } = entry
  if (wasRunning && (!spec.repeatable || (spec.kind === "step" && now - startedAt > longestCutOffMillis))) {
    const { path, repeatable } = spec
    operations.reach(operation)
    halt(activation, Cause.die(new StepCutOff({ execution: execution.id, path, repeatable, startedAt })))
    return Effect.void
  }
  const stalled = wasRunning ? (entry.stalled ?? null) : null
  if (stalled !== null && stalled.times >= mostStalls) {
    haltStalled(activation, operation, stalled)
    return Effect.void
  }
  if (wasRunning && entry.host !== host.name) change(activation, operation, { host: host.name })
  operations.launchSoon(operation)
  return stalled === null
    ? Effect.void
    : Effect.logWarning(
        `the step ${spec.path} of the execution ${execution.id} blocked the event loop of its process on ${stalled.host} for ` +
          `${Math.round(stalled.millis / 1_000)} s, which lost its executions (${stalled.times} of ${mostStalls} times): it runs ` +
          "again here, and is halted the last time"
      )
}

/** Begins or resumes an operation that was reached. */
export const takeUp = (activation: Activation, operation: Operation.Operation): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { operations } = activation
    const { entry, spec } = operation
    const { path } = spec
    const isNew = entry.begun === 0
    if (isNew) begin(activation, operation, 1)
    // The cause of the interruption of the wait was discarded.
    else if (entry.state === "interrupted" && !isWork(spec)) begin(activation, operation, entry.attempt)
    else if (entry.state === "retrying" && (entry.due === null || entry.due <= activation.now)) {
      begin(activation, operation, entry.attempt + 1)
    }
    const { due } = operation.entry
    if (due !== null) operations.timers.add(due, operation)
    if (operation.entry.state === "retrying") return Effect.void
    if (isWork(spec)) {
      return takeUpWork(activation, operation, operation.entry === entry)
    }
    if (spec.kind === "run" && operation.entry.attempt > 1) {
      operation.awaited = true
      operations.launchSoon(operation)
      return Effect.void
    }
    activation.mailbox.open(operation.entry.kind, spec.address, path)
    if (spec.kind === "run") operations.waitBegun(spec.recorded)
    const executionId = activation.execution.id
    return isNew && spec.announced
      ? activation.publish((at) => ({ _tag: "StepStarted", executionId, path, attempt: 1, at }))
      : Effect.void
  })

/** Ends a wait. A step that waited for an external event runs then. */
export const waited = (
  activation: Activation,
  operation: Operation.Operation,
  value: Schema.Json,
  subject: string | null
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { mailbox, operations } = activation
    const { spec } = operation
    if (!operations.isOpen(operation) || isEnd(operation.entry)) return Effect.void
    if (spec.kind === "run") {
      operation.awaited = true
      operation.entry = { ...operation.entry, due: null }
      if (operation.fiber === null && !operations.toLaunch().includes(operation)) operations.launchSoon(operation)
      return Effect.void
    }
    mailbox.close(operation.entry.kind, spec.address, spec.path)
    change(activation, operation, Operation.received(value, subject, moment(activation)))
    deliver(activation, operation)
    const { path } = spec
    const executionId = activation.execution.id
    return activation.publish((at) => ({ _tag: "StepSucceeded", executionId, path, attempt: 1, at }))
  })

/** Handles a due timer: ends a wait, or begins the next attempt. */
export const due = (activation: Activation, operation: Operation.Operation): Effect.Effect<void> => {
  if (operation.entry.state !== "retrying") return waited(activation, operation, null, null)
  begin(activation, operation, operation.entry.attempt + 1)
  activation.operations.launchSoon(operation)
  return Effect.void
}
