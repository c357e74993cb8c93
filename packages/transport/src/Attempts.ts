/**
 * Sends one request until it is answered: attempts, pauses, limits of time. Knows nothing of credentials, or of what the
 * responses of a service mean beyond whether it acted.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { Gate } from "./Gate.ts"
import { IdleLimit } from "./IdleLimit.ts"
import { type NoAnswer, noAnswer, Undelivered } from "./NoAnswer.ts"
import { pauseAfter, type Policy } from "./Policy.ts"
import { type Headers, retryAfterMillis } from "./RetryAfter.ts"

/** Whether the service acted on a request that failed. */
export type Acted = "no" | "maybe"

/** Statuses below 500 after which the same request may succeed later. */
const passing: Readonly<Record<number, Acted>> = { 408: "maybe", 425: "no", 429: "no" }
/** The service does not have the operation, or does not speak this HTTP; any other 5xx may pass. */
const permanent: ReadonlySet<number> = new Set([501, 505])

/**
 * Returns whether the service may have acted on a request that it answered with this status, and null when the same request
 * would be answered in the same way again.
 */
export const actedOn = (status: number): Acted | null =>
  passing[status] ?? (status >= 500 && !permanent.has(status) ? "maybe" : null)

/** Whether a request that failed may be sent again; `repeatable`: also when the service may have acted on it. */
export const mayRepeat = (acted: Acted | null, repeatable: boolean): boolean =>
  acted === "no" || (acted === "maybe" && repeatable)

/** The way to a service: an HTTP client, the gate that its calls pass, and what the statuses of this service mean. */
export interface Link {
  readonly client: HttpClient.HttpClient
  readonly gate: Gate
  /** As `actedOn`; `retryAfter` is the time that the response names, in milliseconds. */
  readonly acted: (status: number, retryAfter: number | null) => Acted | null
  /** Statuses that pause all calls over this link, not only the one that got it. */
  readonly pausing: ReadonlySet<number>
}

export interface DeliverOptions<A> {
  /** Whether it may be sent again although the service may have acted on it. Called before each further attempt. */
  readonly repeatable: () => boolean
  /** Each attempt has the time limit of the policy; else it has the idle limit. */
  readonly timed: boolean
  /** Reads a response below 400, as a part of the attempt: one that breaks off counts as none. */
  readonly read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, HttpClientError.HttpClientError>
  /** Called with each response, before its body is read. */
  readonly onAnswer?: (status: number, headers: Headers) => void
}

/** A response: below 400 as it was read, else with its text and the time it asks to wait (in milliseconds, null: none). */
export type Answer<A> =
  | { readonly _tag: "Good"; readonly status: number; readonly headers: Headers; readonly value: A }
  | {
      readonly _tag: "Bad"
      readonly status: number
      readonly headers: Headers
      readonly text: string
      readonly retryAfterMillis: number | null
    }

/** The response, and how often the request was sent. */
export type Delivered<A> = Answer<A> & { readonly attempts: number }

const timeout = (afterMillis: number, what: string): NoAnswer => ({
  _tag: "Timeout",
  message: `no whole answer within ${afterMillis} ms${what}`,
  afterMillis
})

const attemptOnce = Effect.fnUntraced(function* <A>(
  link: Link,
  policy: Policy,
  request: HttpClientRequest.HttpClientRequest,
  options: DeliverOptions<A>,
  number: number
): Effect.fn.Return<Answer<A>, HttpClientError.HttpClientError> {
  const response = yield* link.client.execute(request)
  const { headers, status } = response
  const now = yield* Clock.currentTimeMillis
  link.gate.learn(number, headers, now, policy.maxRetryAfterMillis)
  options.onAnswer?.(status, headers)
  if (status < 400) return { _tag: "Good", status, headers, value: yield* options.read(response) }
  const text = yield* Effect.orElseSucceed(response.text, () => "")
  return { _tag: "Bad", status, headers, text, retryAfterMillis: retryAfterMillis(headers, now) }
})

const actedBefore = (reason: NoAnswer): Acted | null => {
  if (reason._tag === "Timeout") return "maybe"
  return reason._tag === "Unsendable" || reason.permanent ? null : reason.sent
}

const deliverByPolicy = Effect.fnUntraced(function* <A>(
  link: Link,
  policy: Policy,
  request: HttpClientRequest.HttpClientRequest,
  options: DeliverOptions<A>,
  onSend: () => void
): Effect.fn.Return<Delivered<A>, Undelivered> {
  const idle = options.timed ? null : policy.idleTimeoutMillis
  const limit = policy.attemptTimeoutMillis
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= policy.attempts
    const number = yield* link.gate.admit
    onSend()
    const once = attemptOnce(link, policy, request, options, number).pipe(
      Effect.mapError((error) => noAnswer(error, idle)),
      Effect.provideService(IdleLimit, idle)
    )
    const result = yield* Effect.result(
      options.timed
        ? Effect.timeoutOrElse(once, { duration: limit, orElse: () => Effect.fail(timeout(limit, "")) })
        : once
    )
    if (Result.isFailure(result)) {
      const reason = result.failure
      if (last || !mayRepeat(actedBefore(reason), options.repeatable())) {
        return yield* new Undelivered({ reason, attempts: attempt })
      }
      yield* Effect.sleep(yield* pauseAfter(policy, attempt))
      continue
    }
    const answer = result.success
    if (answer._tag === "Good") return { ...answer, attempts: attempt }
    const hint = answer.retryAfterMillis
    const tooLong = hint !== null && hint > policy.maxRetryAfterMillis
    const pause = hint ?? (yield* pauseAfter(policy, attempt))
    if (link.pausing.has(answer.status) && !tooLong) {
      link.gate.pauseUntil((yield* Clock.currentTimeMillis) + pause)
    }
    if (last || tooLong || !mayRepeat(link.acted(answer.status, hint), options.repeatable())) {
      return { ...answer, attempts: attempt }
    }
    yield* Effect.logDebug(`answered ${answer.status}, sent again in ${Math.round(pause)} ms`)
    yield* Effect.sleep(pause)
  }
})

/**
 * Sends a request by a policy and returns the last response, whatever its status. Fails with `Undelivered` when there is none.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 * import * as HttpClientRequest from "effect/http/HttpClientRequest"
 * import { actedOn, deliver } from "@signalbox/transport/Attempts"
 * import * as Gate from "@signalbox/transport/Gate"
 * import type { Policy } from "@signalbox/transport/Policy"
 *
 * export const titleOf = Effect.fn("titleOf")(function* (url: string, policy: Policy) {
 *   const link = { client: yield* HttpClient.HttpClient, gate: Gate.make(), acted: actedOn, pausing: new Set([429]) }
 *   const answer = yield* deliver(link, policy, HttpClientRequest.get(url), {
 *     repeatable: () => true,
 *     timed: true,
 *     read: (response) => response.text
 *   })
 *   return answer._tag === "Good" ? answer.value : `status ${answer.status} after ${answer.attempts} attempts`
 * })
 * ```
 */
export const deliver = Effect.fnUntraced(function* <A>(
  link: Link,
  policy: Policy,
  request: HttpClientRequest.HttpClientRequest,
  options: DeliverOptions<A>
): Effect.fn.Return<Delivered<A>, Undelivered> {
  let attempts = 0
  const sending = deliverByPolicy(link, policy, request, options, () => attempts++)
  const total = policy.totalTimeoutMillis
  if (total === null) return yield* sending
  return yield* Effect.timeoutOrElse(sending, {
    duration: total,
    orElse: () => Effect.fail(new Undelivered({ reason: timeout(total, " with all attempts"), attempts }))
  })
})
