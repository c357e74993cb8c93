/**
 * How many requests a key may make: a bucket per key in this process, filled so much a second up to a burst.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dieWith } from "./Failures.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"

export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

export const defaultRateLimit: RateLimit = { perSecond: 100, burst: 500 }

/** Buckets of keys that were not used for a while are full, and need not be kept. */
const mostBuckets = 10_000

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Counts a request of a key, tells the limits in the response, and refuses with a 429 what is too much. */
    readonly admit: (key: string) => Effect.Effect<void>
  }
>()("@signalbox/control-room/http/RateLimits") {
  /** `null`: no limit. */
  static readonly layer = (limit: RateLimit | null) =>
    Layer.sync(RateLimits, () => {
      if (limit === null) return RateLimits.of({ admit: () => Effect.void })
      const buckets = new Map<string, { tokens: number; at: number }>()
      const admit = (key: string) =>
        Effect.withFiber<void>((fiber) => {
          const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
          const known = buckets.get(key)
          const filled =
            known === undefined
              ? limit.burst
              : Math.min(limit.burst, known.tokens + (Math.max(0, now - known.at) / 1000) * limit.perSecond)
          const admitted = filled >= 1
          const tokens = admitted ? filled - 1 : filled
          // The bucket used last is the last of the map.
          buckets.delete(key)
          buckets.set(key, { tokens, at: now })
          if (buckets.size > mostBuckets) {
            const oldest = buckets.keys().next()
            if (oldest.done !== true) buckets.delete(oldest.value)
          }
          const headers = fiber.getRef(ResponseHeaders)
          headers["ratelimit-limit"] = String(limit.burst)
          headers["ratelimit-remaining"] = String(Math.floor(tokens))
          headers["ratelimit-reset"] = "1"
          if (admitted) return Effect.void
          const millis = Math.ceil(((1 - filled) / limit.perSecond) * 1000)
          return dieWith(
            429,
            "RATE_LIMITED",
            `more than ${limit.perSecond} requests a second; try again in ${millis} ms`,
            { "retry-after": "1", "retry-after-ms": String(millis) }
          )
        })
      return RateLimits.of({ admit })
    })
}
