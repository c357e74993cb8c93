/**
 * The fields of a cron expression, and the days and times of day that they name. `effect/Cron` parses the fields and
 * finds the days; `CronTimes.ts` applies the zone.
 */
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { hour, minute, second } from "./ZoneClock.ts"

export interface CronFields {
  /** The first day from a local midnight on, as a local midnight. */
  readonly dayFrom: (midnight: number) => number
  /** The first time of day from one on, in milliseconds since midnight. */
  readonly timeFrom: (time: number) => number | undefined
  /** Whether the hours are a wildcard or steps, which run in each real hour, so also in one that a zone repeats. */
  readonly everyRealHour: boolean
}

const names = ["second", "minute", "hour", "day of month", "month", "day of week"] as const

/** Fixed offset, because the fields are about local times. */
const local = DateTime.zoneMakeOffset(0)

const parse = (expression: string) => Cron.parse(expression, local)

const faultOf = (fields: ReadonlyArray<string>): string | undefined => {
  for (const [index, field] of fields.entries()) {
    const alone = parse(fields.map((_, other) => (other === index ? field : "*")).join(" "))
    if (Result.isFailure(alone)) return `${names[index]} "${field}": ${alone.failure.message}`
  }
  return undefined
}

/** The values of a field; `Cron` has none for a wildcard. */
const valuesOf = (values: ReadonlySet<number>, count: number): ReadonlyArray<number> =>
  values.size === 0 ? Array.from({ length: count }, (_, value) => value) : [...values]

const timesOfDay = (cron: Cron.Cron): CronFields["timeFrom"] => {
  const [hours, minutes, seconds] = [valuesOf(cron.hours, 24), valuesOf(cron.minutes, 60), valuesOf(cron.seconds, 60)]
  return (from) => {
    for (const h of hours) {
      if ((h + 1) * hour <= from) continue
      for (const m of minutes) {
        if (h * hour + (m + 1) * minute <= from) continue
        for (const s of seconds) {
          const time = h * hour + m * minute + s * second
          if (time >= from) return time
        }
      }
    }
    return undefined
  }
}

const steps = /\*|\//

/** The six fields of an expression with five or six. */
const sixOf = (expression: string): ReadonlyArray<string> => {
  const given = expression.trim().split(/\s+/)
  return given.length === 5 ? ["0", ...given] : given
}

const isEveryRealHour = (field: string, hours: ReadonlySet<number>): boolean => steps.test(field) || hours.size === 24

/** Fails with a message such as `hour "25": Expected a value between 0 and 23`. */
export const make = (expression: string): Result.Result<CronFields, string> => {
  const fields = sixOf(expression)
  if (fields.length !== 6) {
    const found = expression.trim() === "" ? 0 : fields.length
    return Result.fail(`Expected 5 fields (minute hour day month weekday) or 6 with seconds first, not ${found}`)
  }
  const fault = faultOf(fields)
  if (fault !== undefined) return Result.fail(fault)
  const [seconds, minutes, hours = "*", ...days] = fields
  return Result.all([parse(`0 0 0 ${days.join(" ")}`), parse(`${seconds} ${minutes} ${hours} * * *`)]).pipe(
    Result.mapError(({ message }) => message),
    Result.flatMap(([daysOnly, timesOnly]) => {
      // `Cron.next` is strictly later.
      const dayFrom = (midnight: number) => Cron.next(daysOnly, midnight - second).getTime()
      if (Result.isFailure(Result.try(() => dayFrom(0))))
        return Result.fail("no year has such a day, as with a 30th of February: change day or month")
      const everyRealHour = isEveryRealHour(hours, timesOnly.hours)
      return Result.succeed({ dayFrom, timeFrom: timesOfDay(timesOnly), everyRealHour })
    })
  )
}

/** The values of a field in order; none where the field names all of them, as a wildcard does. */
const restriction = (values: ReadonlySet<number>, count: number): ReadonlyArray<number> =>
  values.size === count ? [] : [...values].toSorted((a, b) => a - b)

/** The same for all valid expressions that name the same times, however they are written. */
export const comparable = (expression: string): Result.Result<Schema.Json, Cron.CronParseError> => {
  const fields = sixOf(expression)
  const [, , hours = "*", days = "*", , weekdays = "*"] = fields
  return Result.map(parse(fields.join(" ")), (cron) => {
    const named = { days: restriction(cron.days, 31), weekdays: restriction(cron.weekdays, 7) }
    // As `Cron` has it: a day must fit both fields when one begins with a wildcard, and otherwise one of them.
    const both = days.startsWith("*") || weekdays.startsWith("*")
    const areRestricted = named.days.length > 0 && named.weekdays.length > 0
    const isEveryDay = !both && !areRestricted
    return {
      seconds: restriction(cron.seconds, 60),
      minutes: restriction(cron.minutes, 60),
      hours: restriction(cron.hours, 24),
      months: restriction(cron.months, 12),
      ...(isEveryDay ? { days: [], weekdays: [] } : named),
      both: both && areRestricted,
      everyRealHour: isEveryRealHour(hours, cron.hours)
    }
  })
}
