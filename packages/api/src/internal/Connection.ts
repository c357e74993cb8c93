/**
 * What a client learns about a service while it talks to it: whether it keeps idempotency keys, and when it would refuse
 * another request.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"

type Headers = Readonly<Record<string, string | undefined>>

export interface Connection {
  readonly client: HttpClient.HttpClient
  /** Whether a POST may be sent again under the same key. */
  readonly keepsKeys: () => boolean
  /** Whether keys are sent at all. */
  readonly sendsKeys: boolean
  /** Waits while the service would answer 429, then counts one request; gives its number. */
  readonly admit: Effect.Effect<number>
  /** Reads what an answer to the request of that number says. */
  readonly learn: (request: number, headers: Headers, now: number) => void
  /** Nothing is sent before that time. */
  readonly pauseUntil: (time: number) => void
}

/** The seconds until the budget is full again, of the `ratelimit-*` headers. */
const number = (headers: Headers, name: string): number | undefined => {
  const value = Number(headers[name] ?? Number.NaN)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

export const make = (client: HttpClient.HttpClient, idempotency?: "honoured" | "ignored"): Connection => {
  let keeps = idempotency === "honoured"
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
    sendsKeys: idempotency !== "ignored",
    admit,
    learn: (request, headers, now) => {
      if (idempotency === undefined && headers["idempotency-key-ttl"] !== undefined) keeps = true
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
