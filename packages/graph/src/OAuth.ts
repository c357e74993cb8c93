/**
 * Authorizing an app and keeping its tokens fresh: authorization code with PKCE, device code, client credentials, refresh.
 */
import { defined } from "@signalbox/transport/Defined"
import type { Listeners } from "@signalbox/transport/Events"
import { check, text } from "@signalbox/transport/OptionError"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import type * as HttpClient from "effect/http/HttpClient"
import { AccessTokens, type TokenError } from "./AccessTokens.ts"
import { endpoints, locate, type Place, placeRules } from "./Cloud.ts"
import { Graph } from "./Graph.ts"
import { type DeviceLogin, make as makeDeviceLogin } from "./internal/login/DeviceLogin.ts"
import { linkOf } from "./internal/requests/Delivery.ts"
import * as Redirect from "./internal/login/Redirect.ts"
import { type Form, postForTokens } from "./internal/login/TokenEndpoint.ts"
import { OAuthError, own, NotAuthorized } from "./OAuthError.ts"
import { queryString } from "./Path.ts"
import { getScopes } from "./Scopes.ts"
import { TokenStore } from "./TokenStore.ts"
import type { Tokens } from "./Tokens.ts"

export { type DeviceLogin } from "./internal/login/DeviceLogin.ts"
export { PendingAuthorization } from "./internal/login/Redirect.ts"

export interface Options extends Place {
  readonly clientId: string
  /** None for a public client: a device, a program on the computer of a user. */
  readonly clientSecret?: Redacted.Redacted | undefined
  /** A tenant's id or domain, or `common` (default), `organizations`, `consumers`. */
  readonly tenant?: string | undefined
  /** Must be registered with the app, letter by letter. Default: the provider's own page for programs without one. */
  readonly redirectUri?: string | undefined
  /** What is asked for when an authorization names no scopes. Default: those of the helper `basic`. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** `user` (default): on behalf of the one who authorized. `app`: as the app itself, with its secret; nothing is stored. */
  readonly actsAs?: "user" | "app" | undefined
  /** Functions that are called with each request to the identity provider, with its response, retries and pauses. */
  readonly on?: Listeners | undefined
}

export interface AuthorizationOptions {
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly redirectUri?: string | undefined
  readonly prompt?: "login" | "none" | "consent" | "select_account" | undefined
  /** Who is expected to sign in, such as a mail address. */
  readonly loginHint?: string | undefined
  readonly domainHint?: string | undefined
  /** How the browser brings the answer back. Default `query`. */
  readonly responseMode?: "query" | "fragment" | "form_post" | undefined
}

export interface Authorization {
  /** What the user must open. */
  readonly url: string
  /** What `exchange` needs once the user is back. */
  readonly pending: Redirect.PendingAuthorization
}

/** A token this close to its end is renewed before it is used; one that lives shortly, after half of its life. */
const skewMillis = 30_000

const make = Effect.fnUntraced(function* (options: Options) {
  check("OAuth.layer", options, { clientId: text, tenant: text, redirectUri: text, ...placeRules })
  const store = yield* TokenStore
  const link = yield* linkOf("OAuth.layer", options.on)
  const places = locate(options)
  const authority = `${places.login}/${encodeURIComponent(options.tenant ?? "common")}/oauth2/v2.0`
  // Scopes name the API of the cloud, wherever it is reached.
  const audience = endpoints[options.cloud ?? "global"].graph
  const scopes = options.scopes ?? getScopes(["basic"], audience)
  const client: Form = { client_id: options.clientId, client_secret: options.clientSecret }

  const ask = (form: Form, behaviour: { readonly repeatable: boolean; readonly previous: Redacted.Redacted | null }) =>
    postForTokens(link, `${authority}/token`, { ...client, ...form }, behaviour)

  const permit = yield* Semaphore.make(1)
  /** The tokens in use, and until when they are. */
  let known: { readonly tokens: Tokens; readonly until: number } | undefined
  const use = Effect.fnUntraced(function* (tokens: Tokens) {
    const now = yield* Clock.currentTimeMillis
    const left = tokens.expiresAt - now
    known = { tokens, until: now + Math.max(left - skewMillis, left / 2) }
    return tokens
  })
  /** Kept first, used then: a token that was rotated must never be lost. */
  const keep = Effect.fnUntraced(function* (tokens: Tokens) {
    yield* store.save(tokens)
    return yield* use(tokens)
  })
  /** Stores received tokens even when the caller no longer waits for them. */
  const kept = <E>(asked: Effect.Effect<Tokens, E>) =>
    Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(asked), keep))
  /** One renewal at a time, here and in every other process on the store. */
  const alone = <A, E>(effect: Effect.Effect<A, E>) => permit.withPermits(1)(store.exclusive(effect))

  const askByRefreshToken = (refreshToken: Redacted.Redacted) =>
    ask({ grant_type: "refresh_token", refresh_token: refreshToken }, { repeatable: true, previous: refreshToken })

  const stored = Effect.flatMap(store.load, (found) =>
    Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(nobody)
  )

  const refreshStored = Effect.fnUntraced(function* (tokens: Tokens): Effect.fn.Return<Tokens, TokenError> {
    if (tokens.refreshToken === null) return yield* nobody
    const used = tokens.refreshToken
    const asked = askByRefreshToken(used).pipe(
      Effect.catchReason("OAuthError", "InvalidGrant", (_, error) =>
        // A store without its own lock: another process may have renewed the token.
        Effect.flatMap(stored, ({ refreshToken }) =>
          refreshToken === null || Redacted.value(refreshToken) === Redacted.value(used)
            ? Effect.fail(error)
            : askByRefreshToken(refreshToken)
        )
      )
    )
    return yield* kept(asked)
  })

  const isOther = (tokens: Tokens, refused: Redacted.Redacted | null) =>
    tokens.accessToken !== null && (refused === null || Redacted.value(tokens.accessToken) !== Redacted.value(refused))

  /** The tokens in use, when they are good for another call. */
  const usable = (refused: Redacted.Redacted | null, now: number): Tokens | undefined =>
    known !== undefined && known.until > now && isOther(known.tokens, refused) ? known.tokens : undefined

  const asApp = Effect.suspend(() =>
    ask({ grant_type: "client_credentials", scope: `${audience}/.default` }, { repeatable: true, previous: null })
  )

  const renewed = Effect.fnUntraced(function* (refused: Redacted.Redacted | null) {
    const now = yield* Clock.currentTimeMillis
    // A caller that waited here finds the token of the previous renewal.
    const brought = usable(refused, now)
    if (brought !== undefined) return brought
    if (options.actsAs === "app") return yield* use(yield* asApp)
    const found = yield* stored
    const isFresh = found.expiresAt - skewMillis > now && isOther(found, refused)
    return yield* isFresh ? use(found) : refreshStored(found)
  })

  const fresh = Effect.fnUntraced(function* (refused: Redacted.Redacted | null) {
    const renewal = options.actsAs === "app" ? permit.withPermits(1)(renewed(refused)) : alone(renewed(refused))
    const tokens = usable(refused, yield* Clock.currentTimeMillis) ?? (yield* renewal)
    return tokens.accessToken ?? (yield* nobody)
  })

  return {
    /** The address that a user must open, and what to keep until they are back. Nothing is sent. */
    authorize: Effect.fn("OAuth.authorize")(function* (asked: AuthorizationOptions = {}) {
      const redirectUri = asked.redirectUri ?? options.redirectUri ?? `${places.login}/common/oauth2/nativeclient`
      const pending = yield* Redirect.begin(redirectUri)
      const query = queryString({
        client_id: options.clientId,
        response_type: "code",
        redirect_uri: redirectUri,
        scope: (asked.scopes ?? scopes).join(" "),
        response_mode: asked.responseMode ?? "query",
        state: pending.state,
        code_challenge: yield* Redirect.challengeOf(pending),
        code_challenge_method: "S256",
        prompt: asked.prompt,
        login_hint: asked.loginHint,
        domain_hint: asked.domainHint
      })
      const authorization: Authorization = { url: `${authority}/authorize${query}`, pending }
      return authorization
    }),

    /** Tokens for the address that the user came back with; they are stored. */
    exchange: Effect.fn("OAuth.exchange")(function* (
      redirectedTo: Redacted.Redacted | string,
      pending: Redirect.PendingAuthorization
    ) {
      const address = Redacted.isRedacted(redirectedTo) ? Redacted.value(redirectedTo) : redirectedTo
      const code = yield* Redirect.codeOf(address, pending)
      const form = {
        grant_type: "authorization_code",
        code,
        redirect_uri: pending.redirectUri,
        code_verifier: pending.codeVerifier
      }
      return yield* alone(kept(ask(form, { repeatable: false, previous: null })))
    }),

    /** New tokens by a refresh token, the stored one when none is given; they are stored. */
    refresh: Effect.fn("OAuth.refresh")(function* (refreshToken?: Redacted.Redacted) {
      return yield* alone(
        refreshToken === undefined ? Effect.flatMap(stored, refreshStored) : kept(askByRefreshToken(refreshToken))
      )
    }),

    /** Starts a sign-in on another device; show its `message`, then run `complete`. */
    deviceLogin: Effect.fn("OAuth.deviceLogin")(function* (asked: { readonly scopes?: ReadonlyArray<string> } = {}) {
      const login: DeviceLogin = yield* makeDeviceLogin({
        link,
        authority,
        client,
        scope: (asked.scopes ?? scopes).join(" "),
        keep: (tokens) => alone(keep(tokens))
      })
      return login
    }),

    /** A token of the app itself, by its secret. It is not stored. */
    clientCredentials: Effect.withSpan(asApp, "OAuth.clientCredentials"),

    /** What calls use. */
    accessTokens: { current: fresh(null), renew: fresh } satisfies AccessTokens["Service"]
  }
})

const nobody = new OAuthError({
  reason: new NotAuthorized(own("no user has authorized this app yet: authorize first"))
})

/**
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { OAuth } from "@signalbox/graph/OAuth"
 *
 * export const signIn = (show: (url: string) => Effect.Effect<string>) =>
 *   Effect.gen(function* () {
 *     const oauth = yield* OAuth
 *     const { pending, url } = yield* oauth.authorize({
 *       prompt: "select_account"
 *     })
 *     return yield* oauth.exchange(yield* show(url), pending)
 *   })
 * ```
 */
export class OAuth extends Context.Service<OAuth, Effect.Success<ReturnType<typeof make>>>()("@signalbox/graph/OAuth") {
  /** The service itself, for programs that learn at run time which app they are. */
  static readonly make = make

  static readonly layer = (options: Options): Layer.Layer<OAuth, never, HttpClient.HttpClient | TokenStore> =>
    Layer.effect(OAuth, make(options))

  /**
   * The options from `SIGNALBOX_GRAPH_CLIENT_ID` and, when set, `SIGNALBOX_GRAPH_CLIENT_SECRET`, `SIGNALBOX_GRAPH_TENANT`,
   * `SIGNALBOX_GRAPH_REDIRECT_URI`, `SIGNALBOX_GRAPH_ACTS_AS` (`user`, `app`), and where things are, as for `Graph`.
   */
  static readonly config: Config.Config<Options> = Config.all({
    place: Graph.config,
    clientId: Config.String("SIGNALBOX_GRAPH_CLIENT_ID"),
    clientSecret: Config.option(Config.Redacted("SIGNALBOX_GRAPH_CLIENT_SECRET")),
    tenant: Config.option(Config.String("SIGNALBOX_GRAPH_TENANT")),
    redirectUri: Config.option(Config.String("SIGNALBOX_GRAPH_REDIRECT_URI")),
    actsAs: Config.option(Config.Literals(["user", "app"], "SIGNALBOX_GRAPH_ACTS_AS"))
  }).pipe(
    Config.map(({ actsAs, clientId, clientSecret, place, redirectUri, tenant }) => ({
      ...place,
      clientId,
      ...defined({
        clientSecret: Option.getOrUndefined(clientSecret),
        tenant: Option.getOrUndefined(tenant),
        redirectUri: Option.getOrUndefined(redirectUri),
        actsAs: Option.getOrUndefined(actsAs)
      })
    }))
  )

  /** `layer` with the options from the environment. */
  static readonly layerConfig: Layer.Layer<OAuth, Config.ConfigError, HttpClient.HttpClient | TokenStore> =
    Layer.unwrap(Effect.map(OAuth.config, OAuth.layer))

  /** The access tokens of calls, which this service renews. */
  static readonly layerAccessTokens: Layer.Layer<AccessTokens, never, OAuth> = Layer.effect(
    AccessTokens,
    Effect.map(OAuth, (oauth) => oauth.accessTokens)
  )
}
