/** Hours of days in a zone: quiet hours, and the active hours of a process. */
import type { AlertHours, Weekday } from "@signalbox/api/contract/Alerts"
import * as DateTime from "effect/DateTime"

const weekdays: ReadonlyArray<Weekday> = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
const day = 86_400_000

interface Span {
  readonly from: number
  readonly to: number
}

const clock = (text: string) => {
  const [hour = 0, minute = 0] = text.split(":").map(Number)
  return { hour, minute }
}

/** The hours that begin on a local day, which is a midnight in UTC; null when it has none. */
const spanOf = ({ except = [], from, to, weekdays: on, zone }: AlertHours, midnight: number): Span | null => {
  const date = new Date(midnight)
  const name = weekdays[date.getUTCDay()]
  if (on !== undefined && !on.some((it) => it === name)) return null
  if (except.includes(date.toISOString().slice(0, 10))) return null
  const at = (time: string, days: number) => {
    const local = new Date(midnight + days * day)
    const input = {
      year: local.getUTCFullYear(),
      month: local.getUTCMonth() + 1,
      day: local.getUTCDate(),
      ...clock(time)
    }
    return DateTime.makeZonedUnsafe(input, { timeZone: zone, adjustForTimeZone: true }).epochMilliseconds
  }
  return { from: at(from, 0), to: at(to, to > from ? 0 : 1) }
}

/** The local day of an instant, as a midnight in UTC. */
const dayOf = (zone: string, at: number): number => {
  const { day: date, month, year } = DateTime.toParts(DateTime.makeZonedUnsafe(at, { timeZone: zone }))
  return Date.UTC(year, month - 1, date)
}

/** Whether an instant is in the hours. */
export const contains = (hours: AlertHours, at: number): boolean => {
  const today = dayOf(hours.zone, at)
  return [today - day, today].some((midnight) => {
    const span = spanOf(hours, midnight)
    return span !== null && span.from <= at && at < span.to
  })
}

/** Whether at least `atLeast` milliseconds between two instants are in the hours; null counts all of them. */
export const hasPassed = (hours: AlertHours | null, from: number, to: number, atLeast: number): boolean => {
  if (to - from < atLeast) return false
  if (hours === null) return true
  let passed = 0
  for (let midnight = dayOf(hours.zone, from) - day; midnight <= to + day; midnight += day) {
    const span = spanOf(hours, midnight)
    if (span === null) continue
    passed += Math.max(0, Math.min(span.to, to) - Math.max(span.from, from))
    if (passed >= atLeast) return true
  }
  return false
}
