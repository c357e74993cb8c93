/**
 * Verifies that a delivery comes from the service, and signs deliveries for tests. Both schemes: `x-rc-signature`, and
 * the three headers of Standard Webhooks. Works on the raw body: parsing and stringifying it breaks the signature.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { check, type Rule } from "@signalbox/transport/OptionError"
import * as Clock from "effect/Clock"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { standardContent, standardKey, WebhookEvent, webhookHeaders } from "./contract/WebhookEvents.ts"

export type { WebhookEvent } from "./contract/WebhookEvents.ts"

/** A delivery that must not be trusted. */
export class InvalidSignature extends TaggedError<InvalidSignature>()("InvalidSignature", {
  /**
   * `missing`: a header is missing; `malformed`: a header cannot be parsed; `expired`: sent too long ago, or in the
   * future; `mismatch`: not signed with this secret, or changed in transit.
   */
  reason: Schema.Literals(["missing", "malformed", "expired", "mismatch"]),
  message: Schema.String
}) {}

/** A genuine delivery whose body is not an event that this version knows. */
export class UnreadableEvent extends TaggedError<UnreadableEvent>()("UnreadableEvent", {
  message: Schema.String
}) {}

type Secret = string | Redacted.Redacted

export interface Delivery {
  /** The headers of the request: a `Headers`, or a record with names in any case. */
  readonly headers: Headers | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The raw body, unchanged. */
  readonly body: Uint8Array | string
}

export interface VerifyOptions extends Delivery {
  /** The secret of the webhook or of the callback; several while it is rotated. */
  readonly secret: Secret | ReadonlyArray<Secret>
  /**
   * How much the time of a delivery may differ from now, in seconds; default 300. Does not apply to `x-rc-signature`
   * alone.
   */
  readonly toleranceSeconds?: number
  /**
   * The required scheme. Default: Standard Webhooks when its signature is present, else `x-rc-signature`, which does
   * not cover the time, so that an old delivery could be replayed. Our service always sends both: then require
   * `standard`.
   */
  readonly scheme?: "standard" | "rc"
}

const bytesOf = (body: Uint8Array | string) => (typeof body === "string" ? new TextEncoder().encode(body) : body)

const reveal = (secret: Secret) => (typeof secret === "string" ? secret : Redacted.value(secret))

const headerOf = (headers: Delivery["headers"], name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === "string" || found === undefined ? found : found[0]
}

const invalid = (reason: InvalidSignature["reason"], message: string) => new InvalidSignature({ reason, message })

const required = (headers: Delivery["headers"], name: string) => {
  const value = headerOf(headers, name)
  return value === undefined ? Effect.fail(invalid("missing", `the header ${name} is missing`)) : Effect.succeed(value)
}

const layerMac = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))

/** The tag of the content. HMAC-SHA256 fails only for an empty key, which callers have refused. */
const tagOf = Effect.fnUntraced(function* (bytes: Uint8Array, content: Uint8Array) {
  return yield* (yield* Mac.Mac).sign(yield* Mac.key(Mac.hmacSha256, bytes), content)
}, Effect.orDie)

/** Whether one of the tags is that of the content under one of the keys, in constant time for each. */
const anyMatches = Effect.fnUntraced(function* (
  keys: ReadonlyArray<Uint8Array>,
  tags: ReadonlyArray<Uint8Array>,
  content: Uint8Array
) {
  const mac = yield* Mac.Mac
  for (const bytes of keys) {
    const key = yield* Mac.key(Mac.hmacSha256, bytes)
    for (const tag of tags) {
      if (yield* mac.verify(key, tag, content)) return true
    }
  }
  return false
}, Effect.orDie)

/** By NaN every delivery would be in time. */
const seconds: Rule = (value) =>
  typeof value === "number" && value >= 0 ? null : "expected a number of seconds of 0 or more, or Infinity"

const mismatch = () => invalid("mismatch", "the signature does not match this body and secret")

const verifyStandard = Effect.fnUntraced(function* (
  options: VerifyOptions,
  secrets: ReadonlyArray<string>,
  body: Uint8Array
) {
  const id = yield* required(options.headers, webhookHeaders.id)
  const timestamp = yield* required(options.headers, webhookHeaders.timestamp)
  const signatures = yield* required(options.headers, webhookHeaders.signature)
  if (!/^\d{1,12}$/.test(timestamp)) {
    return yield* invalid("malformed", `the header ${webhookHeaders.timestamp} is not a time in seconds`)
  }
  const seconds = (yield* Clock.currentTimeMillis) / 1000
  const tolerance = options.toleranceSeconds ?? 300
  if (Math.abs(seconds - Number(timestamp)) > tolerance) {
    return yield* invalid("expired", `the delivery is not from within ${tolerance} seconds of now`)
  }
  // Versions other than v1 are ignored.
  const tags = signatures.split(" ").flatMap((signature) => {
    const tag = signature.startsWith("v1,") ? Base64.decode(signature.slice(3)) : undefined
    return tag !== undefined && Result.isSuccess(tag) ? [tag.success] : []
  })
  if (tags.length === 0) {
    return yield* invalid("malformed", `the header ${webhookHeaders.signature} has no signature of the version v1`)
  }
  const content = standardContent(id, timestamp, body)
  if (!(yield* anyMatches(secrets.map(standardKey), tags, content))) return yield* mismatch()
})

const verifyRc = Effect.fnUntraced(function* (
  options: VerifyOptions,
  secrets: ReadonlyArray<string>,
  body: Uint8Array
) {
  const tag = Hex.decode(yield* required(options.headers, webhookHeaders.rcSignature))
  if (Result.isFailure(tag)) {
    return yield* invalid("malformed", `the header ${webhookHeaders.rcSignature} is not in hex`)
  }
  const keys = secrets.map((secret) => new TextEncoder().encode(secret))
  if (!(yield* anyMatches(keys, [tag.success], body))) return yield* mismatch()
})

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
): Effect.fn.Return<void, InvalidSignature, Mac.Mac> {
  check("verify", options, { toleranceSeconds: seconds })
  const given = options.secret
  const secrets = (typeof given === "string" || Redacted.isRedacted(given) ? [given] : given)
    .map(reveal)
    .filter((secret) => secret !== "")
  const body = bytesOf(options.body)
  const standard =
    options.scheme === undefined
      ? headerOf(options.headers, webhookHeaders.signature) !== undefined
      : options.scheme === "standard"
  yield* standard ? verifyStandard(options, secrets, body) : verifyRc(options, secrets, body)
}, Effect.provide(layerMac))

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.toCodecJson(WebhookEvent)))

/** Like `verify`, and returns the event. The same event may arrive more than once, with the same `id`. */
export const receive = Effect.fn("WebhookSignature.receive")(function* (options: VerifyOptions) {
  yield* verify(options)
  return yield* Effect.mapError(
    decodeEvent(new TextDecoder().decode(bytesOf(options.body))),
    () => new UnreadableEvent({ message: "the body is not an event of a process run" })
  )
})

/** Returns the headers that the service sends with a body, for tests of a receiver. Fails for an empty secret. */
export const sign = Effect.fn("WebhookSignature.sign")(function* (options: {
  readonly body: Uint8Array | string
  readonly secret: Secret
  /** The `id` of the event. */
  readonly id: string
  /** Seconds since 1970; default: now. */
  readonly timestamp?: number
}): Effect.fn.Return<Record<(typeof webhookHeaders)[keyof typeof webhookHeaders], string>, InvalidSignature, Mac.Mac> {
  const secret = reveal(options.secret)
  if (secret === "") return yield* invalid("malformed", "the secret is empty")
  const body = bytesOf(options.body)
  const timestamp = String(options.timestamp ?? Math.floor((yield* Clock.currentTimeMillis) / 1000))
  const rc = yield* tagOf(new TextEncoder().encode(secret), body)
  const content = standardContent(options.id, timestamp, body)
  const standard = yield* tagOf(standardKey(secret), content)
  return {
    [webhookHeaders.rcSignature]: Hex.encode(rc),
    [webhookHeaders.id]: options.id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: `v1,${Base64.encode(standard)}`
  }
}, Effect.provide(layerMac))
