/**
 * Sends one request until it is answered, as this service wants it. The API and the identity provider are both reached
 * through here.
 */
import * as Attempts from "@signalbox/transport/Attempts"
import { debugListeners } from "@signalbox/transport/DebugLines"
import { audience, checkListeners, type Listeners, silent } from "@signalbox/transport/Events"
import { checkPolicy } from "@signalbox/transport/Policy"
import type { Acted } from "@signalbox/transport/NoResponse"
import * as Gate from "@signalbox/transport/Gate"
import { type NoResponse, noResponse } from "@signalbox/transport/NoResponse"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Reasons from "../../GraphError.ts"
import { GraphPolicy } from "../../Policy.ts"

/** The service is busy, as a whole or for this app: these statuses pause all calls. */
const pausing = new Set([429, 503, 509])

/** A 507 persists until space is freed. A 503 with `Retry-After` says that nothing was done. */
export const acted = (status: number, retryAfter: number | null): Acted | null => {
  if (status === 507) return null
  return status === 503 && retryAfter !== null ? "no" : Attempts.actedOn(status)
}

/** Calls in one batch: the service takes no more. */
export const mostParts = 20

/**
 * The way to a service over the HTTP client at hand, with the listeners of its connection. Before any answer as many calls go as a batch
 * has, which `collect` makes one of. `of` names what has the listeners, in errors.
 */
export const linkOf = Effect.fnUntraced(function* (of: string, on: Listeners | undefined) {
  checkListeners(of, on ?? silent)
  const link: Attempts.Link = {
    client: yield* HttpClient.HttpClient,
    gate: Gate.make(mostParts),
    acted,
    pausing,
    audience: audience(on, yield* debugListeners)
  }
  return link
})

export interface DeliverOptions<A> {
  readonly called: Attempts.Called
  /** It may be sent again although the service may have acted on it. */
  readonly repeatable: boolean
  /** Each attempt has the time limit of the policy. */
  readonly timed: boolean
  /** Reads a response below 400 as a part of the attempt: one that breaks off counts as none. */
  readonly read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, HttpClientError.HttpClientError>
}

/**
 * Sends a request by the current policy. Redirects are not followed, and the HTTP client makes no spans: its addresses may
 * be secrets.
 */
export const deliver = Effect.fnUntraced(function* <A>(
  link: Attempts.Link,
  request: HttpClientRequest.HttpClientRequest,
  { called, read, repeatable, timed }: DeliverOptions<A>
): Effect.fn.Return<Attempts.Delivered<A>, Attempts.Undelivered> {
  const options = { called, read, timed, repeatable: () => repeatable }
  const policy = yield* GraphPolicy
  checkPolicy("GraphPolicy", policy)
  return yield* Attempts.deliver(link, policy, request, options).pipe(
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
  )
})

/** Why there is no answer, as a reason of the call. */
export const reasonOfNoResponse = (
  reason: NoResponse
): Reasons.Timeout | Reasons.Unreachable | Reasons.InvalidRequest => {
  const details = { codes: [], message: reason.message }
  switch (reason._tag) {
    case "Timeout":
      return new Reasons.Timeout({ ...details, afterMillis: reason.afterMillis })
    case "Unreachable":
      return new Reasons.Unreachable({ ...details, sent: reason.sent })
    case "Unsendable":
      return new Reasons.InvalidRequest(details)
  }
}

/** Why a body that is being streamed broke off; null: it ended before it was whole. */
export const brokenOff = Effect.fnUntraced(function* (error: HttpClientError.HttpClientError | null) {
  return error === null
    ? new Reasons.Unreachable({ codes: [], message: "the download broke off", sent: "maybe" })
    : reasonOfNoResponse(noResponse(error, (yield* GraphPolicy).idleTimeoutMillis))
})
