/**
 * The occurrences between two instants, bounded: a schedule of every second that was not processed for a year has
 * millions.
 */
import type { Walk } from "./Walk.ts"

export interface Pending {
  readonly times: ReadonlyArray<number>
  /** Whether there are others between the two instants. */
  readonly more: boolean
}

/** The first ones. */
export const oldest = (walk: Walk, after: number, upTo: number, count: number): Pending => {
  const times: Array<number> = []
  for (const time of walk(after, upTo)) {
    if (times.length === count) return { times, more: true }
    times.push(time)
  }
  return { times, more: false }
}

/** The last ones, found from the latest start that leaves `count` of them. */
export const newest = (walk: Walk, after: number, upTo: number, count: number): Pending => {
  const all = oldest(walk, after, upTo, count)
  if (!all.more) return all
  let [low, high] = [after, upTo]
  let found: Pending = { times: [], more: false }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const later = oldest(walk, middle, upTo, count)
    if (later.more) low = middle
    else [high, found] = [middle, later]
    if (found.times.length === count) break
  }
  return { times: found.times, more: true }
}
