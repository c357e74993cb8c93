/** Limits attempts to sign in by the address that they come from, where addresses are those of clients. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Buckets from "./Buckets.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { refuse } from "./Failures.ts"

/** Failed attempts of one address. */
const attempts = { perSecond: 5 / 60, burst: 5 }

export const make = Effect.map(ClientAddress, (clients) => {
  const buckets = Buckets.make(attempts)
  return {
    /** Counts an attempt, or refuses it with a 429. Returns what takes it back, for one that succeeds. */
    take: Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      // All people may have the address of one proxy.
      const address = clients.isKnown ? clients.subscriber(request) : null
      const taken = address === null ? null : buckets.take(address, yield* Clock.currentTimeMillis)
      if (taken !== null && !taken.admitted) {
        const seconds = Math.ceil(taken.waitMillis / 1000)
        return yield* refuse(429, "RATE_LIMITED", `too many attempts; try again in ${seconds} s`, {
          "retry-after": String(seconds)
        })
      }
      return address === null
        ? Effect.void
        : Effect.map(Clock.currentTimeMillis, (now) => buckets.putBack(address, now))
    })
  }
})
