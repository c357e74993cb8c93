/**
 * Verifies that a delivery comes from the service, and signs deliveries for tests. Both schemes: `x-rc-signature`, and
 * the three headers of Standard Webhooks. Works on the raw body: parsing and stringifying it breaks the signature.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { check, type Rule } from "@signalbox/transport/OptionError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import {
  bytesOf,
  type Delivery,
  problemOf,
  type Scheme,
  standardContent,
  standardKey,
  tagOf,
  webhookHeaders
} from "./contract/WebhookSigning.ts"
import { eventOf } from "./internal/process/DeliveredEvent.ts"

export type { WebhookEvent } from "./contract/WebhookEvents.ts"
export type { Delivery } from "./contract/WebhookSigning.ts"
export { UnreadableEvent } from "./internal/process/DeliveredEvent.ts"

/** A delivery that must not be trusted. */
export class InvalidSignature extends TaggedError<InvalidSignature>()("InvalidSignature", {
  /** `missing`, `malformed`, `expired` or `mismatch`: not signed with this secret, or changed in transit. */
  reason: Schema.Literals(["missing", "malformed", "expired", "mismatch"]),
  message: Schema.String
}) {}

type Secret = string | Redacted.Redacted

/** A delivery, and with what it is verified. */
export interface VerifyOptions extends Delivery, Scheme {
  /** The secret of the webhook or of the callback; several while it is rotated. */
  readonly secret: Secret | ReadonlyArray<Secret>
}

const reveal = (secret: Secret) => (typeof secret === "string" ? secret : Redacted.value(secret))

/** By NaN every delivery would be in time. */
const seconds: Rule = (value) =>
  typeof value === "number" && value >= 0 ? null : "expected a number of seconds of 0 or more, or Infinity"

/**
 * Fails with `InvalidSignature` unless the delivery was signed with the secret, recently, and is unchanged.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import type * as Redacted from "effect/Redacted"
 * import * as WebhookSignature from "@signalbox/api/WebhookSignature"
 *
 * export const isGenuine = (request: Request, secret: Redacted.Redacted) =>
 *   Effect.promise(() => request.bytes()).pipe(
 *     Effect.flatMap((body) =>
 *       WebhookSignature.verify({ headers: request.headers, body, secret })
 *     ),
 *     Effect.isSuccess
 *   )
 * ```
 */
export const verify = Effect.fn("WebhookSignature.verify")(function* (
  options: VerifyOptions
): Effect.fn.Return<void, InvalidSignature> {
  check("verify", options, { toleranceSeconds: seconds })
  const given = options.secret
  const secrets = typeof given === "string" || Redacted.isRedacted(given) ? [given] : given
  const now = yield* Clock.currentTimeMillis
  const problem = yield* Effect.promise(() => problemOf(options, secrets.map(reveal), now))
  if (problem !== null) return yield* new InvalidSignature(problem)
})

/** Like `verify`, and returns the event. The same event may arrive more than once, with the same `id`. */
export const receive = Effect.fn("WebhookSignature.receive")(function* (options: VerifyOptions) {
  yield* verify(options)
  return yield* eventOf(options.body)
})

/** Returns the headers that the service sends with a body, for tests of a receiver. Fails for an empty secret. */
export const sign = Effect.fn("WebhookSignature.sign")(function* (options: {
  readonly body: Uint8Array | string
  readonly secret: Secret
  /** The `id` of the event. */
  readonly id: string
  /** Seconds since 1970; default: now. */
  readonly timestamp?: number
}): Effect.fn.Return<Record<(typeof webhookHeaders)[keyof typeof webhookHeaders], string>, InvalidSignature> {
  const secret = reveal(options.secret)
  if (secret === "") return yield* new InvalidSignature({ reason: "malformed", message: "the secret is empty" })
  const body = bytesOf(options.body)
  const timestamp = String(options.timestamp ?? Math.floor((yield* Clock.currentTimeMillis) / 1000))
  const content = standardContent(options.id, timestamp, body)
  const [rc, standard] = yield* Effect.promise(() =>
    Promise.all([tagOf(new TextEncoder().encode(secret), body), tagOf(standardKey(secret), content)])
  )
  return {
    [webhookHeaders.rcSignature]: Hex.encode(rc),
    [webhookHeaders.id]: options.id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: `v1,${Base64.encode(standard)}`
  }
})
