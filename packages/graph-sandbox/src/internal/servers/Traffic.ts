/**
 * The rules of what goes wrong, and the record of requests.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Failure from "../model/Failure.ts"
import type { Faults, Host, Lag, Rule, Seen } from "../../Faults.ts"

/** What a rule can see of a request. */
export interface Asked {
  readonly host: Host
  readonly method: string
  readonly url: string
}

/** More would be a leak in a sandbox that runs for long. */
const kept = 100_000

/** Headers worth remembering. */
const remembered = [
  "accept",
  "client-request-id",
  "consistencylevel",
  "content-length",
  "content-range",
  "content-type",
  "if-match",
  "if-none-match",
  "prefer",
  "range",
  "user-agent"
]

export const rememberedHeaders = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    remembered.flatMap((name) => {
      const value = headers[name]
      return value === undefined ? [] : [[name, value]]
    })
  )

/** What gives access, and stands in an address. */
export const masked = (url: string): string =>
  url.replace(/([?&](?:tempauth|authtoken|code|state|code_challenge|nonce|login_hint)=)[^&]*/g, "$1***")

const minute = 60_000

const make = () => {
  let faults: ReadonlyArray<{ readonly rule: Rule; readonly path: RegExp | null; met: number; hits: number }> = []
  let unitsPerMinute: number | undefined
  let lag: Lag | undefined
  let seen: Array<Seen> = []
  let window = { from: 0, spent: 0 }

  const set = (given: Faults) => {
    faults = given.rules.map((rule) => ({
      rule,
      path: rule.path === undefined ? null : new RegExp(rule.path, "i"),
      met: 0,
      hits: 0
    }))
    unitsPerMinute = given.unitsPerMinute
    lag = given.lag
    window = { from: 0, spent: 0 }
  }

  return {
    set: (given: Faults) => Effect.sync(() => set(given)),
    /** The rules in force, and how often each has hit. */
    current: Effect.sync(() => ({
      rules: faults.map(({ hits, rule }) => ({ ...rule, hits })),
      unitsPerMinute,
      lag
    })),
    /** How reads lag behind writes. */
    lag: Effect.sync(() => lag),
    /** The rules that hit this request; each is counted. */
    meet: ({ host, method, url }: Asked): ReadonlyArray<Rule> =>
      faults
        .filter(({ path, rule }) => {
          if (rule.host !== undefined && rule.host !== host) return false
          if (host === "notifications" && rule.host === undefined) return false
          if (rule.method !== undefined && rule.method.toUpperCase() !== method) return false
          return path === null || path.test(url)
        })
        .filter((fault) => {
          const { every = 1, skip = 0, times = Number.POSITIVE_INFINITY } = fault.rule
          const nth = ++fault.met - skip
          const hit = nth > 0 && nth % every === 0 && fault.hits < times
          if (hit) fault.hits++
          return hit
        })
        .map(({ rule }) => rule),
    /** Spends resource units: what is left of them, or a refusal. */
    spend: (
      units: number,
      now: number
    ): { readonly limit: number; readonly left: number; readonly reset: number } | null => {
      if (unitsPerMinute === undefined) return null
      if (now - window.from >= minute) window = { from: now, spent: 0 }
      window.spent += units
      return {
        limit: unitsPerMinute,
        left: unitsPerMinute - window.spent,
        reset: Math.ceil((window.from + minute - now) / 1000)
      }
    },
    record: (request: Seen): void => {
      if (seen.length >= kept) seen = seen.slice(kept / 2)
      seen.push(request)
    },
    seen: Effect.sync((): ReadonlyArray<Seen> => [...seen]),
    forget: Effect.sync(() => {
      seen = []
    })
  }
}

export class Traffic extends Context.Service<Traffic, ReturnType<typeof make>>()(
  "@signalbox/graph-sandbox/internal/Traffic"
) {
  /** Nothing goes wrong until it is said. */
  static readonly layer = Layer.sync(Traffic)(make)
}

const resized = (value: unknown, by: number): unknown => {
  if (Array.isArray(value)) return value.map((item) => resized(item, by))
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, resized(member, by)] as const)
  const { file, size }: { readonly file?: unknown; readonly size?: unknown } = value
  if (file === undefined || typeof size !== "number") return Object.fromEntries(members)
  return { ...Object.fromEntries(members), size: Math.max(0, size + by) }
}

/** What an answer says under the rules. */
export const altered = (rules: ReadonlyArray<Rule>, body: unknown): unknown =>
  rules.reduce((body, rule) => (rule.fault === "wrongSize" ? resized(body, rule.by) : body), body)

/** The value of `Retry-After`; `null` where there is none. */
const retryAfter = ({ retryAfter = "integer", seconds = 1 }: Extract<Rule, { fault: "throttle" }>, now: number) =>
  ({
    integer: String(Math.ceil(seconds)),
    decimal: seconds.toFixed(3),
    date: new Date(now + seconds * 1000).toUTCString(),
    missing: null
  })[retryAfter]

export const throttled = (after: string | null): Failure.Failure =>
  new Failure.Failure({
    status: 429,
    code: "TooManyRequests",
    message: "Please retry again later.",
    details: { code: "429", message: "Please retry after", status: "429" },
    headers: after === null ? undefined : { "retry-after": after }
  })

/** The refusal that the rules ask for, if any. */
export const refusal = (rules: ReadonlyArray<Rule>, now: number): Failure.Failure | undefined => {
  for (const rule of rules) {
    if (rule.fault === "throttle") return throttled(retryAfter(rule, now))
    if (rule.fault === "expiredToken") {
      return Failure.tokenRefused("Lifetime validation failed, the token is expired.")
    }
    if (rule.fault === "status") {
      const {
        code = "generalException",
        headers,
        html = false,
        message = "The sandbox was configured to fail.",
        status
      } = rule
      return new Failure.Failure({ status, code, message, html, headers })
    }
  }
  return undefined
}
