/**
 * The rules of zones, calculated independently: every minute of a span is read from a clock on the wall, and the
 * meaning of a cron expression is a function of what the clock shows.
 */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** What the clocks of a zone show at an instant, as the milliseconds of the same reading in UTC. */
export const wallClock = (zone: string): ((instant: number) => number) => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  })
  return (instant) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (format.format(instant).match(/\d+/g) ?? []).map(
      Number
    )
    return Date.UTC(year, month - 1, day, hour, minute)
  }
}

/**
 * The readings of a whole span, minute by minute. Hours in which the clock advances regularly are not read in between.
 */
export function* readings(
  zone: string,
  from: number,
  to: number
): Generator<readonly [instant: number, local: number]> {
  const read = wallClock(zone)
  let local = read(from)
  for (let instant = from; instant < to; instant += hour) {
    const next = read(instant + hour)
    const plain = next - local === hour
    for (let past = 0; past < hour; past += minute) yield [instant + past, plain ? local + past : read(instant + past)]
    local = next
  }
}

/** A cron expression, and what it means. */
export interface Meaning {
  readonly cron: string
  /** Whether it occurs in each real hour. */
  readonly everyRealHour: boolean
  readonly day: (date: Date) => boolean
  readonly time: (hour: number, minute: number) => boolean
}

interface Reckoned {
  readonly meaning: Meaning
  readonly times: Array<number>
  date: number
  onDate: boolean
}

const shows = (of: Reckoned, local: number): boolean => {
  const date = Math.floor(local / day)
  if (date !== of.date) {
    of.date = date
    of.onDate = of.meaning.day(new Date(date * day))
  }
  const minutes = local / minute - date * 1440
  return of.onDate && of.meaning.time(Math.floor(minutes / 60), minutes % 60)
}

/** The instants of some expressions from one instant on and before another. */
export const reckon = (
  zone: string,
  meanings: ReadonlyArray<Meaning>,
  from: number,
  to: number
): ReadonlyArray<ReadonlyArray<number>> => {
  const all = meanings.map((meaning): Reckoned => ({ meaning, times: [], date: Number.NaN, onDate: false }))
  let previous = Number.NaN
  let latest = Number.NEGATIVE_INFINITY
  // Some days before, so that it knows what the clocks have shown.
  for (const [instant, local] of readings(zone, from - 3 * day, to)) {
    for (const one of all) {
      let comes = shows(one, local) && (one.meaning.everyRealHour || local > latest)
      for (let left = previous + minute; left < local && !comes; left += minute) comes = shows(one, left)
      if (comes && instant >= from) one.times.push(instant)
    }
    previous = local
    latest = Math.max(latest, local)
  }
  return all.map(({ times }) => times)
}
