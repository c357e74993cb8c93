/**
 * When executions start, in which order, and until when.
 */
import { check, OptionError, type Rule, time, timeOrNone, whole } from "@signalbox/transport/OptionError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { ChangedTimes, Execution, Times } from "./Execution.ts"

/** When an execution starts: at a time, or after a duration. Default: immediately; so does one whose time has passed. */
export type StartTime =
  | { readonly at?: DateTime.DateTime | Date | undefined; readonly after?: undefined }
  | { readonly at?: undefined; readonly after?: Duration.Input | undefined }

/** How urgent an execution is. */
export interface Urgency {
  /**
   * A whole number from -1000 to 1000, default 0: of the queued executions with the same keys for the limits of their flow, the
   * larger ones begin first. Keys take turns all the same, so that no key overtakes others by it.
   */
  readonly priority?: number | undefined
  /**
   * How long the execution may take from now on, waiting included. Then its waits are interrupted, its undos run, and it fails with
   * `DeadlineExceeded`; one that has not begun ends without running. What is halted or suspended ends so when it is resumed.
   */
  readonly deadline?: Duration.Input | undefined
}

/** When an execution starts, in which order, and until when. */
export type WhenOptions = StartTime & Urgency

/** Times that may not go together, such as those of a request. */
export interface AnyTimes extends Urgency {
  readonly at?: DateTime.DateTime | Date | undefined
  readonly after?: Duration.Input | undefined
}

/** The same, as it was given. */
export interface When {
  readonly at: number | null
  readonly afterMillis: number | null
  readonly priority: number
  readonly deadlineMillis: number | null
}

export const immediately: When = { at: null, afterMillis: null, priority: 0, deadlineMillis: null }

/** The last moment that a date can hold. */
const lastMillis = 8.64e15

const millisOf = (value: unknown): number =>
  value instanceof Date ? value.getTime() : DateTime.isDateTime(value) ? DateTime.toEpochMillis(value) : NaN

const date: Rule = (value) => (Number.isNaN(millisOf(value)) ? "expected a Date or a DateTime" : null)

const rules = { at: date, after: timeOrNone, priority: whole(-1_000, 1_000), deadline: time }

/** Checks options, and returns what they say. Throws an `OptionError`. `of` names the call. */
export const whenOf = (of: string, options: AnyTimes): When => {
  const { after, at, deadline, priority = 0 } = options
  check<AnyTimes>(of, options, rules)
  if (at !== undefined && after !== undefined) {
    throw new OptionError("after", `${of}: after: expected either at or after, not both`)
  }
  return {
    at: at === undefined ? null : millisOf(at),
    afterMillis: after === undefined ? null : Duration.toMillis(after),
    priority,
    deadlineMillis: deadline === undefined ? null : Duration.toMillis(deadline)
  }
}

/** What a change says of when an execution starts, in which order, and until when; null: it stays. */
export interface ChangedWhen extends Omit<When, "priority"> {
  readonly priority: number | null
}

/** Like `whenOf`, for a change of at least one of them. */
export const changedWhenOf = (of: string, options: AnyTimes): ChangedWhen => {
  const when = whenOf(of, options)
  const { after, at, deadline, priority } = options
  if ([after, at, deadline, priority].every((option) => option === undefined)) {
    throw new OptionError("at", `${of}: expected at, after, priority or deadline`)
  }
  return { ...when, priority: priority ?? null }
}

const later = (now: number, millis: number): number => Math.min(Math.ceil(now + millis), lastMillis)

/** Returns the times of an execution that is submitted now. */
export const timesAt = ({ afterMillis, at, deadlineMillis, priority }: When, now: number): Times => {
  const startsAt = at ?? (afterMillis === null ? now : later(now, afterMillis))
  return {
    startsAt: startsAt <= now ? null : startsAt,
    priority,
    deadlineAt: deadlineMillis === null ? null : later(now, deadlineMillis)
  }
}

/** Returns the times of a change that is made now. */
export const changedTimesAt = (
  { afterMillis, at, deadlineMillis, priority }: ChangedWhen,
  now: number
): ChangedTimes => ({
  startsAt: at ?? (afterMillis === null ? null : later(now, afterMillis)),
  priority,
  deadlineAt: deadlineMillis === null ? null : later(now, deadlineMillis)
})

/** Returns when an owner is needed for an execution that has not begun; null: not before its admission. */
export const unbegunWake = ({ deadlineAt, startsAt }: Pick<Execution, "deadlineAt" | "startsAt">): number | null =>
  startsAt === null || deadlineAt === null ? (startsAt ?? deadlineAt) : Math.min(startsAt, deadlineAt)

/**
 * Whether an execution has failed because of its deadline. It then has no error of its flow, which may let the `DeadlineExceeded` of a
 * child through.
 */
export const isLate = ({ error, failure, state }: Pick<Execution, "error" | "failure" | "state">): boolean =>
  state === "failed" && error === null && failure?.tag === "DeadlineExceeded"
