/** What can be chosen of a schedule, in words. */

export const overlaps = [
  { value: "skip", label: "skip this time while an earlier run is in progress" },
  { value: "queue", label: "wait until the earlier run has ended" },
  { value: "allow", label: "start it beside the earlier run" },
  { value: "stop", label: "stop the earlier run" }
] as const

export const misses = [
  { value: "last", label: "make up for the last one" },
  { value: "none", label: "leave them out" },
  { value: "all", label: "make up for all of them" }
] as const

const labelIn = (options: ReadonlyArray<{ readonly value: string; readonly label: string }>) => (value: string) =>
  options.find((option) => option.value === value)?.label ?? value

export const overlapWords = labelIn(overlaps)
export const missedWords = labelIn(misses)

export const weekdays = [
  { value: "MON", label: "Mon" },
  { value: "TUE", label: "Tue" },
  { value: "WED", label: "Wed" },
  { value: "THU", label: "Thu" },
  { value: "FRI", label: "Fri" },
  { value: "SAT", label: "Sat" },
  { value: "SUN", label: "Sun" }
] as const
