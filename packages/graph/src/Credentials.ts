/**
 * Access tokens of an app itself, without a person: by secret, certificate, workload identity, managed identity, or whatever
 * credential the program has. Each is a layer of `AccessTokens`; nothing is stored.
 */
import type { Listeners } from "@signalbox/transport/Events"
import { check, text } from "@signalbox/transport/OptionError"
import type { Link } from "@signalbox/transport/Attempts"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as HttpClient from "effect/http/HttpClient"
import { AccessTokens } from "./AccessTokens.ts"
import { type Cloud, endpoints, locate, type Place, placeRules } from "./Cloud.ts"
import { linkOf } from "./internal/requests/Delivery.ts"
import { type Certificate, signer } from "./internal/login/ClientAssertion.ts"
import { askManaged, type ManagedIdentity } from "./internal/login/ManagedIdentity.ts"
import { type Issued, renewed } from "./internal/login/RenewedTokens.ts"
import { type Form, postForTokens } from "./internal/login/TokenEndpoint.ts"
import { InvalidClient, Malformed, OAuthError, own, Unavailable } from "./OAuthError.ts"

export type { Certificate } from "./internal/login/ClientAssertion.ts"
export type { ManagedIdentity } from "./internal/login/ManagedIdentity.ts"

/** How tokens are asked for. */
export interface Asking {
  /** Functions that are called with each request for a token, with its response, retries and pauses. */
  readonly on?: Listeners | undefined
}

/** An app in its tenant. */
export interface App extends Place, Asking {
  readonly clientId: string
  /** The tenant's id or domain. */
  readonly tenant: string
}

const audienceOf = (cloud: Cloud | undefined): string => endpoints[cloud ?? "global"].graph
const tokenUrlOf = (app: App): string => `${locate(app).login}/${encodeURIComponent(app.tenant)}/oauth2/v2.0/token`
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** Asks the identity provider by what proves that the app is itself. */
const asApp = (link: Link, app: App, proof: Effect.Effect<Form, OAuthError>): Effect.Effect<Issued, OAuthError> =>
  Effect.gen(function* () {
    const form = {
      client_id: app.clientId,
      grant_type: "client_credentials",
      scope: `${audienceOf(app.cloud)}/.default`,
      ...(yield* proof)
    }
    const tokens = yield* postForTokens(link, tokenUrlOf(app), form, { repeatable: true, previous: null })
    const { accessToken: token, expiresAt } = tokens
    return token === null
      ? yield* new OAuthError({ reason: new Malformed(own("the identity provider gave no access token")) })
      : { token, expiresAt }
  })

const checkApp = (of: string, app: App) => check(of, app, { clientId: text, tenant: text, ...placeRules })

const link = ({ on }: Asking) => linkOf("Credentials", on)

const layerOf = <E, R>(make: Effect.Effect<Effect.Effect<Issued, OAuthError>, E, R>): Layer.Layer<AccessTokens, E, R> =>
  Layer.effect(AccessTokens, Effect.flatMap(make, renewed))

/**
 * By a secret.
 *
 * ```ts
 * import * as Credentials from "@signalbox/graph/Credentials"
 * import * as Redacted from "effect/Redacted"
 *
 * export const tokens = (secret: string) =>
 *   Credentials.layerClientSecret({
 *     tenant: "contoso.example",
 *     clientId: "5a9db0c5-…",
 *     clientSecret: Redacted.make(secret)
 *   })
 * ```
 */
export const layerClientSecret = (
  options: App & { readonly clientSecret: Redacted.Redacted }
): Layer.Layer<AccessTokens, never, HttpClient.HttpClient> => {
  checkApp("Credentials.layerClientSecret", options)
  const proof = Effect.succeed({ client_secret: options.clientSecret })
  return layerOf(Effect.map(link(options), (link) => asApp(link, options, proof)))
}

/**
 * By a certificate that is registered with the app: each token is asked for with an assertion that its private key signs. Fails as
 * `InvalidClient` when the texts are no certificate and no key.
 *
 * ```ts
 * import * as Credentials from "@signalbox/graph/Credentials"
 * import * as Redacted from "effect/Redacted"
 *
 * export const tokens = (certificate: string, privateKey: string) =>
 *   Credentials.layerCertificate({
 *     tenant: "contoso.example",
 *     clientId: "5a9db0c5-…",
 *     certificate,
 *     privateKey: Redacted.make(privateKey)
 *   })
 * ```
 */
export const layerCertificate = (
  options: App & Certificate
): Layer.Layer<AccessTokens, OAuthError, HttpClient.HttpClient> => {
  checkApp("Credentials.layerCertificate", options)
  return layerOf(
    Effect.gen(function* () {
      const sign = yield* signer(options.clientId, tokenUrlOf(options), options)
      return asApp(yield* link(options), options, byAssertion(sign))
    })
  )
}

const byAssertion = (assertion: Effect.Effect<Redacted.Redacted, OAuthError>) =>
  Effect.map(assertion, (client_assertion): Form => ({ client_assertion_type: assertionType, client_assertion }))

/**
 * By an assertion that somebody else signs, such as the identity of a job of a pipeline; it is asked for with each token.
 *
 * ```ts
 * import * as Credentials from "@signalbox/graph/Credentials"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * export const tokens = (assertion: Effect.Effect<string>) =>
 *   Credentials.layerAssertion({
 *     tenant: "contoso.example",
 *     clientId: "5a9db0c5-…",
 *     assertion: Effect.map(assertion, (text) => Redacted.make(text))
 *   })
 * ```
 */
export const layerAssertion = (
  options: App & { readonly assertion: Effect.Effect<Redacted.Redacted, OAuthError> }
): Layer.Layer<AccessTokens, never, HttpClient.HttpClient> => {
  checkApp("Credentials.layerAssertion", options)
  return layerOf(Effect.map(link(options), (link) => asApp(link, options, byAssertion(options.assertion))))
}

/** Of a workload identity; what is left out comes from the environment of the workload. */
export interface WorkloadIdentity extends Place, Asking {
  /** Default `AZURE_CLIENT_ID`. */
  readonly clientId?: string | undefined
  /** Default `AZURE_TENANT_ID`. */
  readonly tenant?: string | undefined
  /** Default `AZURE_FEDERATED_TOKEN_FILE`. */
  readonly tokenFile?: string | undefined
}

const given = (value: string | undefined, variable: string): Config.Config<string> =>
  value === undefined ? Config.String(variable) : Config.succeed(value)

/**
 * By a workload identity, as in Kubernetes: the token of the workload is read from its file each time, since it is replaced there.
 *
 * ```ts
 * import * as Credentials from "@signalbox/graph/Credentials"
 * import { layerTokens } from "@signalbox/graph/node"
 *
 * export const graph = layerTokens(Credentials.layerWorkloadIdentity())
 * ```
 */
export const layerWorkloadIdentity = (
  options: WorkloadIdentity = {}
): Layer.Layer<AccessTokens, Config.ConfigError, HttpClient.HttpClient | FileSystem.FileSystem> =>
  layerOf(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const clientId = yield* given(options.clientId, "AZURE_CLIENT_ID")
      const tenant = yield* given(options.tenant, "AZURE_TENANT_ID")
      const tokenFile = yield* given(options.tokenFile, "AZURE_FEDERATED_TOKEN_FILE")
      const host = yield* Config.option(Config.String("AZURE_AUTHORITY_HOST"))
      const app = { ...options, clientId, tenant, loginUrl: options.loginUrl ?? Option.getOrUndefined(host) }
      checkApp("Credentials.layerWorkloadIdentity", app)
      const assertion = Effect.mapBoth(fs.readFileString(tokenFile), {
        onSuccess: (token) => Redacted.make(token.trim()),
        onFailure: () => new OAuthError({ reason: new InvalidClient(own(`tokenFile: ${tokenFile} cannot be read`)) })
      })
      return asApp(yield* link(options), app, byAssertion(assertion))
    })
  )

/**
 * By the managed identity of the machine, the container or the App Service that the program runs on. What is there, the environment
 * says: `IDENTITY_ENDPOINT` and `IDENTITY_HEADER`, else the address that every machine of the cloud has.
 *
 * ```ts
 * import * as Credentials from "@signalbox/graph/Credentials"
 * import { Graph } from "@signalbox/graph/Graph"
 * import * as Layer from "effect/Layer"
 * import * as FetchHttpClient from "effect/http/FetchHttpClient"
 *
 * export const graph = Graph.layer().pipe(
 *   Layer.provide(Credentials.layerManagedIdentity()),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 */
export const layerManagedIdentity = (
  options: ManagedIdentity & Asking & { readonly cloud?: Cloud | undefined } = {}
): Layer.Layer<AccessTokens, Config.ConfigError, HttpClient.HttpClient> =>
  layerOf(
    Effect.gen(function* () {
      return yield* askManaged(yield* link(options), audienceOf(options.cloud), options)
    })
  )

/** What the credentials of `@azure/identity` and others are. */
export interface TokenCredential {
  readonly getToken: (
    scopes: string | Array<string>
  ) => Promise<{ readonly token: string; readonly expiresOnTimestamp: number } | null>
}

/**
 * By any credential with `getToken(scopes)`, such as those of `@azure/identity`.
 *
 * ```ts
 * import * as Credentials from "@signalbox/graph/Credentials"
 *
 * export const tokens = (credential: Credentials.TokenCredential) =>
 *   Credentials.layerTokenCredential(credential)
 * ```
 */
export const layerTokenCredential = (
  credential: TokenCredential,
  options: { readonly cloud?: Cloud | undefined } = {}
): Layer.Layer<AccessTokens> => {
  const scope = `${audienceOf(options.cloud)}/.default`
  const unavailable = (message: string) => new OAuthError({ reason: new Unavailable(own(message)) })
  const ask = Effect.gen(function* () {
    const issued = yield* Effect.tryPromise({
      try: async () => credential.getToken(scope),
      catch: (error) =>
        unavailable(`the credential gave no token: ${error instanceof Error ? error.message : "it failed"}`)
    })
    if (issued === null) return yield* unavailable("the credential gave no token")
    const now = yield* Clock.currentTimeMillis
    const { expiresOnTimestamp, token } = issued
    return { token: Redacted.make(token), expiresAt: Number.isFinite(expiresOnTimestamp) ? expiresOnTimestamp : now }
  })
  return layerOf(Effect.succeed(ask))
}
