/** The connection to a service, and what its responses say about idempotency keys. */
import { actedOn, type Link } from "@signalbox/transport/Attempts"
import { type Policy, checkPolicy } from "@signalbox/transport/Policy"
import { type Audience, audience } from "@signalbox/transport/Events"
import * as Gate from "@signalbox/transport/Gate"
import { type Headers as Received, readNumber } from "@signalbox/transport/RetryAfter"
import { userAgent } from "@signalbox/transport/UserAgent"
import * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import { lifetimeHeader } from "../../contract/IdempotencyKeys.ts"
import { version } from "./Version.ts"

export interface Connection {
  readonly link: Link
  /** Headers of all calls of the service, besides their credentials. Signed addresses of files get none. */
  readonly headers: Headers.Headers
  /** Whether a POST may be sent again under the same key. */
  readonly keepsKeys: () => boolean
  /**
   * The longest lifetime of a key that the service is known to grant, in seconds; null until a response has named one.
   */
  readonly keyLifetime: () => number | null
  /** Whether a response was one of Signalbox, whose responses all name the lifetime of keys. */
  readonly isSignalbox: () => boolean
  /** Whether keys are sent at all. */
  readonly sendsKeys: boolean
  /**
   * Reads what a response says about keys; `asked`: the lifetime in seconds that its request asked for, null for none.
   */
  readonly learnKeys: (headers: Received, asked: number | null) => void
  /** Throws an `OptionError` for a policy that cannot be. */
  readonly checkPolicy: (policy: Policy) => void
}

/** Headers that say who sends what, which the client sets itself. */
export const ownHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "content-type",
  "host",
  "idempotency-key",
  lifetimeHeader,
  "user-agent"
])

/** A 503 concerns one call as often as all: only a 429 pauses the others. */
const pausing = new Set([429])

export interface Settings {
  readonly idempotency?: "honoured" | "ignored" | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Before the name of the client. */
  readonly userAgent?: string | undefined
  readonly audience?: Audience | undefined
}

export const make = (client: HttpClient.HttpClient, settings: Settings = {}): Connection => {
  const { idempotency } = settings
  let keeps = idempotency === "honoured"
  let isSignalbox = false
  let lifetime: number | null = null
  /** Most calls have the same one. */
  const checked = new WeakSet<Policy>()
  return {
    link: { client, gate: Gate.make(), acted: actedOn, pausing, audience: settings.audience ?? audience() },
    headers: Headers.fromInput({
      ...settings.headers,
      "user-agent": userAgent("signalbox-api", version, settings.userAgent)
    }),
    keepsKeys: () => keeps,
    keyLifetime: () => (idempotency === "ignored" ? null : lifetime),
    isSignalbox: () => isSignalbox,
    sendsKeys: idempotency !== "ignored",
    learnKeys: (headers, asked) => {
      if (headers[lifetimeHeader] !== undefined) isSignalbox = true
      if (idempotency === undefined && isSignalbox) keeps = true
      const granted = readNumber(headers, lifetimeHeader)
      if (granted === undefined) return
      // A grant of less than was asked is a limit. Anything else shows that at least this much is granted.
      lifetime = asked !== null && granted < asked ? granted : Math.max(lifetime ?? 0, granted)
    },
    checkPolicy: (policy) => {
      if (checked.has(policy)) return
      checkPolicy("RetryPolicy", policy)
      checked.add(policy)
    }
  }
}
