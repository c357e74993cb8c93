/**
 * Tokens, codes and what they stand for.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { createHash, generateKeyPair, sign } from "node:crypto"
import * as Failure from "../model/Failure.ts"
import * as Ids from "../model/Ids.ts"
import type { App, Principal, User } from "../model/Model.ts"

/** What a user has allowed an app to do. */
export interface Grant {
  readonly app: App
  readonly user: User
  /** Without the address of the graph, and without those of OpenID. */
  readonly scopes: ReadonlyArray<string>
  /** The same, as they were asked for: the answer names them so. */
  readonly asked: ReadonlyArray<string>
  readonly openid: boolean
  readonly offline: boolean
  readonly nonce: string | null
}

export interface Code {
  readonly grant: Grant
  readonly redirectUri: string
  readonly challenge: string | null
  readonly method: string
  readonly expiresAt: number
  redeemed: boolean
}

export interface Device {
  readonly app: App
  readonly userCode: string
  readonly scope: string
  readonly expiresAt: number
  answer: { readonly user: User } | "declined" | null
}

export interface Settings {
  /** Seconds that an access token holds. */
  readonly accessTokenSeconds: number
  /** Seconds that a refresh token holds without use. */
  readonly refreshTokenSeconds: number
  /** A token gives access only to what its scopes or roles permit. */
  readonly enforceScopes: boolean
}

const codeSeconds = 600
const deviceSeconds = 900

const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

const keys = Effect.callback<{ readonly publicKey: Record<string, unknown>; readonly sign: (text: string) => string }>(
  (resume) => {
    generateKeyPair("rsa", { modulusLength: 2048 }, (error, publicKey, privateKey) =>
      resume(
        error === null
          ? Effect.succeed({
              publicKey: { ...publicKey.export({ format: "jwk" }) },
              sign: (text) => sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")
            })
          : Effect.die(error)
      )
    )
  }
)

const make = Effect.fnUntraced(function* (issuer: string, tenant: string, settings: Settings) {
  const { publicKey, sign } = yield* keys
  const keyId = createHash("sha256").update(JSON.stringify(publicKey)).digest("base64url").slice(0, 27)
  const access = new Map<string, { readonly principal: Principal; readonly expiresAt: number }>()
  const refresh = new Map<string, { readonly grant: Grant; readonly expiresAt: number }>()
  const codes = new Map<string, Code>()
  const devices = new Map<string, Device>()

  const jwt = (claims: Record<string, unknown>) => {
    const text = `${json({ typ: "JWT", alg: "RS256", kid: keyId })}.${json(claims)}`
    return `${text}.${sign(text)}`
  }

  const times = (now: number, seconds: number) => {
    const at = Math.floor(now / 1000)
    return { iat: at, nbf: at, exp: at + seconds }
  }

  const claimsOf = (user: User) => ({
    oid: user.id,
    sub: Ids.uuid(`sub ${user.id}`),
    tid: tenant,
    name: user.displayName
  })

  const mint = (principal: Principal, now: number, seconds = settings.accessTokenSeconds) => {
    // What is over is forgotten, so that a sandbox that runs for long does not grow.
    for (const [token, { expiresAt }] of access) if (expiresAt < now - 3_600_000) access.delete(token)
    const who =
      principal.kind === "user"
        ? { ...claimsOf(principal.user), upn: principal.user.userPrincipalName, scp: principal.scopes.join(" ") }
        : { oid: Ids.uuid(`app ${principal.app.clientId}`), tid: tenant, idtyp: "app", roles: principal.scopes }
    const token = jwt({
      aud: "https://graph.microsoft.com",
      iss: `${issuer}/${tenant}/`,
      ...times(now, seconds),
      appid: principal.app.clientId,
      ...who,
      ver: "1.0",
      uti: Ids.secret().slice(0, 22)
    })
    access.set(token, { principal, expiresAt: now + seconds * 1000 })
    return token
  }

  return {
    tenant,
    settings,
    issuer,
    jwks: { keys: [{ ...publicKey, use: "sig", alg: "RS256", kid: keyId }] },
    mint,
    idToken: ({ app, nonce, user }: Grant, now: number) =>
      jwt({
        aud: app.clientId,
        iss: `${issuer}/${tenant}/v2.0`,
        ...times(now, 3600),
        ...claimsOf(user),
        preferred_username: user.userPrincipalName,
        email: typeof user["mail"] === "string" ? user["mail"] : undefined,
        nonce: nonce ?? undefined,
        ver: "2.0"
      }),
    /** Whose token it is. */
    verify: (authorization: string | undefined, now: number): Result.Result<Principal, Failure.Failure> => {
      const token = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1]
      if (token === undefined) return Result.fail(Failure.tokenRefused())
      const found = access.get(token)
      if (found === undefined) {
        return Result.fail(Failure.tokenRefused("IDX14100: JWT is not well formed, or its signature is not ours."))
      }
      return found.expiresAt <= now
        ? Result.fail(Failure.tokenRefused("Lifetime validation failed, the token is expired."))
        : Result.succeed(found.principal)
    },
    /** From now on every access token that was given is refused as expired. */
    expireAccess: Effect.sync(() => {
      for (const [token, { principal }] of access) access.set(token, { principal, expiresAt: 0 })
    }),
    /** From now on every refresh token that was given is refused as expired. */
    expireRefresh: Effect.sync(() => {
      for (const [token, { grant }] of refresh) refresh.set(token, { grant, expiresAt: 0 })
    }),
    codes,
    devices,
    refresh,
    newCode: (code: Omit<Code, "expiresAt" | "redeemed">, now: number) => {
      const value = `0.${Ids.secret()}${Ids.secret()}`
      codes.set(value, { ...code, expiresAt: now + codeSeconds * 1000, redeemed: false })
      return value
    },
    newRefresh: (grant: Grant, now: number) => {
      const value = `0.${Ids.secret()}.${Ids.secret()}`
      refresh.set(value, { grant, expiresAt: now + settings.refreshTokenSeconds * 1000 })
      return value
    },
    newDevice: (app: App, scope: string, now: number) => {
      const code = Ids.secret()
      const userCode = Ids.item(code).slice(2, 11)
      devices.set(code, { app, scope, userCode, expiresAt: now + deviceSeconds * 1000, answer: null })
      return { code, userCode, seconds: deviceSeconds }
    }
  }
})

export class Tokens extends Context.Service<Tokens, Effect.Success<ReturnType<typeof make>>>()(
  "@signalbox/graph-sandbox/internal/Tokens"
) {
  static readonly layer = (issuer: string, tenant: string, settings: Settings) =>
    Layer.effect(Tokens)(make(issuer, tenant, settings))
}
