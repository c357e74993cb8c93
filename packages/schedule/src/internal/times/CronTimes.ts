/**
 * The instants of a cron expression in a zone.
 *
 * They are found by walking the periods in which the zone's offset is constant. Within a period, local times follow one
 * another; at a change, the times inside a gap occur at its end, and of those that are repeated only the ones due in
 * each real hour occur again.
 */
import { type Calendar, type CalendarRules, dayOf } from "./Calendar.ts"
import type { CronFields } from "./CronFields.ts"
import type { Walk } from "./Walk.ts"
import { day, longestShift, type ZoneClock } from "./ZoneClock.ts"

/** The first day from a local midnight on, up to a limit. */
type Days = (from: number, limit: number) => number | undefined

/** Days that the expression names and `accepted` allows; `after` is where the next one may be, from one that is not. */
const filtered =
  ({ dayFrom }: CronFields, accepted: (day: number) => boolean, after: (day: number) => number): Days =>
  (from, limit) => {
    let found = dayFrom(from)
    while (found <= limit && !accepted(found)) found = dayFrom(after(found))
    return found <= limit ? found : undefined
  }

/** Days that the expression names; excluded ones move to the nearest included day before or after. */
const moved = ({ dayFrom }: CronFields, calendar: Calendar, to: "before" | "after"): Days => {
  const target = to === "after" ? calendar.countedFrom : calendar.countedUpTo
  return (from, limit) => {
    // Excluded days right before `from` move to it or later.
    let named = dayFrom(to === "after" ? calendar.countedUpTo(from - day) + day : from)
    // All of the excluded days up to the next included one move to the same day.
    while (target(named) < from) named = dayFrom(Math.max(named + day, calendar.countedFrom(named)))
    const found = target(named)
    return found <= limit ? found : undefined
  }
}

/**
 * The first local time that matches, from one on, up to a limit. Caches its last day, since the next time is mostly on
 * the same one.
 */
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

/** The local time up to which the clock repeats itself, because of a change shortly before an instant. */
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
  /** Those of excluded days. */
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
    otherwise === "skip" ? filtered(fields, calendar.counts, calendar.countedFrom) : moved(fields, calendar, otherwise)
  ),
  excluded: walkOf(
    fields,
    clock,
    filtered(
      fields,
      (of) => !calendar.counts(of),
      (of) => of + day
    )
  )
})
