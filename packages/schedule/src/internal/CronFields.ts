/**
 * The fields of a cron expression, and the local times that they name. `effect/Cron` reads them and finds days and times of day;
 * what a zone makes of these is in `CronTimes.ts`.
 */
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import { second } from "./ZoneClock.ts"

export interface CronFields {
  /** The first day from a local midnight on, as a local midnight. */
  readonly dayFrom: (midnight: number) => number
  /** The first time from a local time on, of any day. */
  readonly timeFrom: (local: number) => number
  /** Whether the hours are a wildcard or steps, which run in each real hour, so also in one that a zone repeats. */
  readonly everyRealHour: boolean
}

const names = ["second", "minute", "hour", "day of month", "month", "day of week"] as const

/** A zone that costs nothing: the fields are about local times. */
const local = DateTime.zoneMakeOffset(0)

const parse = (expression: string) => Cron.parse(expression, local)

const faultOf = (fields: ReadonlyArray<string>): string | undefined => {
  for (const [index, field] of fields.entries()) {
    const alone = parse(fields.map((_, other) => (other === index ? field : "*")).join(" "))
    if (Result.isFailure(alone)) return `${names[index]} "${field}": ${alone.failure.message}`
  }
  return undefined
}

const steps = /\*|\//

/** Fails with what is wrong, such as `hour "25": Expected a value between 0 and 23`. */
export const make = (expression: string): Result.Result<CronFields, string> => {
  const given = expression.trim().split(/\s+/)
  if (given.length !== 5 && given.length !== 6) {
    const found = expression.trim() === "" ? 0 : given.length
    return Result.fail(`Expected 5 fields (minute hour day month weekday) or 6 with seconds first, not ${found}`)
  }
  const fields = given.length === 5 ? ["0", ...given] : given
  const fault = faultOf(fields)
  if (fault !== undefined) return Result.fail(fault)
  const [seconds, minutes, hours = "*", ...days] = fields
  return Result.flatMap(
    Result.all([parse(`0 0 0 ${days.join(" ")}`), parse(`${seconds} ${minutes} ${hours} * * *`)]),
    ([daysOnly, timesOnly]) => {
      // Cron finds what is strictly later, in whole seconds.
      const dayFrom = (midnight: number) => Cron.next(daysOnly, midnight - second).getTime()
      const timeFrom = (time: number) => Cron.next(timesOnly, time - 1).getTime()
      const first = Result.try(() => dayFrom(0))
      if (Result.isFailure(first))
        return Result.fail("no year has such a day, as with a 30th of February: change day or month")
      const everyRealHour = steps.test(hours) || timesOnly.hours.size === 24
      return Result.succeed({ dayFrom, timeFrom, everyRealHour })
    }
  ).pipe(Result.mapError((error) => (typeof error === "string" ? error : error.message)))
}
