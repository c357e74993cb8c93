/**
 * Token buckets: each is refilled by a rate up to a burst, and a request that finds it empty is refused. Their number
 * is bounded: those used least recently are dropped first, which by then are full again.
 */

import type { RateLimit } from "../../Options.ts"

export interface Taken {
  readonly admitted: boolean
  /** Tokens left in the bucket. */
  readonly left: number
  /** When not admitted: milliseconds until the next token. */
  readonly waitMillis: number
}

const most = 10_000

/** No buckets yet; each starts full. */
export const make = ({ burst, perSecond }: RateLimit) => {
  const buckets = new Map<string, { tokens: number; at: number }>()
  const filledAt = (key: string, now: number) => {
    const known = buckets.get(key)
    return known === undefined
      ? burst
      : Math.min(burst, known.tokens + (Math.max(0, now - known.at) / 1000) * perSecond)
  }
  const set = (key: string, tokens: number, now: number) => {
    // Keeps the map in the order of last use.
    buckets.delete(key)
    buckets.set(key, { tokens, at: now })
    if (buckets.size <= most) return
    const oldest = buckets.keys().next()
    if (oldest.done !== true) buckets.delete(oldest.value)
  }
  return {
    /** Takes one token out of the bucket of this key; `now` in milliseconds. */
    take: (key: string, now: number): Taken => {
      const filled = filledAt(key, now)
      const admitted = filled >= 1
      const left = admitted ? filled - 1 : filled
      set(key, left, now)
      return { admitted, left, waitMillis: admitted ? 0 : Math.ceil(((1 - filled) / perSecond) * 1000) }
    },
    /** Returns a token whose request turned out not to count. */
    putBack: (key: string, now: number): void => set(key, Math.min(burst, filledAt(key, now) + 1), now)
  }
}
