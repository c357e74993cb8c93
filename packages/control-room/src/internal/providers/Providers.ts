/**
 * The providers of OpenID Connect with which people sign in: the code flow with PKCE, `state`, `nonce` and, where the provider announces
 * it, `iss`. The library is loaded by the first sign-in.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Library from "openid-client"
import type { SignInProvider } from "../../Options.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { type Claims, groupsOf } from "./Claims.ts"

/** Of each request to a provider. */
const timeoutSeconds = 10
/** How long what a provider says of itself is remembered; its keys are asked for again when one is unknown. */
const remembered = Duration.hours(1)
/** By how much clocks may differ. */
const toleranceSeconds = 60

/** The provider does not respond, or with errors of a server. */
export class ProviderAway extends Data.TaggedError("ProviderAway")<{ readonly detail: string }> {}

/** What came from the provider is not to be trusted, or not as it is configured here. `detail` is for the log. */
export class ProviderMistaken extends Data.TaggedError("ProviderMistaken")<{ readonly detail: string }> {}

/** The provider let the person not in. */
export class ProviderRefused extends Data.TaggedError("ProviderRefused")<{ readonly code: string }> {}

/** What the room keeps until a browser comes back. */
export interface Secrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Provider {
  readonly settings: SignInProvider
  /** The claim that identifies a person. */
  readonly subjectClaim: string
  readonly groupsClaim: string
  /** New secrets, and the address to which the browser goes with them. */
  readonly begin: Effect.Effect<Secrets & { readonly address: string }, ProviderAway | ProviderMistaken>
  /** Who came back, by the parameters of the callback and the secrets of the browser: the checked claims. */
  readonly finish: (
    parameters: URLSearchParams,
    secrets: Secrets
  ) => Effect.Effect<Claims, ProviderAway | ProviderMistaken | ProviderRefused>
  /** Where a browser signs out at the provider too; null: the provider has no such place, or does not respond. */
  readonly signOutAddress: Effect.Effect<string | null>
}

/** The path of the callback below the public URL; the provider knows the address. */
export const callbackPath = (id: string) => `/console/sign-in/provider/${id}/callback`

/** What was thrown: the network, a provider with an error, or something that must not be trusted. Texts of the provider stay out of it. */
const failureOf = (library: typeof Library, error: unknown): ProviderAway | ProviderMistaken | ProviderRefused => {
  if (error instanceof library.AuthorizationResponseError) return new ProviderRefused({ code: error.error })
  if (error instanceof library.ResponseBodyError) {
    const detail = `the token endpoint responded with ${error.error}`
    return error.status >= 500 ? new ProviderAway({ detail }) : new ProviderMistaken({ detail })
  }
  const { cause, code, message } = { cause: undefined, code: undefined, message: String(error), ...asError(error) }
  if (code === "OAUTH_TIMEOUT") return new ProviderAway({ detail: `no response within ${timeoutSeconds} s` })
  // `fetch` throws it for whatever keeps a connection from being made.
  if (error instanceof TypeError && code === undefined) return new ProviderAway({ detail: networkOf(cause) ?? message })
  if (code === "OAUTH_RESPONSE_IS_NOT_CONFORM" && cause instanceof Response && cause.status >= 500) {
    return new ProviderAway({ detail: `responded with status ${cause.status}` })
  }
  return new ProviderMistaken({ detail: code === undefined ? message : `${message} (${code})` })
}

const asError = (error: unknown) =>
  error instanceof Error
    ? { message: error.message, cause: error.cause, code: "code" in error ? String(error.code) : undefined }
    : {}

const networkOf = (cause: unknown) =>
  cause instanceof Error && "code" in cause ? `no connection (${String(cause.code)})` : undefined

/** Refuses what a library of the provider's tokens does not look at: tokens of the future. */
const checkIssued = Effect.fnUntraced(function* (claims: Claims) {
  const now = (yield* Clock.currentTimeMillis) / 1000
  const issued = claims["iat"]
  if (typeof issued === "number" && issued <= now + toleranceSeconds) return
  return yield* new ProviderMistaken({ detail: "iat of the ID token is in the future" })
})

const make = Effect.fnUntraced(function* (
  settings: SignInProvider,
  publicUrl: string,
  load: Effect.Effect<typeof Library>
) {
  const { clientId, clientSecret, groupsClaim = "groups", issuer, roles = [], subjectClaim = "sub" } = settings
  const redirect = `${publicUrl}${callbackPath(settings.id)}`
  const scope = (settings.scopes ?? ["openid", "profile", "email"]).join(" ")

  const asked = <A>(library: typeof Library, ask: () => Promise<A>) =>
    Effect.tryPromise({ try: ask, catch: (error) => failureOf(library, error) })

  /** What may go wrong where no parameters of the provider are read. */
  const unrefused = <A, R>(effect: Effect.Effect<A, ProviderAway | ProviderMistaken | ProviderRefused, R>) =>
    Effect.catchTag(effect, "ProviderRefused", ({ code }) => new ProviderMistaken({ detail: code }))

  const discover = Effect.fnUntraced(function* (library: typeof Library) {
    const secret = clientSecret === undefined ? undefined : Redacted.value(clientSecret)
    /** As the provider takes it: in the body, else in a header, which is what it takes when it says nothing. */
    const authenticate: Library.ClientAuth = (server, client, body, headers) => {
      const taken = server.token_endpoint_auth_methods_supported ?? []
      const method =
        secret === undefined
          ? library.None()
          : taken.includes("client_secret_post")
            ? library.ClientSecretPost(secret)
            : library.ClientSecretBasic(secret)
      method(server, client, body, headers)
    }
    const isPlain = issuer.startsWith("http:")
    const configuration = yield* asked(library, () =>
      library.discovery(new URL(issuer), clientId, { [library.clockTolerance]: toleranceSeconds }, authenticate, {
        timeout: timeoutSeconds,
        execute: [
          // The library trusts the connection to the provider instead of signatures; a proxy may be in between.
          library.enableNonRepudiationChecks,
          ...(isPlain ? [library.allowInsecureRequests] : [])
        ]
      })
    )
    const said = configuration.serverMetadata().issuer
    if (said === issuer) return configuration
    return yield* new ProviderMistaken({ detail: `its discovery document has the issuer ${said}, and not ${issuer}` })
  })

  /** Those who ask at the same time wait for one response. */
  const configured = yield* Effect.cachedWithTTL(
    Effect.gen(function* () {
      const library = yield* load
      return { library, configuration: yield* unrefused(discover(library)) }
    }),
    (exit) => (Exit.isSuccess(exit) ? remembered : 0)
  )

  const begin = Effect.gen(function* () {
    const { configuration, library } = yield* configured
    const secrets = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier()
    }
    const challenge = yield* Effect.promise(() => library.calculatePKCECodeChallenge(secrets.verifier))
    const { href } = library.buildAuthorizationUrl(configuration, {
      redirect_uri: redirect,
      response_type: "code",
      response_mode: "query",
      scope,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: challenge,
      code_challenge_method: "S256"
    })
    return { ...secrets, address: href }
  })

  /** Names and groups are with some providers only in the user info. */
  const isWanting = (claims: Claims) =>
    (roles.length > 0 && groupsOf(claims, groupsClaim).kind === "missing") ||
    (claims["name"] === undefined && claims["given_name"] === undefined)

  const finish = Effect.fnUntraced(function* (parameters: URLSearchParams, { nonce, state, verifier }: Secrets) {
    const { configuration, library } = yield* configured
    const address = new URL(redirect)
    address.search = parameters.toString()
    const tokens = yield* asked(library, () =>
      library.authorizationCodeGrant(configuration, address, {
        expectedNonce: nonce,
        expectedState: state,
        pkceCodeVerifier: verifier,
        idTokenExpected: true
      })
    )
    const claims = tokens.claims()
    if (claims === undefined) return yield* new ProviderMistaken({ detail: "it sent no ID token" })
    yield* checkIssued(claims)
    if (configuration.serverMetadata().userinfo_endpoint === undefined || !isWanting(claims)) return { ...claims }
    const more = yield* unrefused(
      asked(library, () => library.fetchUserInfo(configuration, tokens.access_token, claims.sub))
    )
    const all: Claims = { ...more, ...claims }
    return all
  })

  const signOutAddress = Effect.gen(function* () {
    const { configuration, library } = yield* configured
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null
    const back = { post_logout_redirect_uri: `${publicUrl}/console/` }
    return library.buildEndSessionUrl(configuration, back).href
  }).pipe(Effect.orElseSucceed(() => null))

  const provider: Provider = { settings, subjectClaim, groupsClaim, begin, finish, signOutAddress }
  return provider
})

export class Providers extends Context.Service<
  Providers,
  {
    readonly all: ReadonlyArray<Provider>
    readonly find: (id: string) => Provider | undefined
  }
>()("@signalbox/control-room/providers/Providers") {
  static readonly layer = (settings: ReadonlyArray<SignInProvider> = []) =>
    Layer.effect(
      Providers,
      Effect.gen(function* () {
        const publicUrl = yield* PublicUrl
        const load = yield* Effect.cached(Effect.promise(() => import("openid-client")))
        const all = yield* Effect.forEach(settings, (one) => make(one, publicUrl, load))
        return Providers.of({ all, find: (id) => all.find((one) => one.settings.id === id) })
      })
    )
}
