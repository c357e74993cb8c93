/**
 * The writes of an execution: new entries between two steps, the release of the claim, the end, the next chapter.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Failure } from "../../FlowEvents.ts"
import { detailOf, failureOf } from "../model/Failure.ts"
import { Children } from "../body/ChildExecutions.ts"
import { haltedBy } from "./Halts.ts"
import type { Outcome } from "./Contract.ts"
import type { OwnershipLost, Write } from "../model/Execution.ts"
import { deadlineOf, isReplay, type Activation } from "./Activation.ts"
import type { Halted } from "./Halting.ts"
import { isUndoing } from "./state/Phase.ts"
import type { Options } from "./state/Unwritten.ts"

/** Writes all changes, if there are any, or if it is forced. Returns false when a command must be read before. */
export const flush = (
  activation: Activation,
  more: Write["execution"] = {},
  options: Options = {}
): Effect.Effect<boolean, OwnershipLost> =>
  Effect.suspend(() => {
    const { host, inbox, operations, outside, phase, saying, unwritten } = activation
    const isRunning = operations.running() + operations.toLaunch().length > 0 || outside?.isShown === true
    const wakeAt = Math.min(operations.timers.first()?.due ?? Infinity, deadlineOf(activation))
    const standing = {
      state: isUndoing(phase) ? "undoing" : isRunning ? "running" : "waiting",
      wakeAt: wakeAt === Infinity ? null : wakeAt
    } as const
    const said = saying.collect()
    const batch = unwritten.collect(standing, inbox.seen(), more, { ...options, said: said?.write })
    if (batch === null) return Effect.succeed(true)
    return Effect.tap(host.write(batch.write), (isWritten) =>
      Effect.sync(() => {
        if (isWritten) return
        batch.restore()
        said?.restore()
        inbox.notify()
      })
    )
  })

/**
 * Writes all pending changes before steps begin. Returns false when a command has arrived before: none may begin until it is read. An
 * interrupted attempt that runs again needs a write too, although nothing else has changed.
 */
export const flushToBegin = (activation: Activation) => {
  const begins = activation.operations.toLaunch().length > 0
  return flush(activation, {}, { begins, force: begins })
}

/** Writes what running steps have said, of an execution that begins nothing more. */
export const flushReports = (activation: Activation) =>
  Effect.suspend(() => {
    const { operations, unwritten } = activation
    for (const { entry } of operations.toLaunch()) unwritten.unset(entry)
    return Effect.map(flush(activation), () => {
      for (const { entry } of operations.toLaunch()) unwritten.set(entry)
    })
  })

/** Releases the claim. */
export const release = (activation: Activation, more: Write["execution"] = {}, options: Options = {}) =>
  flush(activation, { owner: null, ...more }, options)

/** Evicts the execution from memory before its end. */
export const leave = Effect.fnUntraced(function* (
  activation: Activation,
  why: Halted | null
): Effect.fn.Return<Outcome, OwnershipLost> {
  const { execution, host, leaving, now, operations, publish, unwritten } = activation
  if (isReplay(host) && why !== null) return { _tag: "Halted", ...why }
  // What was to begin begins at the next activation: it would be recorded as running, and as cut off when that is late.
  for (const { entry } of operations.toLaunch()) unwritten.unset(entry)
  if (why === null) {
    const suspended = leaving.isSuspending()
    if (suspended) yield* release(activation, { state: "suspended", wakeAt: null }, { suspends: leaving.suspends() })
    else yield* release(activation, { wakeAt: now })
    return suspended ? { _tag: "Suspended" } : { _tag: "Parked" }
  }
  // If another build may be able to run it, the engine decides.
  if (why.mine || !host.durable) {
    const { flow, id } = execution
    const by = { host: host.name, process: host.process }
    yield* release(activation, { state: "halted", wakeAt: null, failure: haltedBy(why, by) })
    yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure: failureOf(why.cause) }))
  }
  return { _tag: "Halted", ...why }
})

/** Ends the execution. */
export const end = Effect.fnUntraced(function* (
  activation: Activation,
  outcome: Outcome
): Effect.fn.Return<Outcome, OwnershipLost> {
  const { body, execution, host, now, publish } = activation
  const { flow, id } = execution
  if (isReplay(host)) return outcome
  // Before the end is recorded, so that a process that repeats the end also cancels them.
  if (activation.mayHaveChildren) yield* Context.get(body.context, Children).endAll(id)
  const over = { owner: null, wakeAt: null, endedAt: now } as const
  switch (outcome._tag) {
    case "Completed": {
      const { result } = outcome
      yield* flush(activation, { ...over, state: "completed", result, failure: null })
      yield* publish((at) => ({ _tag: "FlowCompleted", executionId: id, flow, at, result }))
      break
    }
    case "Failed": {
      const { cause, error } = outcome
      yield* flush(activation, { ...over, state: "failed", error, failure: detailOf(cause) })
      yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure: failureOf(cause) }))
      break
    }
    default: {
      const failure: Failure = { kind: "interrupted", tag: null, message: host.durable ? "cancelled" : "interrupted" }
      yield* flush(activation, { ...over, state: "cancelled", failure })
      yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure }))
    }
  }
  return outcome
})

/** Restarts the execution with another input and an empty journal. */
export const nextChapter = Effect.fnUntraced(function* (
  activation: Activation,
  input: Schema.Json
): Effect.fn.Return<Outcome, OwnershipLost> {
  if (isReplay(activation.host)) return { _tag: "Continued", input }
  // Messages that were not received belong to the next chapter.
  activation.unwritten.take(...activation.inbox.leave(activation.mailbox.split()))
  activation.saying.leaveChapter()
  yield* flush(activation, { input, chapter: activation.execution.chapter + 1 }, { newChapter: true })
  return { _tag: "Continued", input }
})
