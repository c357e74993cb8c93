/** Checks the fields of a definition together. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { weekdays } from "../times/Calendar.ts"
import type { Fields } from "./Fields.ts"
import * as Timetable from "../times/Timetable.ts"
import { day, second } from "../times/ZoneClock.ts"

const rules = ["cron", "every", "at"] as const

const millisOf = (instant: DateTime.Utc | undefined): number | undefined => instant?.epochMilliseconds

/** The fields that determine the times of a definition; `undefined` when it has no rule. */
export const timesOf = (fields: Fields): Timetable.Times | undefined => {
  const { anchor, at, calendar, cron, every, from, until, zone } = fields
  const rule =
    cron !== undefined
      ? { cron }
      : every !== undefined
        ? { every: Duration.toMillis(every), anchor: millisOf(anchor) ?? 0 }
        : at !== undefined
          ? { at: at.epochMilliseconds }
          : undefined
  return rule && { rule, zone, calendar, from: millisOf(from), until: millisOf(until) }
}

/** Each weekday meets each day of the year within these years, the 29th of February included. */
const cycle = { from: Date.UTC(2000, 0, 1), until: Date.UTC(2060, 0, 1) }

/** Whether the excluded weekdays exclude every occurrence. Dates are few, so they never do. */
const neverCounts = (times: Timetable.Times): boolean => {
  const calendar = { ...times.calendar, dates: [] }
  const anchor = "anchor" in times.rule ? times.rule.anchor : cycle.from
  const bounds = { from: anchor, until: anchor + cycle.until - cycle.from }
  const { rule } = times
  if ("at" in rule) return false
  return Result.match(Timetable.make({ ...times, ...bounds, calendar }), {
    onFailure: () => false,
    onSuccess: ({ counted }) => Timetable.firstAfter(counted, bounds.from - 1) === undefined
  })
}

type Fault = { readonly path: ReadonlyArray<string>; readonly issue: string }

const fault = (path: string, issue: string): Fault => ({ path: path.split("."), issue })

/** The first fault of fields that are each valid. */
export const faultOf = (fields: Fields): Schema.FilterOutput => {
  const { anchor, calendar, cron, every, from, jitter, until, zone } = fields
  const given = rules.filter((rule) => fields[rule] !== undefined)
  if (given.length === 0)
    return fault("cron", "Expected one of cron, every and at: without any of them the schedule never runs")
  if (given.length > 1) return fault(given[1] ?? "", `Expected one of cron, every and at, not ${given.join(" and ")}`)
  if (anchor !== undefined && every === undefined)
    return fault("anchor", "Expected only with every: it is the first of the even times")
  if (Option.isNone(DateTime.zoneMakeNamed(zone)))
    return fault("zone", `invalid time zone ${JSON.stringify(zone)}: use an IANA time zone such as Europe/Vienna`)
  if (every !== undefined && !(Duration.toMillis(every) >= second && Number.isInteger(Duration.toMillis(every))))
    return fault("every", "Expected at least 1 second, in whole milliseconds")
  if (!(Duration.toMillis(jitter) >= 0 && Number.isFinite(Duration.toMillis(jitter))))
    return fault("jitter", "Expected 0 or more, and finite")
  if (from !== undefined && until !== undefined && !DateTime.isLessThan(from, until))
    return fault("until", "Expected to be later than from: the schedule would never run")
  if (weekdays.every((name) => calendar.weekdays.includes(name)))
    return fault("calendar.weekdays", "Expected at least one weekday that is not listed: all days would be excluded")
  if (every !== undefined && calendar.otherwise !== "skip" && Duration.toMillis(every) < day)
    return fault("calendar.otherwise", `Expected skip where every is less than a day, not ${calendar.otherwise}`)
  const times = timesOf(fields)
  if (times === undefined) return undefined
  const timetable = Timetable.make(times)
  if (Result.isFailure(timetable)) return fault("cron", timetable.failure)
  if (calendar.weekdays.length > 0 && neverCounts(times))
    return fault(
      "calendar.weekdays",
      `Expected a weekday on which the schedule runs: ${cron === undefined ? "every" : "cron"} names only excluded ones`
    )
  return undefined
}
