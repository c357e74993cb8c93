/**
 * Steps and waits, from the call by a branch to the delivery of their end, or to its cancel.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Stay } from "./Activation.ts"
import * as Branches from "./Branches.ts"
import { isEnd, isWork, newEntry, sameInput, type Spec } from "./calls/Spec.ts"
import { changedFlow } from "./Halting.ts"
import { failureOf } from "../model/Failure.ts"
import * as Operation from "./state/Operation.ts"

/** Changes the entry of an operation, and writes it with the next write. */
export const change = ({ unwritten }: Stay, operation: Operation.Operation, to: Operation.Change) => {
  operation.entry = { ...operation.entry, ...to }
  unwritten.set(operation.entry)
}

/** Now, at the next position. */
export const moment = ({ now, unwritten }: Stay): Operation.Moment => ({ now, position: unwritten.nextPosition() })

/** Delivers the end of an operation to its branch. */
export const deliver = (stay: Stay, operation: Operation.Operation) => {
  const { branch, entry, spec } = operation
  stay.operations.deliver(operation)
  if (spec.numbered !== null && spec.numbered.last !== null && entry.state === "failed") {
    spec.numbered.last.failed = true
  }
  stay.branches.resume(branch, spec.resultOf(entry))
}

/** Delivers a recorded end, unless the operation is abandoned before. */
export const deliverSoon = (stay: Stay, operation: Operation.Operation) => {
  stay.ready.push(() =>
    Effect.sync(() => {
      if (stay.operations.isOpen(operation)) deliver(stay, operation)
    })
  )
}

/** Interrupts a branch that cannot continue because another operation is recorded in its place. */
const giveUpSoon = ({ branches, operations, ready }: Stay, operation: Operation.Operation) => {
  operations.close(operation)
  ready.push(() => Effect.sync(() => branches.interrupt(operation.branch)))
}

/** Abandons the recorded order: delivers the ends of operations that fit, and interrupts the others. */
export const abandon = (stay: Stay) => {
  for (const operation of stay.operations.all()) {
    if (!operation.fits) giveUpSoon(stay, operation)
    else if (isEnd(operation.entry)) deliverSoon(stay, operation)
  }
}

/** Whether an operation runs to its end although its branch is cancelled. */
const mustEnd = ({ cancelled, host }: Stay, { branch, entry, fiber, fits, isHeld, spec }: Operation.Operation) => {
  if (!isWork(spec) || !fits) return false
  if (Branches.inRegion(branch) && (isEnd(entry) || isHeld)) return true
  // A cancel lets a running step run to its end; one that loses a race is interrupted.
  return host.durable && cancelled && (isEnd(entry) || (fiber !== null && entry.state === "running"))
}

/** Cancels a branch: its operation is abandoned, unless it must run to its end. */
const cancel = (stay: Stay, operation: Operation.Operation) => {
  if (mustEnd(stay, operation)) return
  const { branches, mailbox, operations, replay } = stay
  const { branch, entry, fiber, spec } = operation
  operations.abandon(operation)
  mailbox.close(entry.kind, spec.address, spec.path)
  if (isEnd(entry)) replay.skip(spec.path)
  if (entry.begun > 0 && (entry.state === "running" || entry.state === "retrying")) {
    change(stay, operation, Operation.interrupted(moment(stay)))
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
export const beginRegions = ({ branch, spec }: Operation.Operation) => {
  if (isWork(spec)) Branches.beginRegions(branch)
}

/** Parks a branch at a step or a wait, and compares it with the record. */
export const park = <A, E>(stay: Stay, branch: Branches.Branch, spec: Spec): Effect.Effect<A, E> =>
  stay.branches.park<A, E>(branch, () => {
    const { history, operations, replay } = stay
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
      firstStartedAt: replay.firstStartedAt(spec.path) ?? stay.now,
      hasRun: recorded !== undefined,
      // A race that waited for it before a retry waits for it again, else the remaining record would not fit.
      isHeld: recorded === undefined ? history.redos.has(spec.path) : recorded.state !== "interrupted",
      fiber: null,
      awaited: false
    }
    operations.open(operation)
    if (operation.isHeld) beginRegions(operation)
    if (!fits && replay.isAbandoned()) giveUpSoon(stay, operation)
    else if (!isSame) changedFlow(stay, spec.path, operation)
    else if (!fits) changedFlow(stay, spec.path, operation, { recorded: entry.input, reached: spec.input })
    else if (!isOver) operations.reach(operation)
    else if (replay.isDeferred(spec.path)) deliverSoon(stay, operation)
    return { cancel: () => cancel(stay, operation) }
  })
