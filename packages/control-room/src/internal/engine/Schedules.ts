/**
 * What a schedule does next, as pure functions: times are those of `@signalbox/schedule`, this has the runs. An
 * occurrence that is to begin is first written into `starting`; the next transaction starts it.
 */
import { InvalidSchedule, make, type Definition } from "@signalbox/schedule/Definition"
import * as Due from "@signalbox/schedule/Due"
import { next, occurrences } from "@signalbox/schedule/Occurrences"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import type { SkipReason } from "@signalbox/api/contract/Schedules"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"

/** How far a schedule is. Times are milliseconds since 1970. */
export interface Progress {
  readonly state: Due.State
  /** Occurrences that are to be started, in order. */
  readonly starting: ReadonlyArray<number>
  /** When to look at it again; null: only a run's end can change anything, or nothing. */
  readonly wakeAt: number | null
}

export interface Skipped {
  readonly at: number
  readonly reason: SkipReason
  readonly why: string
}

export interface Decision {
  readonly progress: Progress
  readonly skipped: ReadonlyArray<Skipped>
  /** Whether the runs that have not ended are to be stopped. */
  readonly stop: boolean
}

/** What a schedule can do now. */
export type Move = "start" | "decide" | "wait"

/** Occurrences of a changed definition that are listed at most. */
const mostChanged = 50

export const utc = (millis: number): DateTime.Utc => DateTime.makeUnsafe(millis)
export const iso = (millis: number): string => new Date(millis).toISOString()

const millisOf = (at: DateTime.Utc | undefined): number | null => at?.epochMilliseconds ?? null
const queueOf = ({ queue }: Due.State) => queue.map(({ epochMilliseconds }) => epochMilliseconds)

/** The field that leaves a schedule without times. */
const emptiedBy = ({ at, calendar, every, from, until }: Definition) => {
  if (at !== undefined) return "at"
  if (until !== undefined) return "until"
  if (calendar.dates.length + calendar.weekdays.length > 0) return "calendar"
  return from !== undefined ? "from" : every !== undefined ? "every" : "cron"
}

/** Why the times are refused when they are set at `now`: they never come. */
export const never = (definition: Definition, now: number): InvalidSchedule | null => {
  if (next(definition, utc(now)) !== undefined) return null
  return new InvalidSchedule({
    field: emptiedBy(definition),
    message: `Expected a time in the future, not before ${iso(now)}: the schedule would never start a run`
  })
}

export type { Definition }

/** The time of the first occurrence after an instant; null when none is left. */
export const nextAfter = (definition: Definition, after: number): number | null =>
  millisOf(next(definition, utc(after))?.at)

export const created = (definition: Definition, now: number): Progress => {
  const { state, wakeAt } = Due.change(definition, Due.start(definition, utc(now)), utc(now))
  return { state, starting: [], wakeAt: millisOf(wakeAt) }
}

/** What is possible now, with the runs of the schedule that have not ended. */
export const moveOf = (
  { overlap }: Definition,
  { starting, state, wakeAt }: Progress,
  live: ReadonlyArray<ProcessRunId>,
  now: number
): Move => {
  if (starting.length > 0 && (overlap !== "stop" || live.length === 0)) return "start"
  if (wakeAt !== null && wakeAt <= now) return "decide"
  const queueMoves = state.queue.length > 0 && state.paused === null && live.length === 0 && starting.length === 0
  return queueMoves ? "decide" : "wait"
}

/** Whether the end of a run may change what is possible. */
export const waits = ({ starting, state }: Progress): boolean =>
  starting.length > 0 || (state.queue.length > 0 && state.paused === null)

const whyOf = (
  { missed, overlap }: Definition,
  { state: { paused }, starting }: Progress,
  live: ReadonlyArray<ProcessRunId>
): Readonly<Record<Due.SkipReason, string>> => {
  const [run] = live
  const [waiting] = starting
  return {
    missed: `missed while no control room was running, and missed is ${missed}`,
    overlap:
      run !== undefined
        ? `the run ${run} has not ended, and overlap is ${overlap}`
        : waiting !== undefined
          ? `the occurrence of ${iso(waiting)} has not started`
          : `several occurrences were due together, and overlap is ${overlap}`,
    calendar: "the calendar excludes its day",
    paused: paused === null || paused.note === "" ? "the schedule was paused" : `paused: ${paused.note}`
  }
}

const decidedBy = (
  definition: Definition,
  progress: Progress,
  live: ReadonlyArray<ProcessRunId>,
  due: Due.Due
): Decision => {
  const why = whyOf(definition, progress, live)
  const replaced = due.stop ? progress.starting : []
  const { unlisted } = due
  const skipped = due.skipped.map(({ at, reason }) => ({ at: at.epochMilliseconds, reason, why: why[reason] }))
  return {
    progress: {
      state: due.state,
      starting: [...(due.stop ? [] : progress.starting), ...due.begin.map(({ at }) => at.epochMilliseconds)],
      wakeAt: millisOf(due.wakeAt)
    },
    skipped: [
      ...replaced.map((at): Skipped => ({ at, reason: "overlap", why: "the next one was due before it could start" })),
      ...(unlisted === undefined
        ? []
        : [
            {
              // No occurrence that is listed has this time.
              at: unlisted.after.epochMilliseconds + 1,
              reason: progress.state.paused === null ? ("missed" as const) : ("paused" as const),
              why: `more occurrences were skipped, up to ${DateTime.formatIso(unlisted.before)}: too many to list`
            }
          ]),
      ...skipped
    ],
    stop: due.stop && live.length > 0
  }
}

/** Decides about the occurrences that have come. */
export const decide = (
  definition: Definition,
  progress: Progress,
  live: ReadonlyArray<ProcessRunId>,
  now: number
): Decision => {
  const running = live.length > 0 || progress.starting.length > 0
  return decidedBy(definition, progress, live, Due.due(definition, progress.state, { now: utc(now), running }))
}

/** Replaces the definition. If its times differ, occurrences that came or wait and have not started are skipped. */
export const change = (before: Definition, definition: Definition, progress: Progress, now: number): Decision => {
  const { state, wakeAt } = Due.change(definition, progress.state, utc(now))
  const isOther = state.times !== progress.state.times
  const passed = isOther
    ? occurrences(before, utc(progress.state.upTo.epochMilliseconds + 1), utc(now + 1), mostChanged)
    : []
  const dropped = isOther
    ? [...progress.starting, ...queueOf(progress.state), ...passed.map(({ at }) => at.epochMilliseconds)]
    : []
  return {
    progress: { state, starting: isOther ? [] : progress.starting, wakeAt: millisOf(wakeAt) },
    skipped: dropped.map((at) => ({ at, reason: "changed", why: "the schedule was changed before it started" })),
    stop: false
  }
}

/** Pauses: what is about to start is skipped, what waits in the queue stays there. */
export const pause = (progress: Progress, pausing: Due.Pause): Decision => {
  const state = Due.pause(progress.state, pausing)
  const why = pausing.note === "" ? "the schedule was paused" : `paused: ${pausing.note}`
  return {
    progress: { ...progress, state, starting: [] },
    skipped: progress.starting.map((at) => ({ at, reason: "paused", why })),
    stop: false
  }
}

export const resume = (definition: Definition, progress: Progress, now: number): Decision =>
  decidedBy(definition, progress, [], Due.resume(definition, progress.state, utc(now)))

/** A payload as JSON text, with the time of the occurrence wherever one of its texts has `{at}`. */
export const filled = (payloads: string, at: number): ReadonlyArray<Schema.Json> =>
  // Outside of a text JSON has no `{at}`; it remains a list.
  ExactJson.parse(payloads.replaceAll("{at}", iso(at))) as ReadonlyArray<Schema.Json>

/** The definition of a schedule; its name in `@signalbox/schedule` is its id, so that a new name changes no key. */
export const definitionOf = (id: string, rules: Omit<Parameters<typeof make>[0], "name">) =>
  make({ ...rules, name: id })

export const parseDefinition = (id: string, text: string): Definition =>
  // Only valid ones are stored.
  Result.getOrThrow(definitionOf(id, JSON.parse(text)))
