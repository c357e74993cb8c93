/** Numbers and times as people read them. */
import { common } from "./text/en/common.ts"

const relative = new Intl.RelativeTimeFormat(common.locale, { numeric: "auto" })
const exact = new Intl.DateTimeFormat(common.locale, { dateStyle: "medium", timeStyle: "long" })
const clock = new Intl.DateTimeFormat(common.locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60]
] as const

/** Such as `3 minutes ago`. */
export const ago = (time: string, now: number): string => {
  const seconds = Math.round((Date.parse(time) - now) / 1000)
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (["second", 1] as const)
  return Math.abs(seconds) < 10 ? common.justNow : relative.format(Math.trunc(seconds / size), unit)
}

/** In the zone of the browser. */
export const exactly = (time: string): string => exact.format(new Date(time))
export const clockOf = (time: string): string => clock.format(new Date(time))

/** Such as `2 h 41 min`; `seconds` may have a fraction. */
export const duration = (seconds: number): string => {
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min${whole % 60 === 0 ? "" : ` ${whole % 60} s`}`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} min`}`
  return common.days(count(Math.floor(hours / 24)))
}

const numbers = new Intl.NumberFormat(common.locale)
export const count = (number: number): string => numbers.format(number)

/** The end of an id, enough to tell the rows of a page apart. */
export const short = (id: string): string => `…${id.slice(-4)}`
