/** Days that a calendar includes. A day is its local midnight, in the milliseconds of `ZoneClock`. */
import { day } from "./ZoneClock.ts"

export const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const
export type Weekday = (typeof weekdays)[number]

export const otherwises = ["skip", "before", "after"] as const

export interface CalendarRules {
  readonly dates: ReadonlyArray<string>
  readonly weekdays: ReadonlyArray<Weekday>
  readonly otherwise: (typeof otherwises)[number]
}

export interface Calendar {
  readonly counts: (day: number) => boolean
  /** The first included day, from a day on. */
  readonly countedFrom: (day: number) => number
  /** The last included day, up to a day. */
  readonly countedUpTo: (day: number) => number
}

export const dayOf = (local: number): number => Math.floor(local / day) * day

const isoDate = /^\d{4}-\d{2}-\d{2}$/

/** The local midnight of a date such as `2026-12-25`; `NaN` when the date does not exist. */
export const dayOfDate = (date: string): number => {
  const midnight = isoDate.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  // A 30th of February is parsed as a day of March.
  return new Date(midnight).getUTCDate() === Number(date.slice(8)) ? midnight : Number.NaN
}

/** Expects rules that leave at least one weekday. */
export const make = (rules: Pick<CalendarRules, "dates" | "weekdays">): Calendar => {
  const dates = new Set(rules.dates.map(dayOfDate))
  const excluded = new Set(rules.weekdays.map((name) => weekdays.indexOf(name)))
  const counts = (of: number) => !excluded.has(new Date(of).getUTCDay()) && !dates.has(of)
  const search = (step: number) => {
    // By excluded date, since years of them would be walked for each of their days.
    const known = new Map<number, number>()
    return (from: number) => {
      let found = from
      const passed: Array<number> = []
      while (!counts(found)) {
        if (dates.has(found)) passed.push(found)
        found = known.get(found) ?? found + step
      }
      for (const day of passed) known.set(day, found)
      return found
    }
  }
  return { counts, countedFrom: search(day), countedUpTo: search(-day) }
}
