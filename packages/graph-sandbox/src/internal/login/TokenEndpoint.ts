/**
 * `token`: the four grants.
 */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Assertions from "./Assertions.ts"
import type { Parameters } from "./Authorize.ts"
import type { App } from "../model/Model.ts"
import * as OAuthFailure from "./OAuthFailure.ts"
import * as Scopes from "./Scopes.ts"
import { type Grant, Tokens } from "./Tokens.ts"
import { World } from "../world/World.ts"

const required = (parameters: Parameters, name: string) => {
  const value = parameters.get(name)
  return value === undefined || value === "" ? Effect.fail(OAuthFailure.missing(name)) : Effect.succeed(value)
}

/** The app that asks. A secret or an assertion must be right, and only an app on a server may send one. */
export const app = Effect.fnUntraced(function* (parameters: Parameters) {
  const { apps } = yield* World
  const clientId = yield* required(parameters, "client_id")
  const found = apps.get(clientId)
  return found ?? (yield* OAuthFailure.unknownApp(clientId))
})

const authenticate = Effect.fnUntraced(function* (parameters: Parameters, now: number) {
  const found = yield* app(parameters)
  const secret = parameters.get("client_secret")
  const assertion = parameters.get("client_assertion")
  if (found.platform !== "web") {
    return secret === undefined && assertion === undefined ? found : yield* OAuthFailure.publicSecret
  }
  if (assertion !== undefined) {
    if (parameters.get("client_assertion_type") !== Assertions.assertionType) {
      return yield* OAuthFailure.missing("client_assertion_type")
    }
    yield* Assertions.check(found, assertion, (yield* Tokens).issuer, now)
    return found
  }
  if (secret === undefined) return yield* OAuthFailure.noSecret
  return secret === found.secret ? found : yield* OAuthFailure.badSecret
})

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** The tokens of a grant, as the answer has them. */
const issue = Effect.fnUntraced(function* (grant: Grant, parameters: Parameters, now: number) {
  const tokens = yield* Tokens
  const { app, asked, offline, openid, scopes, user } = grant
  return {
    token_type: "Bearer",
    scope: Scopes.shown({ asked, openid }),
    expires_in: tokens.settings.accessTokenSeconds,
    ext_expires_in: tokens.settings.accessTokenSeconds,
    access_token: tokens.mint({ kind: "user", user, app, scopes }, now),
    refresh_token: offline ? tokens.newRefresh(grant, now) : undefined,
    id_token: openid ? tokens.idToken(grant, now) : undefined,
    client_info: parameters.get("client_info") === "1" ? base64({ uid: user.id, utid: tokens.tenant }) : undefined
  }
})

const byCode = Effect.fnUntraced(function* (parameters: Parameters, now: number) {
  const tokens = yield* Tokens
  const app = yield* authenticate(parameters, now)
  const value = yield* required(parameters, "code")
  const redirect = yield* required(parameters, "redirect_uri")
  const code = tokens.codes.get(value)
  if (code === undefined || code.grant.app !== app) return yield* OAuthFailure.badCode
  if (code.redeemed) return yield* OAuthFailure.codeRedeemed
  if (code.expiresAt <= now) return yield* OAuthFailure.codeExpired
  if (code.redirectUri !== redirect) return yield* OAuthFailure.redirectDiffers
  const verifier = parameters.get("code_verifier")
  if (code.challenge !== null) {
    if (verifier === undefined) return yield* OAuthFailure.noVerifier
    if (createHash("sha256").update(verifier).digest("base64url") !== code.challenge)
      return yield* OAuthFailure.noVerifier
  }
  code.redeemed = true
  return yield* issue(code.grant, parameters, now)
})

/** The scopes that are asked for again, or those of before. What was never granted is granted: the sandbox's users consent. */
const byRefresh = Effect.fnUntraced(function* (parameters: Parameters, now: number) {
  const tokens = yield* Tokens
  const app = yield* authenticate(parameters, now)
  const value = yield* required(parameters, "refresh_token")
  const found = tokens.refresh.get(value)
  if (found === undefined || found.grant.app !== app) return yield* OAuthFailure.badRefresh
  if (found.expiresAt <= now) return yield* OAuthFailure.refreshExpired
  const scope = parameters.get("scope")
  const asked = scope === undefined ? found.grant : yield* Effect.fromResult(Scopes.parse(scope))
  // The new token takes the place of the old one, which holds on until its own end.
  const grant = { ...found.grant, scopes: asked.scopes, asked: asked.asked, openid: asked.openid || found.grant.openid }
  return yield* issue(grant, parameters, now)
})

const byDevice = Effect.fnUntraced(function* (parameters: Parameters, now: number) {
  const tokens = yield* Tokens
  const asking = yield* app(parameters)
  const code = yield* required(parameters, "device_code")
  const device = tokens.devices.get(code)
  if (device === undefined || device.app !== asking) return yield* OAuthFailure.badDevice
  if (device.expiresAt <= now) return yield* OAuthFailure.deviceExpired
  if (device.answer === null) return yield* OAuthFailure.pending
  if (device.answer === "declined") return yield* OAuthFailure.deviceDeclined
  tokens.devices.delete(code)
  const scopes = yield* Effect.fromResult(Scopes.parse(device.scope))
  return yield* issue({ app: asking, user: device.answer.user, ...scopes, nonce: null }, parameters, now)
})

const byClient = Effect.fnUntraced(function* (parameters: Parameters, now: number) {
  const tokens = yield* Tokens
  const app: App = yield* authenticate(parameters, now)
  const scope = yield* required(parameters, "scope")
  if (app.platform !== "web") return yield* OAuthFailure.noSecret
  // An app acts with what it was granted before: it cannot ask for single scopes.
  if (!/(?:^|\/)\.default$/.test(scope)) return yield* OAuthFailure.badScope(scope)
  yield* Effect.fromResult(Scopes.parse(scope))
  const seconds = tokens.settings.accessTokenSeconds
  return {
    token_type: "Bearer",
    expires_in: seconds,
    ext_expires_in: seconds,
    access_token: tokens.mint({ kind: "app", app, scopes: app.roles }, now)
  }
})

const grants: Readonly<
  Record<
    string,
    (
      parameters: Parameters,
      now: number
    ) => Effect.Effect<Readonly<Record<string, unknown>>, OAuthFailure.OAuthFailure, Tokens | World>
  >
> = {
  authorization_code: byCode,
  refresh_token: byRefresh,
  device_code: byDevice,
  "urn:ietf:params:oauth:grant-type:device_code": byDevice,
  client_credentials: byClient
}

export const redeem = Effect.fnUntraced(function* (parameters: Parameters, now: number) {
  const type = yield* required(parameters, "grant_type")
  const grant = Object.hasOwn(grants, type) ? grants[type] : undefined
  return grant === undefined ? yield* OAuthFailure.badGrantType(type) : yield* grant(parameters, now)
})
