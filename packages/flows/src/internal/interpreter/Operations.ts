/**
 * Steps and waits, from the call by a branch to the delivery of their end.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { StepCutOff, StepStalled } from "../../FlowErrors.ts"
import { detailOf, failureOf } from "../model/Failure.ts"
import * as Branches from "./Branches.ts"
import * as Calls from "./Calls.ts"
import type { Stalled } from "../model/Execution.ts"
import { changedFlow, halt, isEnd, type Operation, set, type Stay, wake } from "./Activation.ts"

/** A step that was interrupted longer ago halts the execution: the idempotency keys of its POSTs expire after seven days. */
const longestCutOffMillis = Duration.toMillis("156 hours")

/** A step whose process stood still so often is not run again. */
const mostStalls = 3

/** Delivers the end of an operation to its branch. */
export const deliver = (stay: Stay, { branch, entry, spec }: Operation) => {
  const { branches, operations } = stay
  operations.delete(spec.path)
  stay.after = spec.path
  if (spec.numbered !== null && spec.numbered.last !== null && entry.state === "failed") {
    spec.numbered.last.failed = true
  }
  branches.resume(branch, spec.resultOf(entry))
}

/** Delivers a recorded end, unless the operation is abandoned before. */
export const deliverSoon = (stay: Stay, operation: Operation) => {
  stay.ready.push(() =>
    Effect.sync(() => {
      if (stay.operations.get(operation.spec.path) === operation) deliver(stay, operation)
    })
  )
}

/** Interrupts a branch that cannot continue because another operation is recorded in its place. */
const giveUpSoon = ({ branches, operations, ready }: Stay, { branch, spec }: Operation) => {
  operations.delete(spec.path)
  ready.push(() => Effect.sync(() => branches.interrupt(branch)))
}

/** Abandons the recorded order: delivers the ends of operations that fit, and interrupts the others. */
export const abandon = (stay: Stay) => {
  for (const operation of Array.from(stay.operations.values())) {
    if (!operation.fits) giveUpSoon(stay, operation)
    else if (isEnd(operation.entry)) deliverSoon(stay, operation)
  }
}

/** Cancels a branch: its operation is abandoned, unless it must run to its end. */
const cancel = (stay: Stay, operation: Operation) => {
  const { branches, mailbox, operations, replay } = stay
  const { branch, entry, fiber, spec } = operation
  const isWork = Calls.isWork(spec) && operation.fits
  const mustEnd = isWork && Branches.inRegion(branch)
  if (mustEnd && (isEnd(entry) || operation.isHeld)) return
  // A cancel lets a running step run to its end; one that loses a race is interrupted.
  const mayEnd = isWork && stay.host.durable && stay.cancelled
  if (mayEnd && (isEnd(entry) || (fiber !== null && entry.state === "running"))) return
  operations.delete(spec.path)
  mailbox.close(entry.kind, spec.address, spec.path)
  if (isEnd(entry)) replay.skip(spec.path)
  stay.reached = stay.reached.filter((one) => one !== operation)
  stay.toLaunch = stay.toLaunch.filter((one) => one !== operation)
  if (entry.begun > 0 && (entry.state === "running" || entry.state === "retrying")) {
    set(stay, operation, { state: "interrupted", ended: ++stay.position, endedAt: stay.now, due: null })
    if (operation.hasRun || spec.announced) {
      const failure = failureOf(Cause.interrupt())
      const { attempt, path } = entry
      const executionId = stay.execution.id
      stay.cutOff.push((at) => ({ _tag: "StepFailed", executionId, path, attempt, at, failure }))
    }
  }
  if (fiber !== null) {
    // The execution is not quiescent before the step has released its resources.
    branches.busy.began()
    fiber.addObserver(() => branches.busy.rested())
    fiber.interruptUnsafe()
  }
  branches.interrupt(branch)
}

/** Only work has effects to undo, so waits do not begin regions. */
const beginRegions = ({ branch, spec }: Operation) => {
  if (Calls.isWork(spec)) Branches.beginRegions(branch)
}

/** Parks a branch at a step or a wait, and compares it with the record. */
export const park = <A, E>(stay: Stay, branch: Branches.Branch, spec: Calls.Spec): Effect.Effect<A, E> =>
  stay.branches.park<A, E>(branch, () => {
    const { history, operations, replay } = stay
    const recorded = replay.reach(spec.path)
    const entry = recorded ?? Calls.newEntry(spec, history.redos.get(spec.path) ?? 0)
    const isSame = recorded === undefined || (recorded.name === spec.name && recorded.kind === spec.kind)
    const isOver = recorded !== undefined && isEnd(recorded)
    const fits = isSame && (!isOver || Calls.sameInput(spec, recorded))
    const operation: Operation = {
      spec,
      branch,
      entry,
      fits,
      firstStartedAt: replay.firstStartedAt(spec.path) ?? stay.now,
      hasRun: recorded !== undefined,
      // A race that waited for it before a retry waits for it again, else the remaining record would not fit.
      isHeld: recorded === undefined ? history.redos.has(spec.path) : recorded.state !== "interrupted",
      fiber: null,
      awaited: false
    }
    operations.set(spec.path, operation)
    if (operation.isHeld) beginRegions(operation)
    if (!fits && replay.isAbandoned()) giveUpSoon(stay, operation)
    else if (!isSame) changedFlow(stay, spec.path, operation)
    else if (!fits) changedFlow(stay, spec.path, operation, { recorded: entry.input, reached: spec.input })
    else if (!isOver) stay.reached.push(operation)
    else if (replay.isDeferred(spec.path)) deliverSoon(stay, operation)
    return { cancel: () => cancel(stay, operation) }
  })

const attemptEnded = Effect.fnUntraced(function* (stay: Stay, operation: Operation, end: Calls.End) {
  const { now, publish } = stay
  const { entry, spec } = operation
  operation.fiber = null
  stay.launched--
  if (stay.operations.get(spec.path) !== operation) return
  const fields = (at: number) => ({ executionId: stay.execution.id, path: spec.path, attempt: entry.attempt, at })
  switch (end._tag) {
    case "Succeeded": {
      const ended = ++stay.position
      set(stay, operation, { state: "succeeded", value: end.json, failure: null, ended, endedAt: now })
      yield* publish((at) => ({ _tag: "StepSucceeded", ...fields(at) }))
      break
    }
    case "Failed": {
      const retried = end.retryMillis
      set(stay, operation, {
        state: retried === null ? "failed" : "retrying",
        value: end.json,
        failure: detailOf(end.cause),
        ended: retried === null ? ++stay.position : null,
        endedAt: now,
        due: retried === null ? null : Math.ceil(now + retried)
      })
      const failure = failureOf(end.cause)
      yield* publish((at) =>
        retried === null
          ? { _tag: "StepFailed", ...fields(at), failure }
          : { _tag: "StepRetrying", ...fields(at), failure, delayMillis: retried }
      )
      if (retried !== null) stay.timers.add(operation.entry.due ?? now, operation)
      break
    }
    case "Died": {
      set(stay, operation, { state: "retrying", failure: detailOf(end.cause), endedAt: now, due: null })
      yield* publish((at) => ({ _tag: "StepFailed", ...fields(at), failure: failureOf(end.cause) }))
      halt(stay, end.cause, { step: spec.path })
      // So that a cancel can let it run to its end.
      stay.reached.push(operation)
    }
  }
  if (!isEnd(operation.entry) || stay.halted !== null) return
  if (stay.closing === "no") deliver(stay, operation)
  else stay.undelivered.push(operation)
})

/** Runs an attempt whose start is recorded. */
export const launch = (stay: Stay, operation: Operation) => {
  const { entry, spec } = operation
  stay.launched++
  operation.hasRun = true
  operation.isHeld = true
  beginRegions(operation)
  const attempt = spec.attempt({
    attempt: entry.attempt,
    awaited: operation.awaited,
    elapsedMillis: () => stay.now - operation.firstStartedAt
  })
  const { within } = stay.host
  const { context } = stay.body
  const start = (context: Context.Context<never>) => Effect.runForkWith(context)(attempt)
  const fiber =
    within === undefined
      ? start(context)
      : within(
          { execution: stay.execution.id, path: spec.path, isSuspect: (entry.stalled ?? null) !== null },
          context,
          start
        )
  operation.fiber = fiber
  fiber.addObserver((exit) => {
    const end: Calls.End = Exit.isSuccess(exit) ? exit.value : { _tag: "Died", cause: exit.cause }
    stay.ready.push(() => attemptEnded(stay, operation, end))
    wake(stay)
  })
}

const begin = (stay: Stay, operation: Operation, attempt: number) => {
  const { host, now } = stay
  const { spec } = operation
  if (spec.kind === "child") stay.mayHaveChildren = true
  const isTimed = spec.dueMillis !== null && attempt === 1
  set(stay, operation, {
    attempt,
    state: "running",
    value: null,
    failure: null,
    begun: ++stay.position,
    ended: null,
    startedAt: now,
    endedAt: null,
    due: isTimed ? Math.min(Math.ceil(now + spec.dueMillis), Number.MAX_SAFE_INTEGER) : null,
    host: Calls.isWork(spec) || spec.kind === "run" ? host.name : null,
    ...defined({ stalled: operation.entry.stalled === undefined ? undefined : null })
  })
}

/** Halts the execution because of a step that kept the event loop too often. A person who resumes it begins another attempt. */
const haltStalled = (stay: Stay, operation: Operation, { host, millis, times }: Stalled) => {
  const { path } = operation.spec
  const cause = Cause.die(new StepStalled({ execution: stay.execution.id, path, host, millis, times }))
  set(stay, operation, { state: "retrying", failure: detailOf(cause), endedAt: stay.now, due: null })
  stay.reached.push(operation)
  halt(stay, cause)
}

/** Resumes a step: an interrupted attempt runs again, under the same keys, unless that is not safe. */
const takeUpWork = (stay: Stay, operation: Operation, wasRunning: boolean): Effect.Effect<void> => {
  const { execution, host, now, toLaunch } = stay
  const { entry, spec } = operation
  const { startedAt } = entry
  if (wasRunning && (!spec.repeatable || (spec.kind === "step" && now - startedAt > longestCutOffMillis))) {
    const { path, repeatable } = spec
    stay.reached.push(operation)
    halt(stay, Cause.die(new StepCutOff({ execution: execution.id, path, repeatable, startedAt })))
    return Effect.void
  }
  const stalled = wasRunning ? (entry.stalled ?? null) : null
  if (stalled !== null && stalled.times >= mostStalls) {
    haltStalled(stay, operation, stalled)
    return Effect.void
  }
  if (wasRunning && entry.host !== host.name) set(stay, operation, { host: host.name })
  toLaunch.push(operation)
  return stalled === null
    ? Effect.void
    : Effect.logWarning(
        `the step ${spec.path} of the execution ${execution.id} blocked the event loop of its process on ${stalled.host} for ` +
          `${Math.round(stalled.millis / 1_000)} s, which lost its executions (${stalled.times} of ${mostStalls} times): it runs ` +
          "again here, and is halted the last time"
      )
}

/** Begins or resumes an operation that was reached. */
export const takeUp = (stay: Stay, operation: Operation): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { entry, spec } = operation
    const { path } = spec
    const isNew = entry.begun === 0
    if (isNew) begin(stay, operation, 1)
    // The cause of the interruption of the wait was discarded.
    else if (entry.state === "interrupted" && !Calls.isWork(spec)) begin(stay, operation, entry.attempt)
    else if (entry.state === "retrying" && (entry.due === null || entry.due <= stay.now)) {
      begin(stay, operation, entry.attempt + 1)
    }
    const { due } = operation.entry
    if (due !== null) stay.timers.add(due, operation)
    if (operation.entry.state === "retrying") return Effect.void
    if (Calls.isWork(spec)) {
      return takeUpWork(stay, operation, operation.entry === entry)
    }
    if (spec.kind === "run" && operation.entry.attempt > 1) {
      operation.awaited = true
      stay.toLaunch.push(operation)
      return Effect.void
    }
    stay.mailbox.open(operation.entry.kind, spec.address, path)
    if (spec.kind === "run") stay.begunWaits.push(spec.recorded)
    const executionId = stay.execution.id
    return isNew && spec.announced
      ? stay.publish((at) => ({ _tag: "StepStarted", executionId, path, attempt: 1, at }))
      : Effect.void
  })

/** Ends a wait. A step that waited for an external event runs then. */
export const waited = (
  stay: Stay,
  operation: Operation,
  value: Calls.Spec["input"],
  subject: string | null
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { mailbox, now, operations, toLaunch } = stay
    const { spec } = operation
    if (operations.get(spec.path) !== operation || isEnd(operation.entry)) return Effect.void
    if (spec.kind === "run") {
      operation.awaited = true
      operation.entry = { ...operation.entry, due: null }
      if (operation.fiber === null && !toLaunch.includes(operation)) toLaunch.push(operation)
      return Effect.void
    }
    mailbox.close(operation.entry.kind, spec.address, spec.path)
    set(stay, operation, { state: "succeeded", value, subject, due: null, ended: ++stay.position, endedAt: now })
    deliver(stay, operation)
    const { path } = spec
    const executionId = stay.execution.id
    return stay.publish((at) => ({ _tag: "StepSucceeded", executionId, path, attempt: 1, at }))
  })

/** Handles a due timer: ends a wait, or begins the next attempt. */
export const due = (stay: Stay, operation: Operation): Effect.Effect<void> => {
  if (operation.entry.state !== "retrying") return waited(stay, operation, null, null)
  begin(stay, operation, operation.entry.attempt + 1)
  stay.toLaunch.push(operation)
  return Effect.void
}

/** Runs the steps whose starts are recorded, unless they were abandoned. */
export const launchAll = (stay: Stay) => {
  const batch = stay.toLaunch
  stay.toLaunch = []
  for (const operation of batch) {
    if (stay.operations.get(operation.spec.path) === operation) launch(stay, operation)
  }
}

/** Interrupts a body that computes or waits outside of a step, because it is left. */
export const stopBody = ({ branches }: Stay) => {
  for (const { fiber } of branches.running()) fiber?.interruptUnsafe()
}

/** Interrupts running steps, and a body that does not come to rest. */
export const abort = (stay: Stay): Effect.Effect<void> =>
  Effect.sync(() => {
    const fibers = [...stay.operations.values()].flatMap(({ fiber }) => (fiber === null ? [] : [fiber]))
    for (const fiber of fibers) fiber.interruptUnsafe()
    if (stay.outside !== null) stopBody(stay)
  })
