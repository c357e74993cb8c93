/** Times of schedules as people say them. */
import { exactly } from "../../words.ts"

export interface Times {
  readonly cron: string | null
  readonly every: string | null
  readonly at: string | null
  readonly zone: string
}

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
const shortDays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

const dayOf = (text: string): string | undefined => {
  const index = shortDays.indexOf(text.toUpperCase())
  return days[index === -1 ? (/^\d$/.test(text) ? Number(text) : -1) : index]
}

const listed = (words: ReadonlyArray<string>) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`

const onDays = (field: string): string | undefined => {
  if (field === "*") return "every day"
  if (/^(1-5|MON-FRI)$/i.test(field)) return "on weekdays"
  if (/^(0,6|6,0|SAT,SUN|SUN,SAT|6,7)$/i.test(field)) return "at weekends"
  const names = field.split(",").map((part) => {
    const ends = part.split("-").map(dayOf)
    return ends.includes(undefined) || ends.length > 2 ? undefined : ends.join(" to ")
  })
  return names.includes(undefined) ? undefined : `on ${listed(names.map((name) => name ?? ""))}`
}

const two = (text: string) => text.padStart(2, "0")
const isNumber = (text: string) => /^\d+$/.test(text)

/** The usual ones in words; undefined for all others. */
export const cronInWords = (cron: string): string | undefined => {
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...rest] = cron.trim().split(/\s+/)
  if (rest.length > 0 || month !== "*") return undefined
  const on = onDays(weekday)
  if (on === undefined) return undefined
  const when = day === "*" ? on : isNumber(day) && weekday === "*" ? `on day ${day} of each month` : undefined
  if (when === undefined) return undefined
  const suffix = when === "every day" ? "" : ` ${when}`
  const step = /^\*\/(\d+)$/.exec(minute)?.[1]
  if (minute === "*" && hour === "*") return `every minute${suffix}`
  if (step !== undefined && hour === "*") return `every ${step} minutes${suffix}`
  if (!isNumber(minute)) return undefined
  if (hour === "*") return `${minute === "0" ? "every hour" : `every hour at ${minute} minutes past`}${suffix}`
  const hours = hour.split(",")
  return hours.every(isNumber) ? `${when} at ${listed(hours.map((one) => `${two(one)}:${two(minute)}`))}` : undefined
}

/** Such as `on weekdays at 06:00, Europe/Vienna`. */
export const timesInWords = ({ at, cron, every, zone }: Times): string => {
  if (at !== null) return `once, ${exactly(at)}`
  if (every !== null) return `every ${every}`
  if (cron === null) return "never"
  return `${cronInWords(cron) ?? `by cron ${cron}`}, ${zone}`
}
