/**
 * The first half of the authorization code flow: the address that a person opens, and what is in the one that they come back
 * with.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { randomBytesUnsafe } from "effect/crypto/SecureRandom"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Base64Url from "effect/encoding/Base64Url"
import { OAuthError, own, type Reason } from "../../OAuthError.ts"
import * as Reasons from "../../OAuthError.ts"
import { reasonOfAnswer } from "./TokenEndpoint.ts"

/**
 * What must be stored between the two halves, as JSON through this schema: in the session of the user, or in memory. The verifier
 * is a secret.
 */
export const PendingAuthorization = Schema.Struct({
  state: Schema.String,
  codeVerifier: Schema.RedactedFromValue(Schema.String),
  redirectUri: Schema.String
})
export interface PendingAuthorization extends Schema.Schema.Type<typeof PendingAuthorization> {}

const random = () => Base64Url.encode(randomBytesUnsafe(32))

/** Creates a random state and verifier. */
export const begin = (redirectUri: string): Effect.Effect<PendingAuthorization> =>
  Effect.sync(() => ({ state: random(), codeVerifier: Redacted.make(random()), redirectUri }))

/** What the identity provider is shown of the verifier. */
export const challengeOf = Effect.fnUntraced(function* (pending: PendingAuthorization) {
  const crypto = yield* WebCrypto
  const verifier = new TextEncoder().encode(Redacted.value(pending.codeVerifier))
  const hash = yield* Effect.promise(() => crypto.subtle.digest("SHA-256", verifier))
  return Base64Url.encode(new Uint8Array(hash))
})

const fail = (reason: Reason) => Effect.fail(new OAuthError({ reason }))

/** The parameters of a pasted address, of its query or of its fragment. */
const parametersOf = (pasted: string): URLSearchParams => {
  const text = pasted.trim()
  const query = new URLSearchParams(text.includes("?") ? text.slice(text.indexOf("?") + 1).split("#")[0] : "")
  if (query.size > 0) return query
  return new URLSearchParams(text.includes("#") ? text.slice(text.indexOf("#") + 1) : text)
}

/** The parameters of an address with an answer of the identity provider. */
const answerIn = (pasted: string): Effect.Effect<URLSearchParams, OAuthError> => {
  const parameters = parametersOf(pasted)
  return parameters.has("code") || parameters.has("error")
    ? Effect.succeed(parameters)
    : fail(new Reasons.InvalidRequest(own("paste the whole address that the browser shows after signing in")))
}

/** The state in the address that the user came back with; empty if it has none, as no authorization has. */
export const stateOf = (pasted: string): Effect.Effect<string, OAuthError> =>
  Effect.map(answerIn(pasted), (parameters) => parameters.get("state") ?? "")

/** The code in the address that the user came back with, after its state was checked. */
export const codeOf = Effect.fnUntraced(function* (
  pasted: string,
  pending: PendingAuthorization
): Effect.fn.Return<Redacted.Redacted, OAuthError> {
  const parameters = yield* answerIn(pasted)
  const code = parameters.get("code") ?? ""
  const error = parameters.get("error")
  if (parameters.get("state") !== pending.state) {
    return yield* fail(
      new Reasons.StateMismatch(
        own("this address belongs to another authorization: start again and use its new address")
      )
    )
  }
  if (error === null) return Redacted.make(code)
  const description = parameters.get("error_description")
  return yield* fail(reasonOfAnswer({ error, ...defined({ error_description: description ?? undefined }) }, [code]))
})
