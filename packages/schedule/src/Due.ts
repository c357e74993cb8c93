/**
 * Decides which occurrences of a schedule begin now, which are skipped and why, and the state afterwards. Every
 * function is pure: the caller stores the state and the records in one transaction, and begins a run for each
 * occurrence under its key, so that a repetition after a crash begins nothing twice.
 */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { type Definition, timesDigest } from "./Definition.ts"
import { Instant } from "./internal/fields/Fields.ts"
import * as Pending from "./internal/times/Pending.ts"
import * as Planned from "./internal/fields/Planned.ts"
import { firstAfter } from "./internal/times/Timetable.ts"
import type { Occurrence } from "./Occurrences.ts"

/** Schema of a pause: since when, by whom and why. See `pause`. */
export const Pause = Schema.Struct({ at: Instant, by: Schema.String, note: Schema.String })
export interface Pause extends Schema.Schema.Type<typeof Pause> {}

/**
 * Schema of the progress of a schedule, for its caller to store as JSON.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { State } from "@signalbox/schedule/Due"
 *
 * export const stored = Schema.fromJsonString(State)
 * ```
 */
export const State = Schema.Struct({
  /** Digest of the fields that determined the times so far. */
  times: Schema.String,
  /** Occurrences up to here have begun, wait in the queue or were skipped. */
  upTo: Instant,
  /** Times of the occurrences that wait for an earlier run to end, in order. */
  queue: Schema.Array(Instant),
  paused: Schema.NullOr(Pause)
}).annotate({ identifier: "ScheduleState" })
export interface State extends Schema.Schema.Type<typeof State> {}

/**
 * Why an occurrence did not begin:
 * - `missed`: it was not processed in time, and the policy for missed ones excludes it.
 * - `overlap`: an earlier run was still running, or began first among several.
 * - `calendar`: its day is excluded.
 * - `paused`: the schedule was paused.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { skipReasons } from "@signalbox/schedule/Due"
 *
 * export const Reason = Schema.Literals(skipReasons)
 * ```
 */
export const skipReasons = ["missed", "overlap", "calendar", "paused"] as const
export type SkipReason = (typeof skipReasons)[number]

/** An occurrence that does not begin. */
export interface Skipped {
  readonly key: string
  readonly at: DateTime.Utc
  readonly reason: SkipReason
}

/** What the caller knows at the time of the call. */
export interface Moment {
  readonly now: DateTime.Utc
  /** Whether a run of this schedule is still running. A halted one counts. */
  readonly running: boolean
}

/** What begins, what is skipped, and the state to store. */
export interface Due {
  /** In the order in which they begin. */
  readonly begin: ReadonlyArray<Occurrence>
  /** Whether the current run is to be stopped first. */
  readonly stop: boolean
  /** In the order of their times, at most 100 of each kind. */
  readonly skipped: ReadonlyArray<Skipped>
  /** Between these instants others were skipped as well, too many to list one by one. */
  readonly unlisted: { readonly after: DateTime.Utc; readonly before: DateTime.Utc } | undefined
  readonly state: State
  /** When to call `due` again, at the latest; `undefined` when no occurrence is left. Call it when a run ends as well. */
  readonly wakeAt: DateTime.Utc | undefined
}

/** At most this many occurrences of a kind at a time. */
const batch = 100
/** An occurrence processed within this time was not missed, milliseconds. */
const punctual = 60_000

const utc = (millis: number): DateTime.Utc => DateTime.makeUnsafe(millis)

const skip = ({ name }: Definition, times: ReadonlyArray<number>, reason: SkipReason): ReadonlyArray<Skipped> =>
  times.map((at) => ({ key: Planned.keyOf(name, at), at: utc(at), reason }))

const millisOf = ({ epochMilliseconds }: DateTime.Utc): number => epochMilliseconds

/**
 * Creates the state of a schedule that is created at `now`: earlier occurrences never begin.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Result from "effect/Result"
 * import { make } from "@signalbox/schedule/Definition"
 * import { start } from "@signalbox/schedule/Due"
 *
 * const nightly = Result.getOrThrow(make({ name: "nightly", cron: "30 2 * * *" }))
 * export const state = start(nightly, DateTime.nowUnsafe())
 * ```
 */
export const start = (definition: Definition, now: DateTime.Utc): State => ({
  times: timesDigest(definition),
  upTo: now,
  queue: [],
  paused: null
})

const nothing = (plan: Planned.Plan, state: State): Due => {
  const at = firstAfter(plan.timetable.counted, millisOf(state.upTo))
  const wakeAt = at === undefined ? undefined : utc(plan.planned(at).start)
  return { begin: [], stop: false, skipped: [], unlisted: undefined, state, wakeAt }
}

/**
 * Applies a changed definition at `now`. When its times differ, they count from `now`: earlier ones never begin, and
 * those in the queue are skipped as `overlap`. `due` does the same when the state belongs to other times.
 *
 * ```ts
 * import type * as DateTime from "effect/DateTime"
 * import type { Definition } from "@signalbox/schedule/Definition"
 * import { change, type State } from "@signalbox/schedule/Due"
 *
 * export const saved = (
 *   definition: Definition,
 *   stored: State,
 *   now: DateTime.Utc
 * ) => change(definition, stored, now).state
 * ```
 */
export const change = (definition: Definition, state: State, now: DateTime.Utc): Due => {
  const times = timesDigest(definition)
  const plan = Planned.make(definition)
  if (state.times === times) return nothing(plan, state)
  const changed = { ...state, times, upTo: DateTime.max(state.upTo, now), queue: [] }
  return { ...nothing(plan, changed), skipped: skip(definition, state.queue.map(millisOf), "overlap") }
}

interface Admitted {
  readonly begin: ReadonlyArray<number>
  readonly waiting: ReadonlyArray<number>
  readonly dropped: ReadonlyArray<number>
  readonly stop: boolean
}

/** Splits a queue: so many are dropped from its front, then so many begin, then so many wait; the rest is dropped. */
const admit = (
  { overlap, queue }: Pick<Definition, "overlap" | "queue">,
  line: ReadonlyArray<number>,
  running: boolean
): Admitted => {
  const free = running ? 0 : 1
  const [dropped, begin, waiting] = {
    allow: [0, line.length, 0] as const,
    stop: [Math.max(line.length - 1, 0), 1, 0] as const,
    skip: [0, free, 0] as const,
    queue: [0, free, queue] as const
  }[overlap]
  return {
    begin: line.slice(dropped, dropped + begin),
    waiting: line.slice(dropped + begin, dropped + begin + waiting),
    dropped: [...line.slice(0, dropped), ...line.slice(dropped + begin + waiting)],
    stop: overlap === "stop" && running && line.length > 0
  }
}

interface Passed {
  /** Those that have started, in order. */
  readonly come: ReadonlyArray<number>
  /** Whether there are others, before these or, in turn, after them. */
  readonly more: boolean
  /** The occurrences up to here are then processed. */
  readonly upTo: number
}

const passedOf = (plan: Planned.Plan, inTurn: boolean, after: number, now: number): Passed => {
  const pending = inTurn ? Pending.oldest : Pending.newest
  const { more, times } = pending(plan.timetable.counted, after, now, batch)
  const last = times.at(-1)
  if (last === undefined) return { come: times, more, upTo: now }
  // With jitter the time of the last one may have passed but not its start.
  if (plan.planned(last).start > now) return { come: times.slice(0, -1), more, upTo: last - 1 }
  return { come: times, more, upTo: inTurn && more ? last : now }
}

/** Which of the past occurrences may begin. */
const notMissed = ({ missed }: Definition, plan: Planned.Plan, come: ReadonlyArray<number>, now: number) => {
  if (missed === "all") return come
  const last = come.slice(-1)
  return missed === "last" ? last : last.filter((at) => now - plan.planned(at).start <= punctual)
}

/**
 * Returns which occurrences begin now and which are skipped and why. An occurrence begins at its `start`, at most once,
 * whenever and however often this is called: `upTo` of the state only grows.
 *
 * Of the occurrences that passed since the last call, the policy `missed` lets begin:
 * - `none`: the last one, if it is at most a minute late.
 * - `last`: the last one, until the time of the next.
 * - `all`: all, at most 100 at a time; `wakeAt` is `now` until all have begun.
 *
 * Of these, and those in the queue, the policy `overlap` lets begin while an earlier run is running:
 * - `skip`: none; without a running one, the first.
 * - `queue`: none; without a running one, the first. Others wait, at most `queue` of them.
 * - `allow`: all.
 * - `stop`: the last, and the earlier run is stopped.
 *
 * A paused schedule begins nothing, and its queue waits.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Result from "effect/Result"
 * import { make } from "@signalbox/schedule/Definition"
 * import { due, start } from "@signalbox/schedule/Due"
 *
 * const hourly = Result.getOrThrow(make({ name: "hourly", cron: "0 * * * *" }))
 * const state = start(hourly, DateTime.makeUnsafe("2026-11-22T08:30:00Z"))
 * const { begin, skipped } = due(hourly, state, {
 *   now: DateTime.makeUnsafe("2026-11-22T10:00:05Z"),
 *   running: false
 * })
 * begin.map(({ key }) => key) // ["hourly 2026-11-22T10:00:00.000Z"]
 * // [["hourly 2026-11-22T09:00:00.000Z", "missed"]]
 * skipped.map(({ key, reason }) => [key, reason])
 * ```
 */
export const due = (definition: Definition, state: State, moment: Moment): Due => {
  if (state.times !== timesDigest(definition)) return change(definition, state, moment.now)
  const plan = Planned.make(definition)
  const after = millisOf(state.upTo)
  // After a clock was set back, nothing new is due.
  const now = Math.max(millisOf(moment.now), after)
  const paused = state.paused !== null
  const inTurn = definition.missed === "all" && !paused
  const { come, more, upTo } = passedOf(plan, inTurn, after, now)
  const kept = paused ? [] : notMissed(definition, plan, come, now)
  const queue = state.queue.map(millisOf)
  const { begin, dropped, stop, waiting } = paused
    ? { begin: [], waiting: queue, dropped: [], stop: false }
    : admit(definition, [...queue, ...kept], moment.running)
  const closed = Pending.newest(plan.timetable.excluded, after, upTo, batch)
  const listedFrom = [...(more && !inTurn ? come.slice(0, 1) : []), ...(closed.more ? closed.times.slice(0, 1) : [])]
  const skipped = [
    ...skip(definition, come.slice(0, come.length - kept.length), paused ? "paused" : "missed"),
    ...skip(definition, dropped, "overlap"),
    ...skip(definition, closed.times, "calendar")
  ]
  const then = nothing(plan, { ...state, upTo: utc(upTo), queue: waiting.map(utc) })
  return {
    begin: begin.map((at) => Planned.occurrenceOf(definition.name, plan.planned(at))),
    stop,
    skipped: skipped.sort((a, b) => millisOf(a.at) - millisOf(b.at)),
    unlisted: listedFrom.length > 0 ? { after: state.upTo, before: utc(Math.max(...listedFrom)) } : undefined,
    state: then.state,
    wakeAt: then.wakeAt && DateTime.max(moment.now, then.wakeAt)
  }
}

/**
 * Pauses a schedule: nothing begins until it is resumed, and occurrences until then are skipped as `paused`. A schedule
 * that is already paused keeps the time of its pause, with the new note.
 *
 * ```ts
 * import type * as DateTime from "effect/DateTime"
 * import { pause, type State } from "@signalbox/schedule/Due"
 *
 * export const paused = (state: State, now: DateTime.Utc) =>
 *   pause(state, { at: now, by: "Ada", note: "the ERP is down" })
 * ```
 */
export const pause = (state: State, paused: Pause): State => ({
  ...state,
  paused: { ...paused, at: state.paused?.at ?? paused.at }
})

/**
 * Resumes a schedule: occurrences during the pause are skipped as `paused`, whatever the policy for missed ones, and
 * those from `now` on begin. Changes nothing when the schedule is not paused.
 *
 * ```ts
 * import type * as DateTime from "effect/DateTime"
 * import type { Definition } from "@signalbox/schedule/Definition"
 * import { resume, type State } from "@signalbox/schedule/Due"
 *
 * export const resumed = (
 *   definition: Definition,
 *   state: State,
 *   now: DateTime.Utc
 * ) => resume(definition, state, now).state
 * ```
 */
export const resume = (definition: Definition, state: State, now: DateTime.Utc): Due => {
  if (state.paused === null) return nothing(Planned.make(definition), state)
  const ended = due(definition, state, { now, running: true })
  return { ...ended, state: { ...ended.state, paused: null } }
}

/**
 * Begins an occurrence at `now`, whatever the calendar and even when the schedule is paused. The policy `overlap`
 * applies to a current run.
 *
 * ```ts
 * import type { Definition } from "@signalbox/schedule/Definition"
 * import { type Moment, runNow, type State } from "@signalbox/schedule/Due"
 *
 * export const keys = (definition: Definition, state: State, moment: Moment) =>
 *   runNow(definition, state, moment).begin.map(({ key }) => key)
 * ```
 */
export const runNow = (definition: Definition, state: State, { now, running }: Moment): Due => {
  const plan = Planned.make(definition)
  const at = millisOf(now)
  const queue = state.queue.map(millisOf)
  // The queue of a paused schedule does not move; this occurrence may wait behind it.
  const [staying, line] = state.paused === null ? [[], [...queue, at]] : [queue, [at]]
  const limits = { overlap: definition.overlap, queue: Math.max(definition.queue - staying.length, 0) }
  const { begin, dropped, stop, waiting } = admit(limits, line, running)
  return {
    ...nothing(plan, { ...state, queue: [...staying, ...waiting].map(utc) }),
    begin: begin.map((time) =>
      Planned.occurrenceOf(definition.name, time === at ? { at, start: at } : plan.planned(time))
    ),
    stop,
    skipped: skip(definition, dropped, "overlap")
  }
}
