/**
 * Local time of a zone: offsets, when they change, and the instant of a local time.
 *
 * Instants are milliseconds since the epoch. Local times are milliseconds too: the epoch milliseconds of the same reading
 * of the clock in UTC.
 */

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Zones change by at most a day (Apia 2011), and are at most 15 hours from UTC. */
export const longestShift = 26 * hour

/** No zone since 1970 has two changes closer than 6.5 days, so two readings this far apart miss none. */
const step = 5 * day

export interface ZoneClock {
  /** Local time minus UTC at an instant. */
  readonly offsetAt: (instant: number) => number
  /** The first instant in `(after, limit]` whose offset differs from `offset`, which applies just after `after`. */
  readonly nextChange: (offset: number, after: number, limit: number) => number | undefined
  /** The first instant with a local time. For a local time that does not exist, the first instant after the gap. */
  readonly instantOf: (local: number) => number
}

const offsetPattern = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/

const parseOffset = (text: string): number => {
  const [, sign = "+", hours = "0", minutes = "0", seconds = "0"] = offsetPattern.exec(text) ?? []
  return (sign === "-" ? -1 : 1) * (Number(hours) * hour + Number(minutes) * minute + Number(seconds) * second)
}

const offsetReader = (zone: string): ((instant: number) => number) => {
  if (zone === "UTC") return () => 0
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset", year: "numeric" })
  return (instant) => parseOffset(format.format(instant))
}

export const make = (zone: string): ZoneClock => {
  const offsetAt = offsetReader(zone)

  const firstOther = (offset: number, same: number, other: number): number => {
    let [low, high] = [same, other]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle) === offset) low = middle
      else high = middle
    }
    return high
  }

  const nextChange: ZoneClock["nextChange"] = (offset, after, limit) => {
    if (zone === "UTC") return undefined
    for (let from = after; from < limit; from += step) {
      const to = Math.min(from + step, limit)
      if (offsetAt(to) !== offset) return firstOther(offset, from, to)
    }
    return undefined
  }

  const instantOf: ZoneClock["instantOf"] = (local) => {
    let after = local - longestShift
    let offset = offsetAt(after)
    for (;;) {
      const change = nextChange(offset, after, local - offset)
      if (change === undefined) return local - offset
      const offsetAfter = offsetAt(change)
      if (local < change + offsetAfter) return change
      after = change - 1
      offset = offsetAfter
    }
  }

  return { offsetAt, nextChange, instantOf }
}
