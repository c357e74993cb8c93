/**
 * A body that computes, or waits for something that is no step: it does not come to rest, so nothing is recorded and no event is
 * processed. After a minute it is shown as computing. A cancel interrupts it.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { BodyStalled } from "../../FlowErrors.ts"
import type { Outcome } from "./Contract.ts"
import type { OwnershipLost } from "../model/Execution.ts"
import * as Replay from "../model/Replay.ts"
import * as Mail from "./Mail.ts"
import { deadlineOf, isBehind, type Activation, wake } from "./Activation.ts"
import { launchAll, stopBody } from "./Attempts.ts"
import * as Compensation from "./Compensation.ts"
import { halt } from "./Halting.ts"
import * as Recorder from "./Recorder.ts"
import { isUndoing } from "./state/Phase.ts"

/** A body that is not at rest. */
export interface Outside {
  /** By the clock of the journal. */
  readonly since: number
  /** By the clock of the process, as the others. */
  readonly from: number
  /** Whether it is shown as computing. */
  isShown: boolean
  looksAt: number
  /** When the execution is left, because the body does not end; null before a cancel or a halt. */
  endsAt: number | null
}

/** A body that comes to rest within this time is between two steps. */
const settleMillis = 1_000
const shownAfterMillis = 60_000
/** How long a body may take to end after it was interrupted. */
const graceMillis = 10_000

const lookAt = (activation: Activation, at: number) =>
  activation.host.restless.set(activation, at, () => wake(activation))

/** Interrupts the cancelled branches that run. A call of `Flow.compensate` that has begun is not interrupted: its undo needs it. */
const interrupt = (activation: Activation, outside: Outside, at: number) => {
  for (const branch of activation.branches.running()) activation.branches.interruptRunning(branch)
  outside.endsAt = at + graceMillis
}

/** The value of a cancel that interrupted a running body: after how many milliseconds. */
const interruptedAfter = (value: unknown): number | null =>
  Predicate.hasProperty(value, "outside") && Predicate.isNumber(value.outside) ? value.outside : null

/** Cancels the body that runs: by a message, or as recorded. Returns when it is to be cancelled, if that is later. */
const cancel = (activation: Activation, outside: Outside, at: number): number | void => {
  const { inbox, replay, saying, unwritten } = activation
  if (activation.cancelled !== null || isUndoing(activation.phase) || activation.halted !== null) return
  const recorded = replay.at(Replay.cancelPath)
  if (recorded?.value === Replay.abandonedValue) {
    Compensation.abandon(activation)
    return interrupt(activation, outside, at)
  }
  const next = replay.next()
  const after = next?.path === Replay.cancelPath ? interruptedAfter(next.value) : null
  if (after !== null) {
    // The body must get as far as the first time before it is interrupted.
    const dueAt = outside.from + Math.min(after, graceMillis)
    if (at < dueAt) return dueAt
    replay.advance()
    saying.passed(next?.ended ?? 0)
    Compensation.cancelBody(activation, Replay.cancelledBy(next?.value ?? null))
    return interrupt(activation, outside, at)
  }
  const message = inbox.takeCancel()
  if (message === undefined) {
    const millis = deadlineOf(activation) - activation.now
    // Its record comes first: the body may end before.
    if (millis > 0 || isBehind(activation)) return at + Math.max(millis, settleMillis)
    Compensation.cancel(activation, "deadline", at - outside.from)
    return interrupt(activation, outside, at)
  }
  if (activation.host.durable) unwritten.take(message.seq)
  // A record that was not reached cannot be reached any more.
  if (isBehind(activation)) Compensation.abandon(activation)
  else Compensation.cancel(activation, "cancel", at - outside.from)
  interrupt(activation, outside, at)
}

/** Writes what has happened, and begins the steps that others have reached. */
const record = Effect.fnUntraced(function* (activation: Activation) {
  yield* Recorder.flush(activation, {}, { force: true })
  for (const recorded of activation.operations.takeBegunWaits()) yield* recorded
  launchAll(activation)
})

/** Leaves an execution whose body does not end, when its running steps have. */
const leave = Effect.fnUntraced(function* (activation: Activation): Effect.fn.Return<Outcome | void, OwnershipLost> {
  for (const event of activation.ready.splice(0)) yield* event()
  if (activation.operations.running() > 0) return
  stopBody(activation)
  return yield* Recorder.leave(activation, activation.halted)
})

const looked = Effect.fnUntraced(function* (
  activation: Activation,
  outside: Outside,
  at: number
): Effect.fn.Return<Outcome | void, OwnershipLost> {
  const { execution, host, inbox, leaving, operations } = activation
  const isDue = at >= outside.looksAt
  const isNews = inbox.hasNews()
  // A notification may have been lost.
  if (isNews || isDue) yield* Mail.read(activation)
  const cancelsAt = cancel(activation, outside, at) ?? Infinity
  if ((activation.halted !== null || !leaving.stays()) && outside.endsAt === null) outside.endsAt = at + graceMillis
  if (outside.endsAt !== null && at >= outside.endsAt) {
    if (leaving.stays()) {
      const after = operations.lastDelivered()
      halt(activation, Cause.die(new BodyStalled({ execution: execution.id, after, since: outside.since })))
    }
    const outcome = yield* leave(activation)
    if (outcome !== undefined) return outcome
  }
  if (isDue) {
    if (!outside.isShown) yield* host.outside(outside.since)
    outside.isShown = true
    outside.looksAt = at + shownAfterMillis
  }
  // A write fails when the execution was ended or claimed meanwhile.
  if (isNews || isDue) yield* record(activation)
  if (activation.branches.isAtRest()) return
  const endsAt = outside.endsAt !== null && outside.endsAt > at ? outside.endsAt : Infinity
  lookAt(activation, Math.min(outside.looksAt, cancelsAt, endsAt))
})

/** Called when the body is not at rest: returns what is to be done about it, or null. */
export const look = (activation: Activation): Effect.Effect<Outcome | void, OwnershipLost> | null => {
  const at = activation.clock.currentTimeMillisUnsafe()
  const { outside } = activation
  if (outside === null) {
    activation.outside = {
      since: activation.now,
      from: at,
      isShown: false,
      looksAt: at + shownAfterMillis,
      endsAt: null
    }
    lookAt(activation, at + settleMillis)
    return null
  }
  // The end of an interrupted step is awaited too.
  if (at < outside.from + settleMillis || activation.branches.running().length === 0) return null
  return looked(activation, outside, at)
}

/** Called when the body is at rest again, or left. */
export const over = (activation: Activation): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { host, outside } = activation
    activation.outside = null
    host.restless.clear(activation)
    return outside?.isShown === true ? host.outside(null) : Effect.void
  })
