/**
 * Sends one request until it gets a response: attempts, pauses, time limits. Does not know credentials, nor what the
 * responses of a service mean beyond whether it acted.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { Audience } from "./Events.ts"
import type { Gate } from "./Gate.ts"
import { IdleLimit } from "./IdleLimit.ts"
import { telling } from "./internal/events/Telling.ts"
import { isTraced } from "./internal/events/Traced.ts"
import * as Watch from "./internal/events/Watch.ts"
import { type NoResponse, noResponse, timeout, type Acted } from "./NoResponse.ts"
import { pauseAfter, type Policy } from "./Policy.ts"
import { type Headers, retryAfterMillis } from "./RetryAfter.ts"

/** Statuses below 500 after which the same request may succeed later. */
const passing: Readonly<Record<number, Acted>> = { 408: "maybe", 425: "no", 429: "no" }
/** The service does not have the operation, or does not speak this HTTP; any other 5xx may be transient. */
const permanent: ReadonlySet<number> = new Set([501, 505])

/**
 * Returns whether the service may have acted on a request that got this status; null when a retry would get the same.
 */
export const actedOn = (status: number): Acted | null =>
  passing[status] ?? (status >= 500 && !permanent.has(status) ? "maybe" : null)

/** Whether a failed request may be sent again; `repeatable`: also when the service may have acted on it. */
export const mayRepeat = (acted: Acted | null, repeatable: boolean): boolean =>
  acted === "no" || (acted === "maybe" && repeatable)

/**
 * The connection to a service: an HTTP client, the gate that its calls pass, and what the statuses of this service
 * mean.
 */
export interface Link {
  readonly client: HttpClient.HttpClient
  readonly gate: Gate
  /** Like `actedOn`; `retryAfter` is the time that the response names, in milliseconds. */
  readonly acted: (status: number, retryAfter: number | null) => Acted | null
  /** Statuses that pause all calls over this link, not only the one that received it. */
  readonly pausing: ReadonlySet<number>
  /** Who is told of requests, responses, retries and pauses, besides `ClientEvents`. */
  readonly audience?: Audience | undefined
}

/** What people read of a request. */
export type { Called } from "./internal/events/Watch.ts"

export interface DeliverOptions<A> {
  /** What events say of the request; without it there are none. */
  readonly called?: Watch.Called | undefined
  /** Whether it may be sent again although the service may have acted on it. Called before each further attempt. */
  readonly repeatable: () => boolean
  /** Each attempt has the time limit of the policy; else it has the idle limit. */
  readonly timed: boolean
  /** Reads a response below 400, as part of the attempt: a response that is cut off counts as none. */
  readonly read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, HttpClientError.HttpClientError>
  /** Called with each response, before its body is read. */
  readonly onResponse?: (status: number, headers: Headers) => void
}

/**
 * A response: below 400 as `read` returned it, else with its text and the wait it asks for (in milliseconds, null:
 * none).
 */
export type Received<A> =
  | { readonly _tag: "Good"; readonly status: number; readonly headers: Headers; readonly value: A }
  | {
      readonly _tag: "Bad"
      readonly status: number
      readonly headers: Headers
      readonly text: string
      readonly retryAfterMillis: number | null
    }

/** No attempt of the request got a response. */
export class Undelivered extends Data.TaggedError("Undelivered")<{
  readonly reason: NoResponse
  readonly attempts: number
}> {
  override get message(): string {
    return this.reason.message
  }
}

/** What events say of an answer. */
const outcomeOf = (answer: Received<unknown> | NoResponse): Watch.Outcome =>
  answer._tag === "Good" || answer._tag === "Bad" ? answer : { status: null, problem: answer.message }

/** The response, and the number of attempts. */
export type Delivered<A> = Received<A> & { readonly attempts: number }

const attemptOnce = Effect.fnUntraced(function* <A>(
  { client, gate }: Link,
  mostMillis: number,
  request: HttpClientRequest.HttpClientRequest,
  options: DeliverOptions<A>,
  number: number
): Effect.fn.Return<Received<A>, HttpClientError.HttpClientError> {
  const response = yield* client.execute(request)
  const { headers, status } = response
  const now = yield* Clock.currentTimeMillis
  gate.learn(number, headers, now, mostMillis)
  options.onResponse?.(status, headers)
  if (status < 400) return { _tag: "Good", status, headers, value: yield* options.read(response) }
  const text = yield* Effect.orElseSucceed(response.text, () => "")
  return { _tag: "Bad", status, headers, text, retryAfterMillis: retryAfterMillis(headers, now) }
})

/**
 * Sends a request by a policy and returns the last response, whatever its status. Fails with `Undelivered` when there
 * was none.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 * import * as HttpClientRequest from "effect/http/HttpClientRequest"
 * import { actedOn, deliver } from "@signalbox/transport/Attempts"
 * import * as Gate from "@signalbox/transport/Gate"
 * import type { Policy } from "@signalbox/transport/Policy"
 *
 * export const titleOf = Effect.fn("titleOf")(function* (
 *   url: string,
 *   policy: Policy
 * ) {
 *   const link = {
 *     client: yield* HttpClient.HttpClient,
 *     gate: Gate.make(),
 *     acted: actedOn,
 *     pausing: new Set([429])
 *   }
 *   const answer = yield* deliver(link, policy, HttpClientRequest.get(url), {
 *     repeatable: () => true,
 *     timed: true,
 *     called: { operation: "titleOf", path: new URL(url).pathname },
 *     read: (response) => response.text
 *   })
 *   return answer._tag === "Good"
 *     ? answer.value
 *     : `status ${answer.status} after ${answer.attempts} attempts`
 * })
 * ```
 */
export const deliver = Effect.fnUntraced(function* <A>(
  link: Link,
  policy: Policy,
  request: HttpClientRequest.HttpClientRequest,
  options: DeliverOptions<A>
): Effect.fn.Return<Delivered<A>, Undelivered> {
  const { attemptTimeoutMillis, maxRetryAfterMillis, totalTimeoutMillis } = policy
  const idle = options.timed ? null : policy.idleTimeoutMillis
  let attempts = 0
  const { called } = options
  const tell = called === undefined ? null : yield* telling(link.audience)
  const watch = tell === null || called === undefined ? null : Watch.make(tell, request.method, called)
  const limited = Context.make(IdleLimit, idle)
  // A span of each attempt costs as much as the rest of the call.
  const services = (yield* isTraced) ? limited : Context.add(limited, HttpClient.TracerDisabledWhen, () => true)

  const tooLate = Effect.as(Effect.sleep(attemptTimeoutMillis), timeout(attemptTimeoutMillis, "whole response"))
  const sending = Effect.gen(function* (): Effect.fn.Return<Delivered<A>, Undelivered> {
    for (;;) {
      const number = yield* watch === null ? link.gate.admit : link.gate.admitTelling(watch.waits)
      attempts++
      if (watch !== null) yield* watch.begins
      const once: Effect.Effect<Received<A> | NoResponse> = attemptOnce(
        link,
        maxRetryAfterMillis,
        request,
        options,
        number
      ).pipe(
        Effect.catch((error) => Effect.as(link.gate.lost, noResponse(error, idle))),
        Effect.provideContext(services)
      )
      const answer = yield* options.timed ? Effect.raceFirst(once, tooLate) : once
      if (watch !== null) yield* watch.ends(outcomeOf(answer))
      if (answer._tag === "Good") return { ...answer, attempts }
      const isBad = answer._tag === "Bad"
      const hint = isBad ? answer.retryAfterMillis : null
      const acted = isBad ? link.acted(answer.status, hint) : answer.acted
      const pause = hint ?? (yield* pauseAfter(policy, attempts))
      const tooLong = hint !== null && hint > maxRetryAfterMillis
      const asked = isBad && link.pausing.has(answer.status)
      if (asked && !tooLong) yield* link.gate.pause(pause)
      if (attempts >= policy.attempts || tooLong || !mayRepeat(acted, options.repeatable())) {
        return isBad ? { ...answer, attempts } : yield* new Undelivered({ reason: answer, attempts })
      }
      if (watch !== null) yield* watch.pauses(outcomeOf(answer), pause, asked ? "rateLimit" : "failure")
      yield* Effect.sleep(pause)
    }
  })

  if (totalTimeoutMillis === null) return yield* sending
  return yield* Effect.timeoutOrElse(sending, {
    duration: totalTimeoutMillis,
    orElse: () => {
      const reason = timeout(totalTimeoutMillis, "whole response with all attempts")
      const failure = Effect.fail(new Undelivered({ reason, attempts }))
      return watch === null ? failure : Effect.andThen(watch.cut(reason.message), failure)
    }
  })
})
