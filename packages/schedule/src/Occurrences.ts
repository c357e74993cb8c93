/**
 * The times of schedules. Every function is pure: it reads no clock and has no state.
 *
 * A local time that does not exist in its zone occurs at the first instant that exists; several of them occur once. A
 * local time that occurs twice in its zone counts once, the first time, unless the hours of the expression are `*` or
 * steps, which occur in each real hour. Years from 1900 to 9999 are covered.
 */
import * as DateTime from "effect/DateTime"
import type { Definition } from "./Definition.ts"
import * as Planned from "./internal/fields/Planned.ts"
import { lastUpTo } from "./internal/times/Timetable.ts"
import { lastInstant } from "./internal/times/Walk.ts"

/** One time of a schedule. */
export interface Occurrence {
  /** Identifies it permanently: the name of the schedule, a space, and `at` as ISO 8601 in UTC with milliseconds. */
  readonly key: string
  /** Its time. */
  readonly at: DateTime.Utc
  /**
   * When it starts: `at` and the jitter, which is derived from the key, so it is always the same. It is earlier than
   * the next occurrence.
   */
  readonly start: DateTime.Utc
}

const taken = (definition: Definition, after: number, limit: number, count: number): ReadonlyArray<Occurrence> => {
  if (!(count > 0)) return []
  const found: Array<Occurrence> = []
  for (const planned of Planned.make(definition).walk(after, limit)) {
    found.push(Planned.occurrenceOf(definition.name, planned))
    if (found.length >= count) break
  }
  return found
}

/**
 * Returns the first occurrence later than `after`, or `undefined` when none is left.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Result from "effect/Result"
 * import { make } from "@signalbox/schedule/Definition"
 * import { next } from "@signalbox/schedule/Occurrences"
 *
 * const nightly = Result.getOrThrow(
 *   make({ name: "nightly", cron: "30 2 * * *", zone: "Europe/Vienna" })
 * )
 * // The clocks go forward from 2:00 to 3:00: it comes at 3:00.
 * // "nightly 2026-03-29T01:00:00.000Z"
 * next(nightly, DateTime.makeUnsafe("2026-03-28T12:00:00Z"))?.key
 * ```
 */
export const next = (definition: Definition, after: DateTime.Utc): Occurrence | undefined =>
  taken(definition, after.epochMilliseconds, lastInstant, 1)[0]

/**
 * Returns the last occurrence not later than `upTo`, or `undefined` when there was none.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Result from "effect/Result"
 * import { make } from "@signalbox/schedule/Definition"
 * import { previous } from "@signalbox/schedule/Occurrences"
 *
 * const hourly = Result.getOrThrow(make({ name: "hourly", every: "1 hour" }))
 * // "hourly 2026-11-22T09:00:00.000Z"
 * previous(hourly, DateTime.makeUnsafe("2026-11-22T09:30:00Z"))?.key
 * ```
 */
export const previous = (definition: Definition, upTo: DateTime.Utc): Occurrence | undefined => {
  const { planned, timetable } = Planned.make(definition)
  const at = lastUpTo(timetable.counted, Math.min(upTo.epochMilliseconds, lastInstant))
  return at === undefined ? undefined : Planned.occurrenceOf(definition.name, planned(at))
}

/**
 * Returns the occurrences from `from` on and before `to`, in order, at most `limit` of them. A backfill runs these: the
 * keys are those that the occurrences had at their time, so one that has run is recognised by its key.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Result from "effect/Result"
 * import { make } from "@signalbox/schedule/Definition"
 * import { occurrences } from "@signalbox/schedule/Occurrences"
 *
 * const daily = Result.getOrThrow(make({ name: "daily", cron: "0 6 * * *" }))
 * const november = [
 *   DateTime.makeUnsafe("2026-11-01"),
 *   DateTime.makeUnsafe("2026-12-01")
 * ] as const
 * occurrences(daily, ...november, 1000).length // 30
 * ```
 */
export const occurrences = (
  definition: Definition,
  from: DateTime.Utc,
  to: DateTime.Utc,
  limit: number
): ReadonlyArray<Occurrence> => taken(definition, from.epochMilliseconds - 1, to.epochMilliseconds - 1, limit)

/** An occurrence as people read it. */
export interface Preview extends Occurrence {
  /** `at` in the zone of the schedule, such as `2026-03-29T03:00:00.000+02:00[Europe/Vienna]`. */
  readonly local: string
}

/**
 * Returns the next occurrences later than `now`, ten by default, with their local times.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Result from "effect/Result"
 * import { make } from "@signalbox/schedule/Definition"
 * import { preview } from "@signalbox/schedule/Occurrences"
 *
 * const daily = Result.getOrThrow(
 *   make({ name: "daily", cron: "0 6 * * *", zone: "Asia/Tokyo" })
 * )
 * preview(daily, DateTime.makeUnsafe("2026-11-22T09:00:00Z")).map(
 *   ({ local }) => local
 * )
 * ```
 */
export const preview = (definition: Definition, now: DateTime.Utc, count = 10): ReadonlyArray<Preview> => {
  const timeZone = DateTime.zoneMakeNamedUnsafe(definition.zone)
  return taken(definition, now.epochMilliseconds, lastInstant, count).map((occurrence) => ({
    ...occurrence,
    local: DateTime.formatIsoZoned(DateTime.setZone(occurrence.at, timeZone))
  }))
}
