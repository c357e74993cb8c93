/**
 * What a client learns about a service while it talks to it: whether and how long it keeps idempotency keys, and when it
 * would refuse another request.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import { lifetimeHeader } from "../contract/IdempotencyKeys.ts"

type Headers = Readonly<Record<string, string | undefined>>

export interface Connection {
  readonly client: HttpClient.HttpClient
  /** Whether a POST may be sent again under the same key. */
  readonly keepsKeys: () => boolean
  /** The longest lifetime of a key that the service is known to grant, in seconds; null while no answer has named one. */
  readonly keyLifetime: () => number | null
  /** Whether keys are sent at all. */
  readonly sendsKeys: boolean
  /** Waits while the service would answer 429, then counts one request; gives its number. */
  readonly admit: Effect.Effect<number>
  /** Reads what an answer to the request of that number says; `lifetime`: the seconds it asked for its key, null for none. */
  readonly learn: (request: number, headers: Headers, now: number, lifetime: number | null) => void
  /** Nothing is sent before that time. */
  readonly pauseUntil: (time: number) => void
}

/** A header that is a number from 0 on. */
const number = (headers: Headers, name: string): number | undefined => {
  const value = Number(headers[name] ?? Number.NaN)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

export const make = (client: HttpClient.HttpClient, idempotency?: "honoured" | "ignored"): Connection => {
  let keeps = idempotency === "honoured"
  let lifetime: number | null = null
  let sent = 0
  /** The request whose answer told of the budget, what was left then, and until when that counts. */
  let budget = { request: 0, remaining: 0, until: 0 }
  let paused = 0

  const waitUntil = (now: number): number => {
    if (paused > now) return paused
    // Requests sent after the one that was answered are not in its count.
    const left = budget.remaining - (sent - budget.request)
    return budget.until > now && left <= 0 ? budget.until : now
  }

  const admit: Effect.Effect<number> = Effect.gen(function* () {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const until = waitUntil(now)
      if (until <= now) return ++sent
      yield* Effect.sleep(until - now)
    }
  })

  return {
    client,
    keepsKeys: () => keeps,
    keyLifetime: () => (idempotency === "ignored" ? null : lifetime),
    sendsKeys: idempotency !== "ignored",
    admit,
    learn: (request, headers, now, asked) => {
      const granted = number(headers, lifetimeHeader)
      if (idempotency === undefined && headers[lifetimeHeader] !== undefined) keeps = true
      if (granted !== undefined) {
        // Less than was asked is a limit. Anything else shows that this much is granted, and maybe more.
        lifetime = asked !== null && granted < asked ? granted : Math.max(lifetime ?? 0, granted)
      }
      const remaining = number(headers, "ratelimit-remaining")
      const reset = number(headers, "ratelimit-reset")
      if (remaining === undefined || reset === undefined || request <= budget.request) return
      budget = { request, remaining, until: now + reset * 1000 }
    },
    pauseUntil: (time) => {
      paused = Math.max(paused, time)
    }
  }
}
