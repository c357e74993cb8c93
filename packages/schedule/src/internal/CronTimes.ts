/**
 * The instants of a cron expression in a zone.
 *
 * They are found by walking the stretches of time in which the zone's offset stays the same. Within a stretch, local times
 * follow one another; at a change, a gap runs at its end what it leaves out, and a repetition runs again only what is due in
 * each real hour.
 */
import { type Calendar, type CalendarRules, dayOf } from "./Calendar.ts"
import type { CronFields } from "./CronFields.ts"
import type { Walk } from "./Walk.ts"
import { day, longestShift, type ZoneClock } from "./ZoneClock.ts"

/** The first day from a local midnight on, up to a limit. */
type Days = (from: number, limit: number) => number | undefined

/** Days that the expression names and `accepted` lets through. */
const filtered =
  ({ dayFrom }: CronFields, accepted: (day: number) => boolean): Days =>
  (from, limit) => {
    let found = dayFrom(from)
    while (found <= limit && !accepted(found)) found = dayFrom(found + day)
    return found <= limit ? found : undefined
  }

/** Days that the expression names, those that do not count moved to the day before or after that counts. */
const moved = ({ dayFrom }: CronFields, calendar: Calendar, to: "before" | "after"): Days => {
  const target = to === "after" ? calendar.countedFrom : calendar.countedUpTo
  return (from, limit) => {
    // Days that do not count, right before `from`, move to it or beyond.
    let named = dayFrom(to === "after" ? calendar.countedUpTo(from - day) + day : from)
    while (target(named) < from) named = dayFrom(named + day)
    const found = target(named)
    return found <= limit ? found : undefined
  }
}

/** The first local time that matches, from one on, up to a limit. Remembers its last day, as the next time is mostly on it too. */
const localTimes = ({ timeFrom }: CronFields, days: Days) => {
  let known = Number.NEGATIVE_INFINITY
  return (from: number, limit: number): number | undefined => {
    let start = from
    for (;;) {
      const found = dayOf(start) === known ? known : days(dayOf(start), limit)
      if (found === undefined) return undefined
      known = found
      const time = timeFrom(Math.max(start - found, 0))
      if (time !== undefined) return found + time <= limit ? found + time : undefined
      start = found + day
    }
  }
}

/** The local time up to which the clock has been before, by changes shortly before an instant. */
const repeatedUntil = (clock: ZoneClock, instant: number): number => {
  let until = Number.NEGATIVE_INFINITY
  let after = instant - longestShift
  let offset = clock.offsetAt(after)
  for (;;) {
    const change = clock.nextChange(offset, after, instant)
    if (change === undefined) return until
    until = Math.max(until, change + offset)
    after = change - 1
    offset = clock.offsetAt(change)
  }
}

const walkOf = (fields: CronFields, clock: ZoneClock, days: Days): Walk =>
  function* (start, limit) {
    const nextLocal = localTimes(fields, days)
    let after = start
    let offset = clock.offsetAt(after)
    let fresh = fields.everyRealHour ? Number.NEGATIVE_INFINITY : repeatedUntil(clock, after)
    let change: number | undefined
    let scanned = after
    while (after < limit) {
      const local = nextLocal(Math.max(after + 1 + offset, fresh), limit + longestShift)
      const instant = local === undefined ? limit : local - offset
      const target = Math.min(instant, limit)
      if (change === undefined && scanned < target) {
        const ahead = Math.max(target, scanned + day)
        change = clock.nextChange(offset, scanned, ahead)
        scanned = ahead
      }
      if (change === undefined || change > target) {
        if (local === undefined || instant > limit) return
        yield instant
        after = instant
        continue
      }
      const offsetAfter = clock.offsetAt(change)
      const gapEnd = change + offsetAfter
      // Several times in a gap run once, at its end.
      const leftOut = local !== undefined && local < gapEnd
      if (leftOut) yield change
      if (!fields.everyRealHour) fresh = Math.max(fresh, change + offset)
      after = leftOut ? change : change - 1
      offset = offsetAfter
      scanned = after
      change = undefined
    }
  }

export interface CronTimes {
  readonly counted: Walk
  /** Those of days that do not count. */
  readonly excluded: Walk
}

export const make = (
  fields: CronFields,
  clock: ZoneClock,
  calendar: Calendar,
  otherwise: CalendarRules["otherwise"]
): CronTimes => ({
  counted: walkOf(
    fields,
    clock,
    otherwise === "skip" ? filtered(fields, calendar.counts) : moved(fields, calendar, otherwise)
  ),
  excluded: walkOf(
    fields,
    clock,
    filtered(fields, (of) => !calendar.counts(of))
  )
})
