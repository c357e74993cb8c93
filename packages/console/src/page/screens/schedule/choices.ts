/** What can be chosen of a schedule, in words. */
import * as text from "../../text/text.ts"

export const overlaps = [
  { value: "skip", label: text.schedules.overlapSkip },
  { value: "queue", label: text.schedules.overlapQueue },
  { value: "allow", label: text.schedules.overlapAllow },
  { value: "stop", label: text.schedules.overlapStop }
] as const

export const misses = [
  { value: "last", label: text.schedules.missedLast },
  { value: "none", label: text.schedules.missedNone },
  { value: "all", label: text.schedules.missedAll }
] as const

const labelIn = (options: ReadonlyArray<{ readonly value: string; readonly label: string }>) => (value: string) =>
  options.find((option) => option.value === value)?.label ?? value

export const overlapWords = labelIn(overlaps)
export const missedWords = labelIn(misses)

export const weekdays = [
  { value: "MON", label: text.weekdays.mon },
  { value: "TUE", label: text.weekdays.tue },
  { value: "WED", label: text.weekdays.wed },
  { value: "THU", label: text.weekdays.thu },
  { value: "FRI", label: text.weekdays.fri },
  { value: "SAT", label: text.weekdays.sat },
  { value: "SUN", label: text.weekdays.sun }
] as const
