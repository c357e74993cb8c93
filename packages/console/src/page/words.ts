/** Words for states, times and numbers. */

/** The lamp of a state. */
export type Lamp = "done" | "busy" | "late" | "failed" | "idle"

const lamps: Readonly<Record<string, Lamp>> = {
  new: "idle",
  pending: "idle",
  awaiting_worker: "idle",
  in_progress: "busy",
  stopping: "late",
  completed: "done",
  done: "done",
  unresolved: "failed",
  failed: "failed",
  offline: "idle",
  idle: "done",
  online: "done",
  busy: "busy",
  open: "failed",
  muted: "idle",
  resolved: "done",
  waiting: "idle",
  cancelled: "late",
  paused: "late",
  queued: "idle",
  running: "busy",
  undoing: "busy",
  halted: "failed",
  suspended: "late",
  succeeded: "done",
  retrying: "late",
  interrupted: "idle"
}

export const lampOf = (state: string): Lamp => lamps[state] ?? "idle"

export const sentence = (state: string): string => state.replaceAll("_", " ")

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" })
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
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
  return Math.abs(seconds) < 10 ? "just now" : relative.format(Math.trunc(seconds / size), unit)
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
  return `${Math.floor(hours / 24)} days`
}

const numbers = new Intl.NumberFormat("en")
export const count = (number: number): string => numbers.format(number)

/** Such as `1 item` and `2 items`. */
export const several = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? "" : "s"}`

/** The end of an id, enough to tell the rows of a page apart. */
export const short = (id: string): string => `…${id.slice(-4)}`
