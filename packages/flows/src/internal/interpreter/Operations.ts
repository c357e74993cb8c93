/**
 * Steps and waits, from the call by a branch to the delivery of their end, or to its cancel.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Activation } from "./Activation.ts"
import * as Branches from "./Branches.ts"
import { isEnd, isWork, newEntry, sameInput, type Spec } from "./calls/Spec.ts"
import { changedFlow } from "./Halting.ts"
import { failureOf } from "../model/Failure.ts"
import * as Operation from "./state/Operation.ts"

/** Changes the entry of an operation, and writes it with the next write. The end of a step deletes its details. */
export const change = ({ unwritten }: Activation, operation: Operation.Operation, to: Operation.Change) => {
  const { entry } = operation
  const isOver = typeof to.ended === "number" && entry.details !== undefined
  operation.entry = isOver ? { ...entry, ...to, details: null } : { ...entry, ...to }
  unwritten.set(operation.entry)
}

/** Now, at the next position. */
export const moment = ({ now, unwritten }: Activation): Operation.Moment => ({
  now,
  position: unwritten.nextPosition()
})

/** Delivers the end of an operation to its branch. */
export const deliver = (activation: Activation, operation: Operation.Operation) => {
  const { branch, entry, spec } = operation
  activation.operations.deliver(operation)
  activation.saying.passed(entry.ended ?? 0)
  if (spec.numbered !== null && spec.numbered.last !== null && entry.state === "failed") {
    spec.numbered.last.failed = true
  }
  activation.branches.resume(branch, spec.resultOf(entry))
}

/** Delivers a recorded end, unless the operation is abandoned before. */
export const deliverSoon = (activation: Activation, operation: Operation.Operation) => {
  activation.ready.push(() =>
    Effect.sync(() => {
      if (activation.operations.isOpen(operation)) deliver(activation, operation)
    })
  )
}

/** Interrupts a branch that cannot continue because another operation is recorded in its place. */
const giveUpSoon = ({ branches, operations, ready }: Activation, operation: Operation.Operation) => {
  operations.close(operation)
  ready.push(() => Effect.sync(() => branches.interrupt(operation.branch)))
}

/** Abandons the recorded order: delivers the ends of operations that fit, and interrupts the others. */
export const abandon = (activation: Activation) => {
  for (const operation of activation.operations.all()) {
    if (!operation.fits) giveUpSoon(activation, operation)
    else if (isEnd(operation.entry)) deliverSoon(activation, operation)
  }
}

/** Whether an operation runs to its end although its branch is cancelled. */
const mustEnd = (
  { cancelled, host }: Activation,
  { branch, entry, fiber, fits, isHeld, spec }: Operation.Operation
) => {
  if (!isWork(spec) || !fits) return false
  if (Branches.inRegion(branch) && (isEnd(entry) || isHeld)) return true
  // A cancel lets a running step run to its end; one that loses a race is interrupted.
  return host.durable && cancelled !== null && (isEnd(entry) || (fiber !== null && entry.state === "running"))
}

/** Cancels a branch: its operation is abandoned, unless it must run to its end. */
const cancel = (activation: Activation, operation: Operation.Operation) => {
  if (mustEnd(activation, operation)) return
  const { branches, mailbox, operations, replay } = activation
  const { branch, entry, fiber, spec } = operation
  operations.abandon(operation)
  mailbox.close(entry.kind, spec.address, spec.path)
  if (isEnd(entry)) replay.skip(spec.path)
  if (entry.begun > 0 && (entry.state === "running" || entry.state === "retrying")) {
    change(activation, operation, Operation.interrupted(moment(activation)))
    if (operation.hasRun || spec.announced) {
      const failure = failureOf(Cause.interrupt())
      const { attempt, path } = entry
      const executionId = activation.execution.id
      activation.cutOff.push((at) => ({ _tag: "StepFailed", executionId, path, attempt, at, failure }))
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
export const beginRegions = ({ branch, spec }: Operation.Operation) => {
  if (isWork(spec)) Branches.beginRegions(branch)
}

/** Parks a branch at a step or a wait, and compares it with the record. */
export const park = <A, E>(activation: Activation, branch: Branches.Branch, spec: Spec): Effect.Effect<A, E> =>
  activation.branches.park<A, E>(branch, () => {
    const { history, operations, replay } = activation
    const recorded = replay.reach(spec.path)
    const entry = recorded ?? newEntry(spec, history.redos.get(spec.path) ?? 0)
    const isSame = recorded === undefined || (recorded.name === spec.name && recorded.kind === spec.kind)
    const isOver = recorded !== undefined && isEnd(recorded)
    const fits = isSame && (!isOver || sameInput(spec, recorded))
    const operation: Operation.Operation = {
      spec,
      branch,
      entry,
      fits,
      firstStartedAt: replay.firstStartedAt(spec.path) ?? activation.now,
      hasRun: recorded !== undefined,
      // A race that waited for it before a retry waits for it again, else the remaining record would not fit.
      isHeld: recorded === undefined ? history.redos.has(spec.path) : recorded.state !== "interrupted",
      fiber: null,
      awaited: false,
      report: null
    }
    operations.open(operation)
    if (operation.isHeld) beginRegions(operation)
    if (!fits && replay.isAbandoned()) giveUpSoon(activation, operation)
    else if (!isSame) changedFlow(activation, spec.path, operation)
    else if (!fits) changedFlow(activation, spec.path, operation, { recorded: entry.input, reached: spec.input })
    else if (!isOver) operations.reach(operation)
    else if (replay.isDeferred(spec.path)) deliverSoon(activation, operation)
    return { cancel: () => cancel(activation, operation) }
  })
