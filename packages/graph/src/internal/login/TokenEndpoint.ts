/**
 * Requests to the identity provider: forms out, tokens or an `OAuthError` back.
 */
import type { Link } from "@signalbox/transport/Attempts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { OAuthError, own, type Reason } from "../../OAuthError.ts"
import * as Reasons from "../../OAuthError.ts"
import type { Tokens } from "../../Tokens.ts"
import { bodyOf } from "../requests/Answer.ts"
import { deliver } from "../requests/Delivery.ts"
import { operationOf } from "../requests/Operation.ts"
import { asText } from "../requests/Transport.ts"

/** The details of a request; those that are redacted never show in an error. */
export type Form = Readonly<Record<string, string | Redacted.Redacted | undefined>>

const ErrorAnswer = Schema.Struct({
  error: Schema.String,
  error_description: Schema.optionalKey(Schema.String),
  error_codes: Schema.optionalKey(Schema.Array(Schema.Finite)),
  correlation_id: Schema.optionalKey(Schema.String),
  trace_id: Schema.optionalKey(Schema.String)
})
export interface ErrorAnswer extends Schema.Schema.Type<typeof ErrorAnswer> {}

const Seconds = Schema.Union([Schema.Finite, Schema.FiniteFromString])

const TokenAnswer = Schema.Struct({
  access_token: Schema.NonEmptyString,
  refresh_token: Schema.optionalKey(Schema.String),
  expires_in: Seconds,
  scope: Schema.optionalKey(Schema.String)
})

const decodeError = Schema.decodeUnknownOption(ErrorAnswer, { reportInput: false })
const decodeTokens = Schema.decodeUnknownOption(TokenAnswer, { reportInput: false })

const interaction = (details: Reasons.Details) => new Reasons.InteractionRequired(details)
const client = (details: Reasons.Details) => new Reasons.InvalidClient(details)
const denied = (details: Reasons.Details) => new Reasons.AccessDenied(details)
const down = (details: Reasons.Details) => new Reasons.Unavailable(details)

const byError: Readonly<Record<string, (details: Reasons.Details) => Reason>> = {
  invalid_grant: (details) => new Reasons.InvalidGrant(details),
  invalid_client: client,
  unauthorized_client: client,
  access_denied: denied,
  authorization_declined: denied,
  interaction_required: interaction,
  consent_required: interaction,
  login_required: interaction,
  expired_token: (details) => new Reasons.Expired(details),
  code_expired: (details) => new Reasons.Expired(details),
  temporarily_unavailable: down,
  server_error: down
}

/** What helps with the faults that people meet when they set an app up. */
const hints: Readonly<Record<number, string>> = {
  50011: "register exactly this redirect URI with the app",
  54005: "the code was used already: authorize again",
  65001: "a user or an administrator must consent to the scopes first",
  70008: "it expired: authorize again",
  700025: "this redirect URI belongs to a public client: register it under the platform Web, or leave the secret out",
  700082: "it was not used for too long: authorize again",
  7000215: "use the secret's value, not its id",
  7000222: "the secret expired: make a new one",
  90002: "the tenant does not exist"
}

/** Converts an error response to a reason, without the texts in `secrets`. */
export const reasonOfAnswer = (answer: ErrorAnswer, secrets: ReadonlyArray<string>): Reason => {
  const described = (answer.error_description ?? answer.error).split(/[\r\n]/)[0] ?? answer.error
  const clean = secrets.reduce(
    (text, secret) => (secret === "" ? text : text.replaceAll(secret, "<redacted>")),
    described
  )
  const numbers = answer.error_codes ?? [...described.matchAll(/\bAADSTS(\d+)/g)].map((found) => Number(found[1]))
  const hint = numbers.map((number) => hints[number]).find((text) => text !== undefined)
  const details: Reasons.Details = {
    message: `${clean.slice(0, 500)}${hint === undefined ? "" : ` (${hint})`}`,
    error: answer.error,
    numbers,
    correlationId: answer.correlation_id ?? null,
    traceId: answer.trace_id ?? null
  }
  const make = Object.hasOwn(byError, answer.error) ? byError[answer.error] : undefined
  return make === undefined ? new Reasons.InvalidRequest(details) : make(details)
}

const text = (value: string | Redacted.Redacted): string => (Redacted.isRedacted(value) ? Redacted.value(value) : value)

/** Sends a form to a path of the identity provider; returns the body of a successful response. */
export const postForm = Effect.fnUntraced(function* (
  link: Link,
  url: string,
  form: Form,
  repeatable: boolean
): Effect.fn.Return<unknown, OAuthError> {
  const fail = (reason: Reason) => new OAuthError({ reason })
  const pairs = Object.entries(form).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, text(value)] as const]
  )
  const secrets = Object.values(form).flatMap((value) => (Redacted.isRedacted(value) ? [Redacted.value(value)] : []))
  const request = HttpClientRequest.post(url, {
    headers: { accept: "application/json" },
    body: HttpBody.text(new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString(), formType)
  })
  const answer = yield* deliver(link, request, {
    called: { operation: yield* operationOf("OAuth.tokens"), path: new URL(url).pathname },
    repeatable,
    timed: true,
    read: asText
  }).pipe(
    Effect.mapError(({ reason }) =>
      fail(new Reasons.Unreachable(own(`the identity provider did not answer: ${reason.message}`)))
    )
  )
  if (answer._tag === "Good") return bodyOf(answer.value)
  const error = decodeError(bodyOf(answer.text))
  if (Option.isSome(error)) return yield* fail(reasonOfAnswer(error.value, secrets))
  const message = `the identity provider answered ${answer.status}`
  const overloaded = answer.status >= 500 || answer.status === 429
  return yield* fail(overloaded ? new Reasons.Unavailable(own(message)) : new Reasons.Malformed(own(message)))
})

const formType = "application/x-www-form-urlencoded"

/** `postForm` to where tokens come from. `previous`: the refresh token that stays when no new one comes. */
export const postForTokens = Effect.fnUntraced(function* (
  link: Link,
  url: string,
  form: Form,
  options: { readonly repeatable: boolean; readonly previous: Redacted.Redacted | null }
): Effect.fn.Return<Tokens, OAuthError> {
  const body = yield* postForm(link, url, form, options.repeatable)
  const answer = decodeTokens(body)
  if (Option.isNone(answer)) {
    return yield* new OAuthError({ reason: new Reasons.Malformed(own("the identity provider's answer has no tokens")) })
  }
  const { access_token, expires_in, refresh_token, scope } = answer.value
  return {
    accessToken: Redacted.make(access_token),
    refreshToken: refresh_token === undefined ? options.previous : Redacted.make(refresh_token),
    expiresAt: (yield* Clock.currentTimeMillis) + expires_in * 1000,
    scopes: (scope ?? "").split(" ").filter((name) => name !== "")
  }
})
