/** When a schedule comes, while it is edited. */
import type { Schedule, ScheduleRules } from "@signalbox/api/contract/Schedules"
import { weekdays } from "./choices.ts"

export type Kind = "days" | "every" | "at" | "cron"

export interface When {
  readonly kind: Kind
  /** `HH:MM`. */
  readonly time: string
  readonly days: ReadonlyArray<string>
  readonly every: string
  /** Local time of the browser. */
  readonly at: string
  readonly cron: string
  readonly zone: string
}

const all: ReadonlyArray<string> = weekdays.map(({ value }) => value)
const workdays = all.slice(0, 5)

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export const zones = (): ReadonlyArray<string> => [
  ...new Set([browserZone(), "UTC", ...Intl.supportedValuesOf("timeZone")])
]

const fresh: Omit<When, "zone"> = {
  kind: "days",
  time: "06:00",
  days: workdays,
  every: "1 hour",
  at: "",
  cron: "0 6 * * *"
}

/** Days and a time, where a cron expression is no more than that. */
const daysOf = (cron: string): Pick<When, "time" | "days"> | undefined => {
  const [, minute = "", hour = "", field = ""] = /^(\d+) (\d+) \* \* (\S+)$/.exec(cron.trim()) ?? []
  if (minute === "") return undefined
  const parts = field.toUpperCase().split(",")
  const days =
    field === "*"
      ? all
      : /^(1-5|MON-FRI)$/i.test(field)
        ? workdays
        : parts.every((part) => all.includes(part))
          ? parts
          : undefined
  return days === undefined ? undefined : { time: `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`, days }
}

const localOf = (time: string) => {
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

export const whenOf = (schedule: Schedule | undefined): When => {
  if (schedule === undefined) return { ...fresh, zone: browserZone() }
  const { at, cron, every, zone } = schedule
  const when = { ...fresh, zone }
  if (at !== null) return { ...when, kind: "at", at: localOf(at) }
  if (every !== null) return { ...when, kind: "every", every }
  if (cron === null) return when
  const days = daysOf(cron)
  return days === undefined ? { ...when, kind: "cron", cron } : { ...when, ...days, kind: "days", cron }
}

const cronOf = ({ days, time }: When) => {
  const [hour = "0", minute = "0"] = time.split(":")
  const chosen = all.filter((day) => days.includes(day)).join(",")
  const field =
    days.length === all.length || days.length === 0 ? "*" : chosen === workdays.join(",") ? "MON-FRI" : chosen
  return `${Number(minute)} ${Number(hour)} * * ${field}`
}

export const rulesOf = (when: When): ScheduleRules => {
  const { at, cron, every, kind, zone } = when
  switch (kind) {
    case "days":
      return { cron: cronOf(when), zone }
    case "cron":
      return { cron, zone }
    case "every":
      return { every, zone }
    case "at":
      return { at: at === "" ? "" : new Date(at).toISOString(), zone }
  }
}
