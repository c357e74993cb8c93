/** Limits the requests of a key per second, counted by this process. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RateLimit } from "../../Options.ts"
import * as Buckets from "./Buckets.ts"
import { type Refusal, refuse } from "./Failures.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"

export const defaultRateLimit: RateLimit = { perSecond: 100, burst: 500 }

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /**
     * Counts a request of a key, reports the limits in the response, and refuses a request over the limit with a 429.
     */
    readonly admit: (key: string) => Effect.Effect<void, Refusal>
  }
>()("@signalbox/control-room/edge/RateLimits") {
  /** `null`: no limit. */
  static readonly layer = (limit: RateLimit | null) =>
    Layer.sync(RateLimits, () => {
      if (limit === null) return RateLimits.of({ admit: () => Effect.void })
      const buckets = Buckets.make(limit)
      const admit = (key: string) =>
        Effect.withFiber<void, Refusal>((fiber) => {
          const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
          const { admitted, left, waitMillis } = buckets.take(key, now)
          const headers = fiber.getRef(ResponseHeaders)
          headers["ratelimit-limit"] = String(limit.burst)
          headers["ratelimit-remaining"] = String(Math.floor(left))
          headers["ratelimit-reset"] = "1"
          return admitted
            ? Effect.void
            : Effect.fail(
                refuse(
                  429,
                  "RATE_LIMITED",
                  `more than ${limit.perSecond} requests a second; try again in ${waitMillis} ms`,
                  { "retry-after": "1", "retry-after-ms": String(waitMillis) }
                )
              )
        })
      return RateLimits.of({ admit })
    })
}
