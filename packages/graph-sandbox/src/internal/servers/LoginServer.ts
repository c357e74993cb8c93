/**
 * The identity provider over HTTP.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Authorize from "../login/Authorize.ts"
import * as Edge from "./Edge.ts"
import * as Ids from "../model/Ids.ts"
import * as OAuthFailure from "../login/OAuthFailure.ts"
import * as SignInPage from "../login/SignInPage.ts"
import * as TokenEndpoint from "../login/TokenEndpoint.ts"
import { Tokens } from "../login/Tokens.ts"
import { refusal } from "./Traffic.ts"
import { World } from "../world/World.ts"

type Response = HttpServerResponse.HttpServerResponse

export interface Settings {
  readonly origin: string
  /** The sign-in name of who is signed in without a page. */
  readonly automatic: string | null
}

interface Asked {
  readonly tenant: string
  readonly query: URLSearchParams
  readonly form: URLSearchParams
  readonly now: number
}

const json = (body: unknown, status = 200) =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json; charset=utf-8",
    headers: { "cache-control": "no-store, no-cache", pragma: "no-cache" }
  })

const html = (body: string, status = 200) =>
  HttpServerResponse.text(body, { status, contentType: "text/html; charset=utf-8" })

const endpoints = ({ origin }: Settings, tenant: string) => `${origin}/${tenant}/oauth2/v2.0`

const everybody = new Set(["common", "organizations", "consumers"])

/** The tenants that are there: by id, by the domain of a user, and the names that stand for any. */
const checkTenant = Effect.fnUntraced(function* (tenant: string) {
  const world = yield* World
  const isDomain = [...world.users.values()].some(({ userPrincipalName }) =>
    userPrincipalName.toLowerCase().endsWith(`@${tenant.toLowerCase()}`)
  )
  if (!everybody.has(tenant) && tenant !== world.tenant && !isDomain) return yield* OAuthFailure.unknownTenant(tenant)
})

/** A handler whose refusals are responses in JSON. */
const handled = <R>(settings: Settings, run: (asked: Asked) => Effect.Effect<Response, OAuthFailure.OAuthFailure, R>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const now = yield* Clock.currentTimeMillis
    const params = yield* HttpRouter.params
    const tenant = params["tenant"] ?? "common"
    const url = new URL(request.url, settings.origin)
    const asked = refusal(yield* Edge.Met, now)
    const correlation =
      url.searchParams.get("client-request-id") ?? request.headers["client-request-id"] ?? Ids.random()
    const body = request.method === "POST" ? request.text : Effect.succeed("")
    return yield* Effect.gen(function* () {
      if (asked !== undefined) return yield* OAuthFailure.unavailable(asked.status)
      yield* checkTenant(tenant)
      const text = yield* Effect.mapError(body, () => OAuthFailure.missing("grant_type"))
      return yield* run({ tenant, query: url.searchParams, form: new URLSearchParams(text), now })
    }).pipe(
      Effect.catch((failure) =>
        Effect.succeed(
          HttpServerResponse.setHeaders(
            json(OAuthFailure.body(failure, correlation, now, settings.origin), failure.status),
            asked?.headers ?? {}
          )
        )
      ),
      Effect.map(HttpServerResponse.setHeaders({ "x-ms-request-id": Ids.random(), "client-request-id": correlation }))
    )
  })

const configuration = (settings: Settings) =>
  handled(settings, ({ tenant }) =>
    Effect.map(World, (world) =>
      json({
        token_endpoint: `${endpoints(settings, tenant)}/token`,
        token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt"],
        jwks_uri: `${settings.origin}/${tenant}/discovery/v2.0/keys`,
        response_modes_supported: ["query", "fragment", "form_post"],
        subject_types_supported: ["pairwise"],
        id_token_signing_alg_values_supported: ["RS256"],
        response_types_supported: ["code"],
        scopes_supported: ["openid", "profile", "email", "offline_access"],
        code_challenge_methods_supported: ["S256"],
        issuer: `${settings.origin}/${world.tenant}/v2.0`,
        authorization_endpoint: `${endpoints(settings, tenant)}/authorize`,
        device_authorization_endpoint: `${endpoints(settings, tenant)}/devicecode`,
        end_session_endpoint: `${endpoints(settings, tenant)}/logout`,
        claims_supported: [
          "sub",
          "iss",
          "aud",
          "exp",
          "iat",
          "nonce",
          "preferred_username",
          "name",
          "tid",
          "ver",
          "email"
        ],
        cloud_instance_name: "localhost",
        msgraph_host: new URL(settings.origin).host
      })
    )
  )

const discovery = (settings: Settings) =>
  handled(settings, () => {
    const { host } = new URL(settings.origin)
    return Effect.succeed(
      json({
        tenant_discovery_endpoint: `${settings.origin}/common/v2.0/.well-known/openid-configuration`,
        "api-version": "1.1",
        metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }]
      })
    )
  })

/** What goes to the app, in the way it wants it. */
const show = Effect.fnUntraced(function* (answer: Authorize.Answer) {
  const { users } = yield* World
  switch (answer.kind) {
    case "pick":
      return html(SignInPage.pick(answer.app, answer.scopes, [...users.values()]))
    case "form_post":
      return html(SignInPage.post(answer.to, answer.fields))
    default: {
      const to = new URL(answer.to)
      const fields = new URLSearchParams(answer.fields)
      if (answer.kind === "fragment") to.hash = fields.toString()
      else for (const [name, value] of fields) to.searchParams.set(name, value)
      return HttpServerResponse.empty({ status: 302, headers: { location: to.toString() } })
    }
  }
})

const authorize = (settings: Settings) =>
  handled(
    settings,
    Effect.fnUntraced(function* ({ form, now, query }) {
      const { userBy } = yield* World
      const isPicked = form.has("user") || form.has("decline")
      const parameters = new Map([...query, ...(isPicked ? [] : form)])
      const who = form.has("decline") ? "declined" : userBy(form.get("user") ?? "")
      // As long as it is not known that the address is the app's, nothing may be sent there.
      return yield* Authorize.check(parameters).pipe(
        Effect.flatMap((checked) =>
          Authorize.answer(checked, parameters, who, settings.automatic, now).pipe(
            Effect.catch((failure) => Effect.succeed(Authorize.failed(checked, parameters, failure))),
            Effect.flatMap(show)
          )
        ),
        Effect.catch(({ code, message }) =>
          Effect.succeed(html(SignInPage.message("Sign-in failed", `AADSTS${code}: ${message}`), 400))
        )
      )
    })
  )

const token = (settings: Settings) =>
  handled(settings, ({ form, now }) => Effect.map(TokenEndpoint.redeem(new Map(form), now), (body) => json(body)))

const deviceCode = (settings: Settings) =>
  handled(
    settings,
    Effect.fnUntraced(function* ({ form, now }) {
      const tokens = yield* Tokens
      const app = yield* TokenEndpoint.app(new Map(form))
      const scope = form.get("scope")
      if (scope === null) return yield* OAuthFailure.missing("scope")
      const { code, seconds, userCode } = tokens.newDevice(app, scope, now)
      const uri = `${settings.origin}/common/oauth2/deviceauth`
      return json({
        user_code: userCode,
        device_code: code,
        verification_uri: uri,
        expires_in: seconds,
        interval: 1,
        message: `To sign in, open ${uri} in a browser and enter the code ${userCode}.`
      })
    })
  )

/** Answers a device that waits. */
export const answerDevice = Effect.fnUntraced(function* (userCode: string, user: string | null) {
  const tokens = yield* Tokens
  const { userBy } = yield* World
  const device = [...tokens.devices.values()].find((device) => device.userCode === userCode.trim().toUpperCase())
  const who = user === null ? null : userBy(user)
  if (device === undefined || who === undefined) return false
  device.answer = who === null ? "declined" : { user: who }
  return true
})

const devicePage = (settings: Settings) =>
  handled(settings, ({ query }) =>
    Effect.map(World, ({ users }) => html(SignInPage.device(query.get("user_code") ?? "", [...users.values()])))
  )

const deviceAnswer = (settings: Settings) =>
  handled(
    settings,
    Effect.fnUntraced(function* ({ form }) {
      const done = yield* answerDevice(form.get("user_code") ?? "", form.has("decline") ? null : form.get("user"))
      return done
        ? html(SignInPage.message("Done", "You can close this page and go back to the device."))
        : html(SignInPage.message("Not known", "This code is not known. Go back and check it."), 400)
    })
  )

const keys = (settings: Settings) => handled(settings, () => Effect.map(Tokens, ({ jwks }) => json(jwks)))

const logout = (settings: Settings) =>
  handled(settings, ({ query }) => {
    const to = query.get("post_logout_redirect_uri")
    return Effect.succeed(
      to === null
        ? html(SignInPage.message("Signed out", "You are signed out."))
        : HttpServerResponse.empty({ status: 302, headers: { location: to } })
    )
  })

export const routes = (settings: Settings) =>
  Layer.mergeAll(
    HttpRouter.add("GET", "/common/discovery/instance", discovery(settings)),
    HttpRouter.add("GET", "/common/oauth2/deviceauth", devicePage(settings)),
    HttpRouter.add("POST", "/common/oauth2/deviceauth", deviceAnswer(settings)),
    HttpRouter.add("GET", "/:tenant/v2.0/.well-known/openid-configuration", configuration(settings)),
    HttpRouter.add("GET", "/:tenant/discovery/v2.0/keys", keys(settings)),
    HttpRouter.add("GET", "/:tenant/oauth2/v2.0/authorize", authorize(settings)),
    HttpRouter.add("POST", "/:tenant/oauth2/v2.0/authorize", authorize(settings)),
    HttpRouter.add("POST", "/:tenant/oauth2/v2.0/token", token(settings)),
    HttpRouter.add("POST", "/:tenant/oauth2/v2.0/devicecode", deviceCode(settings)),
    HttpRouter.add("GET", "/:tenant/oauth2/v2.0/logout", logout(settings))
  )
