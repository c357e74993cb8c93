/**
 * What begins an operation, and what ends a wait: the turn after the branch reached it, its time, or its event.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { StepCutOff, StepStalled } from "../../FlowErrors.ts"
import type { Stay } from "./Activation.ts"
import { isEnd, isWork } from "./calls/Spec.ts"
import { halt } from "./Halting.ts"
import type { Stalled } from "../model/Execution.ts"
import { change, deliver, moment } from "./Operations.ts"
import * as Operation from "./state/Operation.ts"

/** A step that was interrupted longer ago halts the execution: the idempotency keys of its POSTs expire after seven days. */
const longestCutOffMillis = Duration.toMillis("156 hours")

/** A step whose process stood still so often is not run again. */
const mostStalls = 3

const begin = (stay: Stay, operation: Operation.Operation, attempt: number) => {
  if (operation.spec.kind === "child") stay.mayHaveChildren = true
  change(stay, operation, Operation.began(operation, attempt, stay.host.name, moment(stay)))
}

/** Halts the execution because of a step that kept the event loop too often. A person who resumes it begins another attempt. */
const haltStalled = (stay: Stay, operation: Operation.Operation, { host, millis, times }: Stalled) => {
  const { path } = operation.spec
  const cause = Cause.die(new StepStalled({ execution: stay.execution.id, path, host, millis, times }))
  change(stay, operation, Operation.died(cause, stay.now))
  stay.operations.reach(operation)
  halt(stay, cause)
}

/** Resumes a step: an interrupted attempt runs again, under the same keys, unless that is not safe. */
const takeUpWork = (stay: Stay, operation: Operation.Operation, wasRunning: boolean): Effect.Effect<void> => {
  const { execution, host, now, operations } = stay
  const { entry, spec } = operation
  const { startedAt } = entry
  if (wasRunning && (!spec.repeatable || (spec.kind === "step" && now - startedAt > longestCutOffMillis))) {
    const { path, repeatable } = spec
    operations.reach(operation)
    halt(stay, Cause.die(new StepCutOff({ execution: execution.id, path, repeatable, startedAt })))
    return Effect.void
  }
  const stalled = wasRunning ? (entry.stalled ?? null) : null
  if (stalled !== null && stalled.times >= mostStalls) {
    haltStalled(stay, operation, stalled)
    return Effect.void
  }
  if (wasRunning && entry.host !== host.name) change(stay, operation, { host: host.name })
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
export const takeUp = (stay: Stay, operation: Operation.Operation): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { operations } = stay
    const { entry, spec } = operation
    const { path } = spec
    const isNew = entry.begun === 0
    if (isNew) begin(stay, operation, 1)
    // The cause of the interruption of the wait was discarded.
    else if (entry.state === "interrupted" && !isWork(spec)) begin(stay, operation, entry.attempt)
    else if (entry.state === "retrying" && (entry.due === null || entry.due <= stay.now)) {
      begin(stay, operation, entry.attempt + 1)
    }
    const { due } = operation.entry
    if (due !== null) operations.timers.add(due, operation)
    if (operation.entry.state === "retrying") return Effect.void
    if (isWork(spec)) {
      return takeUpWork(stay, operation, operation.entry === entry)
    }
    if (spec.kind === "run" && operation.entry.attempt > 1) {
      operation.awaited = true
      operations.launchSoon(operation)
      return Effect.void
    }
    stay.mailbox.open(operation.entry.kind, spec.address, path)
    if (spec.kind === "run") operations.waitBegun(spec.recorded)
    const executionId = stay.execution.id
    return isNew && spec.announced
      ? stay.publish((at) => ({ _tag: "StepStarted", executionId, path, attempt: 1, at }))
      : Effect.void
  })

/** Ends a wait. A step that waited for an external event runs then. */
export const waited = (
  stay: Stay,
  operation: Operation.Operation,
  value: Schema.Json,
  subject: string | null
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { mailbox, operations } = stay
    const { spec } = operation
    if (!operations.isOpen(operation) || isEnd(operation.entry)) return Effect.void
    if (spec.kind === "run") {
      operation.awaited = true
      operation.entry = { ...operation.entry, due: null }
      if (operation.fiber === null && !operations.toLaunch().includes(operation)) operations.launchSoon(operation)
      return Effect.void
    }
    mailbox.close(operation.entry.kind, spec.address, spec.path)
    change(stay, operation, Operation.received(value, subject, moment(stay)))
    deliver(stay, operation)
    const { path } = spec
    const executionId = stay.execution.id
    return stay.publish((at) => ({ _tag: "StepSucceeded", executionId, path, attempt: 1, at }))
  })

/** Handles a due timer: ends a wait, or begins the next attempt. */
export const due = (stay: Stay, operation: Operation.Operation): Effect.Effect<void> => {
  if (operation.entry.state !== "retrying") return waited(stay, operation, null, null)
  begin(stay, operation, operation.entry.attempt + 1)
  stay.operations.launchSoon(operation)
  return Effect.void
}
