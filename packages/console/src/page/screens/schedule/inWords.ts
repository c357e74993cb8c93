/** Times of schedules as people say them. */
import { exactly } from "../../format.ts"
import * as text from "../../text/text.ts"

export interface Times {
  readonly cron: string | null
  readonly every: string | null
  readonly at: string | null
  readonly zone: string
}

const days = [
  text.weekdays.sunday,
  text.weekdays.monday,
  text.weekdays.tuesday,
  text.weekdays.wednesday,
  text.weekdays.thursday,
  text.weekdays.friday,
  text.weekdays.saturday,
  text.weekdays.sunday
]
const shortDays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

const dayOf = (text: string): string | undefined => {
  const index = shortDays.indexOf(text.toUpperCase())
  return days[index === -1 ? (/^\d$/.test(text) ? Number(text) : -1) : index]
}

const listed = (words: ReadonlyArray<string>) =>
  words.length < 2 ? words.join("") : text.schedules.lastOfList(words.slice(0, -1).join(", "), words.at(-1) ?? "")

const onDays = (field: string): string | undefined => {
  if (field === "*") return text.schedules.everyDay
  if (/^(1-5|MON-FRI)$/i.test(field)) return text.schedules.onWeekdays
  if (/^(0,6|6,0|SAT,SUN|SUN,SAT|6,7)$/i.test(field)) return text.schedules.atWeekends
  const names = field.split(",").map((part) => {
    const ends = part.split("-").map(dayOf)
    const [from, to] = ends
    if (from === undefined || ends.includes(undefined) || ends.length > 2) return undefined
    return to === undefined ? from : text.schedules.dayRange(from, to)
  })
  return names.includes(undefined) ? undefined : text.schedules.onDaysOf(listed(names.map((name) => name ?? "")))
}

const two = (text: string) => text.padStart(2, "0")
const isNumber = (text: string) => /^\d+$/.test(text)

/** The usual ones in words; undefined for all others. */
export const cronInWords = (cron: string): string | undefined => {
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...rest] = cron.trim().split(/\s+/)
  if (rest.length > 0 || month !== "*") return undefined
  const on = onDays(weekday)
  if (on === undefined) return undefined
  const when = day === "*" ? on : isNumber(day) && weekday === "*" ? text.schedules.onDayOfMonth(day) : undefined
  if (when === undefined) return undefined
  const suffix = when === text.schedules.everyDay ? "" : ` ${when}`
  const step = /^\*\/(\d+)$/.exec(minute)?.[1]
  if (minute === "*" && hour === "*") return text.schedules.everyMinute(suffix)
  if (step !== undefined && hour === "*") return text.schedules.everyMinutes(step, suffix)
  if (!isNumber(minute)) return undefined
  if (hour === "*") return `${minute === "0" ? text.schedules.everyHour : text.schedules.everyHourAt(minute)}${suffix}`
  const hours = hour.split(",")
  return hours.every(isNumber)
    ? text.schedules.atTimes(when, listed(hours.map((one) => `${two(one)}:${two(minute)}`)))
    : undefined
}

/** Such as `on weekdays at 06:00, Europe/Vienna`. */
export const timesInWords = ({ at, cron, every, zone }: Times): string => {
  if (at !== null) return text.schedules.onceAt(exactly(at))
  if (every !== null) return text.schedules.every(every)
  if (cron === null) return text.schedules.never
  return `${cronInWords(cron) ?? text.schedules.byCron(cron)}, ${zone}`
}
