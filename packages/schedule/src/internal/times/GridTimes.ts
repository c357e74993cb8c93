/**
 * The instants of `every`, at even distances from an anchor, and of `at`, the anchor alone.
 */
import { type Calendar, type CalendarRules, dayOf } from "./Calendar.ts"
import type { CronTimes } from "./CronTimes.ts"
import type { Walk } from "./Walk.ts"
import { day, longestShift, type ZoneClock } from "./ZoneClock.ts"

export interface Grid {
  readonly anchor: number
  /** The distance; `Infinity` for one instant. */
  readonly every: number
}

/** The first instant of the grid from one on; `Infinity` when none is left. */
const firstFrom = ({ anchor, every }: Grid, from: number): number => {
  if (from <= anchor) return anchor
  return every === Number.POSITIVE_INFINITY ? every : anchor + Math.ceil((from - anchor) / every) * every
}

/** Instants whose day is accepted; an excluded start continues with the next accepted one. */
const filtered = (grid: Grid, clock: ZoneClock, accepted: (day: number) => boolean): Walk =>
  function* (after, limit) {
    let instant = firstFrom(grid, after + 1)
    while (instant <= limit) {
      let date = dayOf(instant + clock.offsetAt(instant))
      if (accepted(date)) {
        yield instant
        instant = firstFrom(grid, instant + 1)
        continue
      }
      do date += day
      while (!accepted(date) && date < limit + longestShift)
      instant = firstFrom(grid, Math.max(instant + 1, clock.instantOf(date)))
    }
  }

/** Instants; those of excluded days move to the same local time of the included day before or after. */
const moved = (grid: Grid, clock: ZoneClock, calendar: Calendar, to: "before" | "after"): Walk => {
  const target = to === "after" ? calendar.countedFrom : calendar.countedUpTo
  return function* (after, limit) {
    const today = dayOf(after + clock.offsetAt(after))
    const from = to === "after" ? calendar.countedUpTo(today - day) : today
    let instant = firstFrom(grid, from - 2 * longestShift)
    // Days are visited in order, but the times of one day may not be.
    let waiting: Array<number> = []
    let settled = Number.NEGATIVE_INFINITY
    let before = settled
    let last = after
    while (settled <= limit) {
      if (instant === Number.POSITIVE_INFINITY) settled = instant
      else {
        const local = instant + clock.offsetAt(instant)
        const date = dayOf(local)
        const counted = target(date)
        waiting.push(counted === date ? instant : clock.instantOf(counted + local - date))
        settled = counted - longestShift
      }
      instant = firstFrom(grid, instant + 1)
      // Very many may move to one day.
      if (settled === before) continue
      before = settled
      for (const time of waiting.filter((time) => time < settled).sort((a, b) => a - b)) {
        if (time > limit) return
        if (time > last) yield time
        last = Math.max(last, time)
      }
      waiting = waiting.filter((time) => time >= settled)
    }
  }
}

export const make = (
  grid: Grid,
  clock: ZoneClock,
  calendar: Calendar,
  otherwise: CalendarRules["otherwise"]
): CronTimes => ({
  counted: otherwise === "skip" ? filtered(grid, clock, calendar.counts) : moved(grid, clock, calendar, otherwise),
  excluded: filtered(grid, clock, (of) => !calendar.counts(of))
})
