/** Makes the events of one call from what becomes of its attempts. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { PauseReason, ResponseEvent } from "../../Events.ts"
import { type Headers, readNumber } from "../../RetryAfter.ts"
import type { Tell } from "./Telling.ts"

/** What people read of a request. */
export interface Called {
  /** The function that was called, such as `WorkItems.create`. */
  readonly operation: string
  /** Without the query. */
  readonly path: string
}

/** What became of an attempt. */
export type Outcome =
  | { readonly status: number; readonly headers: Headers }
  | { readonly status: null; readonly problem: string }

type Result = Pick<ResponseEvent, "status" | "requestId" | "problem">

const resultOf = (outcome: Outcome): Result =>
  outcome.status === null
    ? { status: null, requestId: null, problem: outcome.problem }
    : {
        status: outcome.status,
        requestId: outcome.headers["request-id"] ?? outcome.headers["x-request-id"] ?? null,
        problem: null
      }

export interface Watch {
  /** A wait of the gate before the next attempt; `until` is a time of the clock. */
  readonly waits: (until: number, why: PauseReason) => Effect.Effect<void>
  readonly begins: Effect.Effect<void>
  readonly ends: (outcome: Outcome) => Effect.Effect<void>
  readonly pauses: (outcome: Outcome, millis: number, why: PauseReason) => Effect.Effect<void>
  /** The call ends during an attempt, or before it. */
  readonly cut: (problem: string) => Effect.Effect<void>
}

export const make = (tell: Tell, method: string, { operation, path }: Called): Watch => {
  let attempt = 0
  /** When the attempt was sent; null: none is under way. */
  let sentAt: number | null = null
  /** The end of the last pause that was told: the gate has the same one. */
  let toldUntil = -Infinity
  const request = (of = attempt) => ({ operation, method, path, attempt: of })

  const waits: Watch["waits"] = Effect.fnUntraced(function* (until, why) {
    // The pause of a call ends within a millisecond of that of the gate.
    if (until <= toldUntil + 1) return
    toldUntil = until
    const millis = Math.round(until - (yield* Clock.currentTimeMillis))
    yield* tell("onPause", { ...request(attempt + 1), why, millis })
  })
  const ends: Watch["ends"] = Effect.fnUntraced(function* (outcome) {
    const now = yield* Clock.currentTimeMillis
    const millis = now - (sentAt ?? now)
    sentAt = null
    const bytes = outcome.status === null ? null : (readNumber(outcome.headers, "content-length") ?? null)
    yield* tell("onResponse", { ...request(), ...resultOf(outcome), millis, bytes })
  })

  return {
    waits,
    begins: Effect.gen(function* () {
      attempt++
      sentAt = yield* Clock.currentTimeMillis
      yield* tell("onRequest", request())
    }),
    ends,
    pauses: Effect.fnUntraced(function* (outcome, millis, why) {
      yield* tell("onRetry", { ...request(attempt + 1), ...resultOf(outcome), pauseMillis: Math.round(millis) })
      if (millis > 0) yield* waits((yield* Clock.currentTimeMillis) + millis, why)
    }),
    cut: (problem) => (sentAt === null ? Effect.void : ends({ status: null, problem }))
  }
}
