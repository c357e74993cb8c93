/**
 * Limits the cost of requests without a valid key: a budget for each address they come from. Keys and tokens that were
 * valid recently are remembered, and cost their address nothing.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { hash } from "node:crypto"
import type * as Tokens from "../vault/Tokens.ts"
import type { RateLimit } from "../../Options.ts"
import * as Buckets from "./Buckets.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { type Refusal, refuse } from "./Failures.ts"

/** Generous, since all clients behind one proxy share one address. */
const defaultBudget: RateLimit = { perSecond: 100, burst: 1000 }

/**
 * How long the refusal of a request over the budget is delayed: a client that repeats immediately gets no more of them.
 */
const defaultHoldMillis = 1000
/** How many refusals are delayed concurrently; further ones are sent immediately. */
const mostWaiting = 1000

/** Of requests to one address of a trigger whose signature is wrong, from one client. Genuine ones cost nothing. */
const signatures: RateLimit = { perSecond: 1, burst: 100 }

/** How many keys and tokens are remembered. */
const mostKnown = 10_000

type Request = HttpServerRequest.HttpServerRequest

export class UnauthenticatedRequests extends Context.Service<
  UnauthenticatedRequests,
  {
    /** Counts a request without a valid key, and refuses it with a 429 when its address is over the budget. */
    readonly charge: (request: Request) => Effect.Effect<void, Refusal>
    /**
     * Runs the lookup of a key or token, which returns null when it is unknown. When the address is over its budget,
     * only keys that were valid recently are looked up.
     */
    readonly lookUp: <A, E, R>(
      request: Request,
      token: Tokens.Token,
      find: Effect.Effect<A | null, E, R>
    ) => Effect.Effect<A | null, E | Refusal, R>
    /**
     * Runs the check of a signature. One that fails charges the budget of its address for what was to be reached, and over that
     * budget nothing is checked.
     */
    readonly verify: <A, E, R>(
      request: Request,
      reached: string,
      check: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | Refusal, R>
    /** Runs an effect that needs no key and charges the budget; a success is refunded. */
    readonly attempt: <A, E, R>(request: Request, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Refusal, R>
  }
>()("@signalbox/control-room/edge/UnauthenticatedRequests") {
  /** `null`: no budget. `holdMillis`: how long refusals are delayed. */
  static readonly layer = (budget: RateLimit | null = defaultBudget, holdMillis = defaultHoldMillis) =>
    Layer.effect(
      UnauthenticatedRequests,
      Effect.map(ClientAddress, ({ subscriber: addressOf }) => {
        if (budget === null) {
          return UnauthenticatedRequests.of({
            charge: () => Effect.void,
            lookUp: (_request, _token, find) => find,
            verify: (_request, _reached, check) => check,
            attempt: (_request, effect) => effect
          })
        }
        const buckets = Buckets.make(budget)
        const signed = Buckets.make(signatures)
        const known = new Set<string>()

        const charge = (request: Request) =>
          Effect.withFiber<void, Refusal>((fiber) => {
            const address = addressOf(request)
            // The server around the service provides none, and has to limit such requests itself.
            if (address === null) return Effect.void
            const taken = buckets.take(address, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
            return taken.admitted ? Effect.void : refused(taken, "without a valid key")
          })

        const refused = ({ waitMillis }: Buckets.Taken, what: string) => {
          const message = `too many requests ${what} from this address; try again later`
          const headers = { "retry-after": "1", "retry-after-ms": String(waitMillis) }
          const refusal = Effect.fail(refuse(429, "RATE_LIMITED", message, headers))
          return waiting < mostWaiting ? Effect.andThen(hold, refusal) : refusal
        }

        let waiting = 0
        /** Real time, since this is about the event loop of the machine; `Clock` may be virtual. */
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

        return UnauthenticatedRequests.of({
          charge,
          verify: Effect.fnUntraced(function* (request, reached, check) {
            const key = `${reached} ${addressOf(request) ?? ""}`
            const taken = signed.take(key, yield* Clock.currentTimeMillis)
            if (!taken.admitted) return yield* refused(taken, "with a wrong signature")
            const checked = yield* check
            signed.putBack(key, yield* Clock.currentTimeMillis)
            return checked
          }),
          attempt: (request, effect) => Effect.andThen(charge(request), Effect.tap(effect, refund(request))),
          lookUp: (request, token, find) => {
            // A hash, so that no usable key stays in memory.
            const name = hash("sha256", `${token.id} ${token.secret}`, "base64url")
            if (known.has(name)) {
              return Effect.tap(find, (found) => {
                if (found !== null) return Effect.void
                known.delete(name)
                return charge(request)
              })
            }
            const remembered = Effect.tap(find, (found) => {
              if (found === null) return Effect.void
              remember(name)
              return refund(request)
            })
            return Effect.andThen(charge(request), remembered)
          }
        })
      })
    )
}
