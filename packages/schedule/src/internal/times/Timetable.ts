/** The instants of a definition: included ones, and those that the calendar excludes. */
import * as Result from "effect/Result"
import * as Calendar from "./Calendar.ts"
import * as CronFields from "./CronFields.ts"
import * as CronTimes from "./CronTimes.ts"
import * as GridTimes from "./GridTimes.ts"
import { firstInstant, lastInstant, type Walk } from "./Walk.ts"
import * as ZoneClock from "./ZoneClock.ts"

/** The fields that determine the times; instants and durations in milliseconds. */
export interface Times {
  readonly rule:
    | { readonly cron: string }
    | { readonly every: number; readonly anchor: number }
    | { readonly at: number }
  readonly zone: string
  readonly from: number | undefined
  readonly until: number | undefined
  readonly calendar: Calendar.CalendarRules
}

export interface Timetable extends CronTimes.CronTimes {
  readonly clock: ZoneClock.ZoneClock
}

const bounded =
  (walk: Walk, { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY }: Times): Walk =>
  (after, limit) =>
    walk(Math.max(after, from - 1, firstInstant - 1), Math.min(limit, until - 1, lastInstant))

const none: Walk = function* () {}

/** Fails with the fault of a cron expression. */
export const make = (times: Times): Result.Result<Timetable, string> => {
  const clock = ZoneClock.make(times.zone)
  const calendar = Calendar.make(times.calendar)
  const { dates, otherwise, weekdays } = times.calendar
  const { rule } = times
  const walks =
    "cron" in rule
      ? Result.map(CronFields.make(rule.cron), (fields) => CronTimes.make(fields, clock, calendar, otherwise))
      : Result.succeed(
          GridTimes.make(
            "at" in rule ? { anchor: rule.at, every: Number.POSITIVE_INFINITY } : rule,
            clock,
            calendar,
            otherwise
          )
        )
  return Result.map(walks, ({ counted, excluded }) => ({
    clock,
    counted: bounded(counted, times),
    excluded: dates.length + weekdays.length === 0 || otherwise !== "skip" ? none : bounded(excluded, times)
  }))
}

/** The first instant of a walk after another. */
export const firstAfter = (walk: Walk, after: number): number | undefined =>
  walk(after, lastInstant).next().value ?? undefined

const firstStep = 60_000

/** The last instant of a walk up to another: searched from earlier and earlier starts, then between the last two. */
export const lastUpTo = (walk: Walk, upTo: number): number | undefined => {
  const firstIn = (after: number) => walk(after, upTo).next().value ?? undefined
  let found: number | undefined
  let [low, high] = [upTo, upTo]
  for (let step = firstStep; found === undefined && low >= firstInstant; step *= 2) {
    high = low
    low = upTo - step
    found = firstIn(low)
  }
  while (found !== undefined && found < high) {
    const middle = Math.floor((found + high) / 2)
    const later = firstIn(middle)
    if (later === undefined) high = middle
    else found = later
  }
  return found
}
