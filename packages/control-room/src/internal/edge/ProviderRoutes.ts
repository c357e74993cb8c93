/** Signing in with a provider: a browser goes there by a link, or from an invitation, and comes back to the callback of the provider. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Cookies from "effect/http/Cookies"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { nameOf } from "../engine/Logins.ts"
import { type Provider, Providers } from "../providers/Providers.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { type Begun, ProviderSignIns } from "../store/access/ProviderSignIns.ts"
import * as Tokens from "../vault/Tokens.ts"
import { AccountEntry } from "./AccountEntry.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { ConsoleCookies } from "./ConsoleCookies.ts"
import { refuse } from "./Failures.ts"
import { ProviderAccounts } from "./ProviderAccounts.ts"
import * as ProviderPages from "./ProviderPages.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"
import { bodyOf, fromOf, signInPath } from "./SignInRoutes.ts"
import { UnauthenticatedRequests } from "./UnauthenticatedRequests.ts"

const path = `${signInPath}/provider/:provider_id` as const

type Request = HttpServerRequest.HttpServerRequest

const Text = Schema.String.check(Schema.isMaxLength(1024))
const linkIn = bodyOf(Schema.Struct({ link: Text, replace: Schema.optionalKey(Schema.Boolean) }), "{link, replace?}")

/** A screen of the console; anything else is its first one. */
const placeOf = (given: string | null) =>
  given !== null && given.length <= 1000 && /^\/[!-~]*$/.test(given) ? given : "/"

const parametersOf = (request: Request) => new URL(request.url, "http://room").searchParams

/** Browsers say where a request comes from and what it is for: the provider sends a whole window here. */
const isWindow = ({ headers }: Request) => {
  const { "sec-fetch-dest": destination = "document", "sec-fetch-mode": mode = "navigate" } = headers
  return destination === "document" && mode === "navigate"
}

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const providers = yield* Providers
    const publicUrl = yield* PublicUrl
    const base = new URL(publicUrl).pathname.replace(/\/+$/, "")
    const console = `${base}/console/`
    const accounts = yield* Accounts
    const admission = yield* ProviderAccounts
    const clients = yield* ClientAddress
    const cookies = yield* ConsoleCookies
    const entry = yield* AccountEntry
    const limiter = yield* UnauthenticatedRequests
    const sessions = yield* AccountSessions
    const signIns = yield* ProviderSignIns

    const provider = Effect.map(HttpRouter.RouteContext, ({ params }) => providers.find(params["provider_id"] ?? ""))

    /** `place`: where a further attempt leads; null: it begins elsewhere. */
    const waysOf = ({ settings: { id, name } }: Provider, place: string | null): ProviderPages.Ways => {
      const to = place === null || place === "/" ? "" : `?to=${encodeURIComponent(place)}`
      return { name, again: place === null ? null : `${base}${signInPath}/provider/${id}${to}`, console }
    }

    const logged = (what: string, { settings }: Provider, detail: string) =>
      Effect.annotateLogs(Effect.logWarning(`${what}: ${detail}`), { provider: settings.id })

    /** The session of a person that the browser has. */
    const heldBy = Effect.fnUntraced(function* (request: Request) {
      const token = cookies.tokenOf(request)
      return token === null ? null : yield* sessions.find(token, null, false)
    })

    /** Notes what a browser begins, and returns the address of the provider with the cookie for the way back. */
    const begin = Effect.fnUntraced(function* (
      one: Provider,
      { account_id, link_id, place, session_id }: Pick<Begun, "account_id" | "link_id" | "place" | "session_id">
    ) {
      const { address, nonce, state, verifier } = yield* one.begin
      const { id } = one.settings
      const token = yield* signIns.begin({
        provider: id,
        state,
        nonce,
        verifier,
        place,
        account_id,
        link_id,
        session_id
      })
      return { address, cookie: cookies.begun(token) }
    })

    const start = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const one = yield* provider
      if (one === undefined) return ProviderPages.unknown(console)
      yield* limiter.charge(request)
      if (cookies.refusalOf(request) !== null) return ProviderPages.foreign(waysOf(one, null))
      const held = yield* heldBy(request)
      const place = placeOf(parametersOf(request).get("to"))
      const to = waysOf(one, place)
      return yield* begin(one, { place, account_id: null, link_id: null, session_id: held?.id ?? null }).pipe(
        Effect.map(({ address, cookie }) =>
          HttpServerResponse.redirect(address, {
            status: 303,
            headers: { "set-cookie": cookie, "referrer-policy": "no-referrer" }
          })
        ),
        Effect.catchTags({
          ProviderAway: ({ detail }) =>
            Effect.as(logged("a provider does not respond", one, detail), ProviderPages.away(to)),
          ProviderMistaken: ({ detail }) =>
            Effect.as(logged("a sign-in with a provider cannot begin", one, detail), ProviderPages.mistaken(to))
        })
      )
    })

    /** Begins from an invitation: the account of it becomes that of the person at the provider. */
    const startFromLink = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const refusal = cookies.refusalOf(request)
      if (refusal !== null) return yield* refuse(403, "FORBIDDEN", refusal)
      const one = yield* provider
      if (one === undefined) return yield* refuse(404, "NOT_FOUND", "this control room has no such provider")
      const { link, replace = false } = yield* linkIn(request)
      const token = Tokens.parse(link)
      const id = token === null ? null : yield* sessions.ofLink(token)
      const account = id === null ? null : yield* accounts.find(id)
      if (token === null || account === null || account.disabled) {
        yield* limiter.charge(request)
        return yield* refuse(403, "FORBIDDEN", "the link is unknown, used or expired; ask an administrator for another")
      }
      if (account.password !== null) {
        return yield* refuse(409, "CONFLICT", "this link is to choose a new password, since the account has one")
      }
      const held = yield* heldBy(request)
      if (held !== null && held.account.id !== account.id && !replace) {
        const message = `${nameOf(held.account)} is signed in in this browser; send replace: true to sign in as ${account.login}`
        return yield* refuse(409, "CONFLICT", message)
      }
      const begun = { place: "/", account_id: account.id, link_id: token.id, session_id: held?.id ?? null }
      const { address, cookie } = yield* begin(one, begun).pipe(
        Effect.catch(({ detail }) =>
          Effect.andThen(
            logged("a sign-in with a provider cannot begin", one, detail),
            Effect.fail(refuse(503, "UNAVAILABLE", `${one.settings.name} does not respond; try again later`))
          )
        )
      )
      return HttpServerResponse.setHeader(HttpServerResponse.jsonUnsafe({ address }), "set-cookie", cookie)
    })

    /** Another attempt of what a browser has begun; an invitation is opened again. */
    const againOf = (one: Provider, { account_id, place }: Begun) => waysOf(one, account_id === null ? place : null)

    /** Who came back: an account with its session, or why there is none. */
    const admit = Effect.fnUntraced(function* (request: Request, one: Provider, begun: Begun) {
      const claims = yield* one.finish(parametersOf(request), begun)
      const headers = yield* ResponseHeaders
      const origin = {
        sessionId: null,
        address: clients.address(request),
        requestId: headers["x-request-id"] ?? null
      }
      const admitted = yield* admission.admit(one, claims, begun, origin)
      if ("denied" in admitted) return ProviderPages.denied(againOf(one, begun), admitted.denied)
      if (begun.session_id !== null) yield* sessions.replace(begun.session_id)
      const from = { ...fromOf(request, { clients, isKnown: true }), provider: one.settings.id }
      const text = yield* entry.enter(request, admitted.account, from)
      const set = Cookies.fromSetCookie([cookies.cookie(text), cookies.begun(null)])
      return HttpServerResponse.replaceCookies(ProviderPages.entered(`${console}#${begun.place}`), set)
    })

    const finish = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const one = yield* provider
      if (one === undefined) return ProviderPages.unknown(console)
      yield* limiter.charge(request)
      const token = cookies.begunOf(request)
      const state = parametersOf(request).get("state") ?? ""
      const begun = token === null || !isWindow(request) ? null : yield* signIns.take(token, one.settings.id, state)
      if (begun === null) return ProviderPages.expired(waysOf(one, "/"))
      const to = againOf(one, begun)
      return yield* admit(request, one, begun).pipe(
        Effect.catchTags({
          ProviderAway: ({ detail }) =>
            Effect.as(logged("a provider does not respond", one, detail), ProviderPages.away(to)),
          ProviderMistaken: ({ detail }) =>
            Effect.as(logged("a sign-in with a provider was refused", one, detail), ProviderPages.mistaken(to)),
          ProviderRefused: ({ code }) => Effect.succeed(ProviderPages.refused(to, code))
        })
      )
    })

    yield* router.add("GET", path, start)
    yield* router.add("POST", path, startFromLink)
    yield* router.add("GET", `${path}/callback`, finish)
  })
)
