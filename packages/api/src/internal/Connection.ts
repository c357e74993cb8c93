/**
 * The way to a service, and what a client learns about its idempotency keys while it talks to it.
 */
import { actedOn, type Link } from "@signalbox/transport/Attempts"
import * as Gate from "@signalbox/transport/Gate"
import { type Headers, readNumber } from "@signalbox/transport/RetryAfter"
import type * as HttpClient from "effect/http/HttpClient"
import { lifetimeHeader } from "../contract/IdempotencyKeys.ts"

export interface Connection {
  readonly link: Link
  /** Whether a POST may be sent again under the same key. */
  readonly keepsKeys: () => boolean
  /** The longest lifetime of a key that the service is known to grant, in seconds; null while no answer has named one. */
  readonly keyLifetime: () => number | null
  /** Whether keys are sent at all. */
  readonly sendsKeys: boolean
  /** Reads what a response says about keys; `asked`: the seconds that its request asked for its key, null for none. */
  readonly learnKeys: (headers: Headers, asked: number | null) => void
}

/** A 503 is about one call as often as about all: only a 429 pauses the others. */
const pausing = new Set([429])

export const make = (client: HttpClient.HttpClient, idempotency?: "honoured" | "ignored"): Connection => {
  let keeps = idempotency === "honoured"
  let lifetime: number | null = null
  return {
    link: { client, gate: Gate.make(), acted: actedOn, pausing },
    keepsKeys: () => keeps,
    keyLifetime: () => (idempotency === "ignored" ? null : lifetime),
    sendsKeys: idempotency !== "ignored",
    learnKeys: (headers, asked) => {
      if (idempotency === undefined && headers[lifetimeHeader] !== undefined) keeps = true
      const granted = readNumber(headers, lifetimeHeader)
      if (granted === undefined) return
      // Less than was asked is a limit. Anything else shows that this much is granted, and maybe more.
      lifetime = asked !== null && granted < asked ? granted : Math.max(lifetime ?? 0, granted)
    }
  }
}
