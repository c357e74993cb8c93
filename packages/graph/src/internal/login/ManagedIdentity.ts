/**
 * Tokens of a managed identity: from the endpoint that the environment names (App Service, Container Apps), or from the one that
 * every machine of the cloud has (IMDS).
 */
import type { Link } from "@signalbox/transport/Attempts"
import { pauseAfter } from "@signalbox/transport/Policy"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { InvalidRequest, Malformed, OAuthError, own, Unavailable, Unreachable } from "../../OAuthError.ts"
import { queryString } from "../../Path.ts"
import { GraphPolicy } from "../../Policy.ts"
import { bodyOf } from "../requests/Answer.ts"
import { deliver } from "../requests/Delivery.ts"
import { operationOf } from "../requests/Operation.ts"
import { asText } from "../requests/Transport.ts"
import type { Issued } from "./RenewedTokens.ts"

/** Which identity, where there are several: by the id of its app, of its object, or of its resource. Default: that of the system. */
export interface ManagedIdentity {
  readonly clientId?: string | undefined
  readonly objectId?: string | undefined
  readonly resourceId?: string | undefined
  /** The address of the endpoint of machines. Default: `http://169.254.169.254`. */
  readonly imdsUrl?: string | undefined
}

const Seconds = Schema.Union([Schema.Finite, Schema.FiniteFromString])
const Answer = Schema.Struct({
  access_token: Schema.NonEmptyString,
  /** Seconds since 1970. */
  expires_on: Schema.optionalKey(Seconds),
  expires_in: Schema.optionalKey(Seconds)
})
const decode = Schema.decodeUnknownOption(Answer, { reportInput: false })

const Failed = Schema.Struct({
  error: Schema.optionalKey(Schema.String),
  error_description: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String)
})
const decodeFailed = Schema.decodeUnknownOption(Failed, { reportInput: false })

const imds = "http://169.254.169.254"

/** While an identity is being made or the endpoint starts, it has no address yet. */
const passing = new Set([404, 410])

const failure = (reason: OAuthError["reason"]) => new OAuthError({ reason })

/** What to ask, and where; the environment is read once. */
const requestOf = Effect.fnUntraced(function* (resource: string, identity: ManagedIdentity) {
  const endpoint = yield* Config.option(Config.String("IDENTITY_ENDPOINT"))
  const secret = yield* Config.option(Config.Redacted("IDENTITY_HEADER"))
  if (Option.isSome(endpoint) && Option.isSome(secret)) {
    const query = queryString({
      resource,
      "api-version": "2019-08-01",
      client_id: identity.clientId,
      principal_id: identity.objectId,
      mi_res_id: identity.resourceId
    })
    return HttpClientRequest.get(`${endpoint.value}${query}`, {
      headers: { "x-identity-header": Redacted.value(secret.value) }
    })
  }
  const query = queryString({
    resource,
    "api-version": "2018-02-01",
    client_id: identity.clientId,
    object_id: identity.objectId,
    msi_res_id: identity.resourceId
  })
  const base = (identity.imdsUrl ?? imds).replace(/\/+$/, "")
  return HttpClientRequest.get(`${base}/metadata/identity/oauth2/token${query}`, { headers: { metadata: "true" } })
})

/** An effect that asks for a token of the identity for a resource. */
export const askManaged = Effect.fnUntraced(function* (
  link: Link,
  resource: string,
  identity: ManagedIdentity
): Effect.fn.Return<Effect.Effect<Issued, OAuthError>, Config.ConfigError> {
  const request = yield* requestOf(resource, identity)
  const none = "no managed identity is here: the program does not run on a machine of the cloud, or has no identity"
  const ask = (attempt: number): Effect.Effect<Issued, OAuthError> =>
    Effect.gen(function* () {
      const policy = yield* GraphPolicy
      const answer = yield* deliver(link, request, {
        called: { operation: yield* operationOf("Credentials.tokens"), path: new URL(request.url).pathname },
        repeatable: true,
        timed: true,
        read: asText
      }).pipe(Effect.mapError(({ reason }) => failure(new Unreachable(own(`${none} (${reason.message})`)))))
      if (answer._tag === "Bad") {
        if (passing.has(answer.status) && attempt < policy.attempts) {
          yield* Effect.sleep(yield* pauseAfter(policy, attempt))
          return yield* ask(attempt + 1)
        }
        const said = Option.getOrUndefined(decodeFailed(bodyOf(answer.text)))
        const why = said?.error_description ?? said?.message ?? `it answered ${answer.status}`
        const details = {
          ...own(`the managed identity gave no token: ${why.slice(0, 500)}`),
          error: said?.error ?? null
        }
        return yield* failure(
          answer.status >= 500 || answer.status === 429 ? new Unavailable(details) : new InvalidRequest(details)
        )
      }
      const issued = Option.getOrUndefined(decode(bodyOf(answer.value)))
      if (issued === undefined) return yield* failure(new Malformed(own("the managed identity's answer has no token")))
      const { access_token, expires_in, expires_on } = issued
      const now = yield* Clock.currentTimeMillis
      const expiresAt = expires_on === undefined ? now + (expires_in ?? 0) * 1000 : expires_on * 1000
      return { token: Redacted.make(access_token), expiresAt }
    })
  return ask(1)
})
