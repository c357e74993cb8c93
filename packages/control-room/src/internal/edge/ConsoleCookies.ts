/**
 * The cookie of a session of the console, and which requests may use it. A browser sends a cookie along with requests of any
 * page it has open, so what changes something must prove that it comes from the console.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { PublicUrl } from "../settings/PublicUrl.ts"
import * as MasterKeyRecord from "../store/database/MasterKeyRecord.ts"
import { signInLifetime } from "../store/access/ProviderSignIns.ts"
import { loginKey } from "../engine/Logins.ts"
import { Signer } from "../transfers/Signer.ts"
import * as Tokens from "../vault/Tokens.ts"
import { cookiesOf } from "./CookieNames.ts"

type Request = HttpServerRequest.HttpServerRequest

/** The header that the console sends with every request that changes something: other pages cannot without a preflight. */
export const consoleHeader = "x-signalbox-console"

/** How long a browser is known after its last sign-in: a year. */
const knownSeconds = 365 * 24 * 3600

const isSafe = (method: string) => method === "GET" || method === "HEAD"

export class ConsoleCookies extends Context.Service<
  ConsoleCookies,
  {
    /** The session that a request names; null where it has no such cookie, or an `Authorization` header, which wins. */
    readonly tokenOf: (request: Request) => Tokens.Token | null
    /** Why a request must not be served by its cookie, or must not open a session; null when it may. */
    readonly refusalOf: (request: Request) => string | null
    /** The `Set-Cookie` of a session; null: of none any more. */
    readonly cookie: (token: string | null) => string
    /** Whether somebody has signed in with this login in the browser of the request before. */
    readonly isKnown: (request: Request, login: string) => boolean
    /** The `Set-Cookie` by which that is known. */
    readonly known: (login: string) => string
    /** The sign-in with a provider that the browser of a request has begun; null: none. */
    readonly begunOf: (request: Request) => Tokens.Token | null
    /** The `Set-Cookie` of such a sign-in, which a browser sends along when a provider sends it back; null: of none any more. */
    readonly begun: (token: string | null) => string
  }
>()("@signalbox/control-room/edge/ConsoleCookies") {
  static readonly layer = Layer.effect(
    ConsoleCookies,
    Effect.gen(function* () {
      const { sign, verify } = yield* Signer
      const publicUrl = yield* PublicUrl
      const { origin } = new URL(publicUrl)
      const { attributes, attributesOf, begunName, browserName, cookie, name } = cookiesOf(
        publicUrl,
        yield* MasterKeyRecord.ofService
      )

      // Whoever has the cookie knows the login, so no more than a mark of it is in there.
      const markOf = (login: string) => sign(`browser of ${loginKey(login)}`)

      /** The origin of the page is that of the service; without TLS, browsers send only the older header. */
      const isOfConsole = ({ headers }: Request) => {
        const site = headers["sec-fetch-site"]
        if (site !== undefined) return site === "same-origin"
        const from = headers["origin"]
        return from !== undefined && (from === origin || from.replace(/^http:\/\//, "") === headers["host"])
      }

      return ConsoleCookies.of({
        // Cookies are parsed when they are read, which most requests need not.
        tokenOf: (request) =>
          request.headers["authorization"] === undefined ? Tokens.parse(request.cookies[name] ?? "") : null,
        refusalOf: (request) => {
          const { headers, method } = request
          if (isSafe(method)) {
            const site = headers["sec-fetch-site"]
            return site === undefined || site === "same-origin" || site === "none"
              ? null
              : "sessions of the console are only for pages of the console; use a key in other clients"
          }
          if (!isOfConsole(request))
            return "sessions of the console are only for pages of the console; use a key in other clients"
          return headers[consoleHeader] === "1"
            ? null
            : `requests of the console that change something need the header ${consoleHeader}: 1`
        },
        cookie,
        isKnown: (request, login) => {
          const mark = request.cookies[browserName]
          return mark !== undefined && verify(`browser of ${loginKey(login)}`, mark)
        },
        known: (login) => `${browserName}=${markOf(login)}; ${attributes}; Max-Age=${knownSeconds}`,
        begunOf: (request) => Tokens.parse(request.cookies[begunName] ?? ""),
        begun: (token) =>
          token === null
            ? `${begunName}=; ${attributesOf("Lax")}; Max-Age=0`
            : `${begunName}=${token}; ${attributesOf("Lax")}; Max-Age=${Duration.toSeconds(signInLifetime)}`
      })
    })
  )
}
