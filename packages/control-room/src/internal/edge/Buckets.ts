/**
 * Token buckets: each is filled so much a second up to a burst, and what is taken from an empty one is refused. Their
 * number is bounded: those used least recently go first, which by then are full again.
 */

import type { RateLimit } from "../../Options.ts"

export interface Taken {
  readonly admitted: boolean
  /** What is left in the bucket. */
  readonly left: number
  /** When not admitted: in how many milliseconds there is one again. */
  readonly waitMillis: number
}

const most = 10_000

/** No buckets yet; each begins full. */
export const make = ({ burst, perSecond }: RateLimit) => {
  const buckets = new Map<string, { tokens: number; at: number }>()
  const filledAt = (key: string, now: number) => {
    const known = buckets.get(key)
    return known === undefined
      ? burst
      : Math.min(burst, known.tokens + (Math.max(0, now - known.at) / 1000) * perSecond)
  }
  const set = (key: string, tokens: number, now: number) => {
    // The bucket used last is the last of the map.
    buckets.delete(key)
    buckets.set(key, { tokens, at: now })
    if (buckets.size <= most) return
    const oldest = buckets.keys().next()
    if (oldest.done !== true) buckets.delete(oldest.value)
  }
  return {
    /** Takes one out of the bucket of this key; `now` in milliseconds. */
    take: (key: string, now: number): Taken => {
      const filled = filledAt(key, now)
      const admitted = filled >= 1
      const left = admitted ? filled - 1 : filled
      set(key, left, now)
      return { admitted, left, waitMillis: admitted ? 0 : Math.ceil(((1 - filled) / perSecond) * 1000) }
    },
    /** Puts one back that was taken in vain. */
    putBack: (key: string, now: number): void => set(key, Math.min(burst, filledAt(key, now) + 1), now)
  }
}
