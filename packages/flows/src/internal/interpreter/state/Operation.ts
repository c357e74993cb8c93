/**
 * The step or wait at which a branch is parked, and the changes of its entry.
 */
import type * as Cause from "effect/Cause"
import type * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import { defined } from "@signalbox/transport/Defined"
import { detailOf } from "../../model/Failure.ts"
import type { Entry } from "../../model/Execution.ts"
import type { Branch } from "../Branches.ts"
import { isWork, type Spec } from "../calls/Spec.ts"
import type { Unreported } from "../Reports.ts"

export interface Operation {
  readonly spec: Spec
  readonly branch: Branch
  entry: Entry
  /** Whether the call fits the entry at its path, if there is one. */
  readonly fits: boolean
  /** When its first attempt began. */
  readonly firstStartedAt: number
  /** Whether an attempt may have had an effect. */
  hasRun: boolean
  /** Whether a call of `Flow.compensate` around it must run to its end: the step has begun, now or before a retry discarded it. */
  isHeld: boolean
  /** The fiber that runs the step. */
  fiber: Fiber.Fiber<unknown, unknown> | null
  /** Whether its external event has happened. */
  awaited: boolean
  /** What its running attempt says; null while none runs. */
  report: Unreported | null
}

/** The members of an entry that change. */
export type Change = Partial<Entry>

/** When and where in the order of starts and ends something happened. */
export interface Moment {
  readonly now: number
  readonly position: number
}

/** An attempt begins. A deadline counts from the first one. */
export const began = ({ entry, spec }: Operation, attempt: number, host: string, { now, position }: Moment): Change => {
  const isTimed = spec.dueMillis !== null && attempt === 1
  return {
    attempt,
    state: "running",
    value: null,
    failure: null,
    begun: position,
    ended: null,
    startedAt: now,
    endedAt: null,
    due: isTimed ? Math.min(Math.ceil(now + spec.dueMillis), Number.MAX_SAFE_INTEGER) : null,
    host: isWork(spec) || spec.kind === "run" ? host : null,
    ...defined({ stalled: entry.stalled === undefined ? undefined : null })
  }
}

export const succeeded = (value: Schema.Json, { now, position }: Moment): Change => ({
  state: "succeeded",
  value,
  failure: null,
  ended: position,
  endedAt: now
})

/** The last attempt failed. */
export const failed = (error: Schema.Json, cause: Cause.Cause<unknown>, { now, position }: Moment): Change => ({
  state: "failed",
  value: error,
  failure: detailOf(cause),
  ended: position,
  endedAt: now,
  due: null
})

/** An attempt failed, and another one follows. */
export const retried = (error: Schema.Json, cause: Cause.Cause<unknown>, now: number, due: number): Change => ({
  state: "retrying",
  value: error,
  failure: detailOf(cause),
  ended: null,
  endedAt: now,
  due
})

/** An attempt ended with a defect: another one follows when the execution is resumed. */
export const died = (cause: Cause.Cause<unknown>, now: number): Change => ({
  state: "retrying",
  failure: detailOf(cause),
  endedAt: now,
  due: null
})

/** A wait is over: with the value and the number of a message, or by its time. */
export const received = (value: Schema.Json, subject: string | null, { now, position }: Moment): Change => ({
  state: "succeeded",
  value,
  subject,
  due: null,
  ended: position,
  endedAt: now
})

/** Its branch was cancelled. */
export const interrupted = ({ now, position }: Moment): Change => ({
  state: "interrupted",
  ended: position,
  endedAt: now,
  due: null
})
