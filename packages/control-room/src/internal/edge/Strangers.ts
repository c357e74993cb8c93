/**
 * What requests without a valid key may cost: a budget for each address that they come from. Keys and tokens that were
 * valid lately are known, and cost their address nothing.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import { hash } from "node:crypto"
import type * as Tokens from "../Tokens.ts"
import type { RateLimit } from "../../Options.ts"
import * as Buckets from "./Buckets.ts"
import { dieWith } from "./Failures.ts"

/** Generous, since all who come through one proxy share one address. */
const defaultBudget: RateLimit = { perSecond: 100, burst: 1000 }

/** How long the refusal of a request over the budget is held back: who asks again at once after each gets no more of them. */
const defaultHoldMillis = 1000
/** How many refusals are held back concurrently; further ones are sent immediately. */
const mostWaiting = 1000

/** How many keys and tokens are known. */
const mostKnown = 10_000

/** Parses an IP address, without the zone that an IPv6 one may have. */
export const ipOf = (address: string) => NetAddress.ipFromString(address.replace(/%.*$/, ""))

/** Who shares a budget: an IPv4 address, or the /64 network of an IPv6 one, which is what one subscriber has. */
export const subscriberOf = (address: string): string => {
  const parsed = ipOf(address)
  if (Result.isFailure(parsed)) return address
  const ip = NetAddress.toCanonical(parsed.success)
  return NetAddress.isIpv4Address(ip) ? NetAddress.formatIp(ip) : IpNetwork.format(IpNetwork.fromAddressUnsafe(ip, 64))
}

type Request = HttpServerRequest.HttpServerRequest

export class Strangers extends Context.Service<
  Strangers,
  {
    /** Counts a request that came without a valid key, and refuses with a 429 what is over the budget of its address. */
    readonly charge: (request: Request) => Effect.Effect<void>
    /**
     * Runs the look-up of a key or token, which is null when it is unknown. Over the budget of its address, one that was
     * not valid lately is not looked up.
     */
    readonly lookUp: <A, E, R>(
      request: Request,
      token: Tokens.Token,
      find: Effect.Effect<A | null, E, R>
    ) => Effect.Effect<A | null, E, R>
    /** Runs what anyone may ask for; when it succeeds, the budget has what it had before. */
    readonly attempt: <A, E, R>(request: Request, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@signalbox/control-room/edge/Strangers") {
  /** `null`: no budget. `holdMillis`: how long refusals are held back. */
  static readonly layer = (budget: RateLimit | null = defaultBudget, holdMillis = defaultHoldMillis) =>
    Layer.sync(Strangers, () => {
      if (budget === null) {
        return Strangers.of({
          charge: () => Effect.void,
          lookUp: (_request, _token, find) => find,
          attempt: (_request, effect) => effect
        })
      }
      const buckets = Buckets.make(budget)
      const known = new Set<string>()

      /** Null: the server around the service does not say it, and has to guard itself. */
      const addressOf = (request: Request) => Option.getOrNull(Option.map(request.remoteAddress, subscriberOf))

      const charge = (request: Request) =>
        Effect.withFiber<void>((fiber) => {
          const address = addressOf(request)
          if (address === null) return Effect.void
          const { admitted, waitMillis } = buckets.take(address, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
          if (admitted) return Effect.void
          const refused = dieWith(
            429,
            "RATE_LIMITED",
            "too many requests without a valid key from this address; try again later",
            { "retry-after": "1", "retry-after-ms": String(waitMillis) }
          )
          return waiting < mostWaiting ? Effect.andThen(hold, refused) : refused
        })

      let waiting = 0
      /** Of the machine, whose event loop it is about, and not of a clock that may be virtual. */
      const hold = Effect.callback<void>((resume) => {
        waiting++
        const timer = setTimeout(() => resume(Effect.void), holdMillis)
        return Effect.sync(() => clearTimeout(timer))
      }).pipe(Effect.ensuring(Effect.sync(() => waiting--)))

      const refund = (request: Request) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const address = addressOf(request)
          if (address !== null) buckets.putBack(address, now)
        })

      const remember = (name: string) => {
        known.add(name)
        const oldest = known.size > mostKnown ? known.keys().next() : undefined
        if (oldest?.done === false) known.delete(oldest.value)
      }

      return Strangers.of({
        charge,
        attempt: (request, effect) => Effect.andThen(charge(request), Effect.tap(effect, refund(request))),
        lookUp: (request, token, find) => {
          // Not the text itself: what opens something is not kept.
          const name = hash("sha256", `${token.id} ${token.secret}`, "base64url")
          if (known.has(name)) {
            return Effect.tap(find, (found) => {
              if (found !== null) return Effect.void
              known.delete(name)
              return charge(request)
            })
          }
          const looked = Effect.tap(find, (found) => {
            if (found === null) return Effect.void
            remember(name)
            return refund(request)
          })
          return Effect.andThen(charge(request), looked)
        }
      })
    })
}
