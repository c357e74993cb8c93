/** Signing in to the console with a password, and choosing one by a link. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Cookies from "effect/http/Cookies"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { nameOf } from "../engine/Logins.ts"
import { badLink, type From, SignIn } from "./SignIn.ts"
import { isSafeAddress } from "../settings/ProviderRules.ts"
import { Providers } from "../providers/Providers.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { type Account, Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { EntryOfRequest } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import * as Tokens from "../vault/Tokens.ts"
import { AccountEntry } from "./AccountEntry.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { ConsoleCookies } from "./ConsoleCookies.ts"
import { type Refusal, refuse } from "./Failures.ts"
import { textOfBody } from "./Incoming.ts"
import { SecondFactor } from "./SecondFactor.ts"
import * as SessionEntries from "./SessionEntries.ts"
import { SessionViews } from "./SessionViews.ts"
import * as SignInAttempts from "./SignInAttempts.ts"
import { UnauthenticatedRequests } from "./UnauthenticatedRequests.ts"

export const signInPath = "/console/sign-in"
export const linkPath = "/console/link"

type Request = HttpServerRequest.HttpServerRequest

const Text = Schema.String.check(Schema.isMaxLength(1024))
const Login = Schema.Struct({
  login: Text,
  password: Text,
  /** Of the second factor; with `pending`, the first code of the one that is set up. */
  code: Schema.optionalKey(Text),
  /** Of the enrolment that the response before has asked for. */
  pending: Schema.optionalKey(Text)
})
const Link = Schema.Struct({
  link: Text,
  /** Undefined: only whose link it is. */
  password: Schema.optionalKey(Text),
  /** Whether the session of somebody else in this browser may end. */
  replace: Schema.optionalKey(Schema.Boolean)
})

/** Where a request comes from. */
export const fromOf = (
  request: Request,
  { clients, isKnown }: { readonly clients: ClientAddress["Service"]; readonly isKnown: boolean }
): From => ({ address: clients.subscriber(request), browser: request.headers["user-agent"] ?? "", isKnown })

/** Reads a small body of JSON. */
export const bodyOf = <S extends Schema.Codec<unknown, unknown>>(
  schema: S,
  expected: string
): ((request: Request) => Effect.Effect<S["Type"], Refusal>) => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
  return Effect.fnUntraced(function* (request) {
    const body = decode(yield* textOfBody(request))
    if (Option.isSome(body)) return body.value
    return yield* refuse(400, "INVALID_REQUEST", `the body must be ${expected}, as JSON`)
  })
}

/** Of a second factor that is set up. */
export const wrongFirstCode = () =>
  refuse(400, "INVALID_REQUEST", "code: is wrong; check the clock of the phone and try the next one")

const loginIn = bodyOf(Login, "{login, password, code?, pending?}")
const linkIn = bodyOf(Link, "{link, password?, replace?}")

/**
 * `mayBeInsecure`: whether passwords may come over plain HTTP from other machines. `isOwn`: whether the program that embeds the room signs
 * people in.
 */
export const layer = ({ isOwn, mayBeInsecure }: { readonly isOwn: boolean; readonly mayBeInsecure: boolean }) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const isSafe = mayBeInsecure || isSafeAddress(yield* PublicUrl)
      const cookies = yield* ConsoleCookies
      const clients = yield* ClientAddress
      const accounts = yield* Accounts
      const sessions = yield* AccountSessions
      const signIn = yield* SignIn
      const secondFactor = yield* SecondFactor
      const views = yield* SessionViews
      const limiter = yield* UnauthenticatedRequests
      const attempts = yield* SignInAttempts.make
      const providers = (yield* Providers).all.map(({ settings: { id, name } }) => ({ id, name }))
      const entry = yield* AccountEntry
      const { transaction } = yield* Database
      const entries = yield* SessionEntries.make

      /** Refuses pages of others, and passwords that anybody on the way can read. */
      const guard = Effect.fnUntraced(function* (request: Request) {
        const refusal = cookies.refusalOf(request)
        if (refusal !== null) return yield* refuse(403, "FORBIDDEN", refusal)
        if (isOwn) {
          return yield* refuse(403, "FORBIDDEN", "people are signed in by the application that this room belongs to")
        }
        if (isSafe) return
        const remedy = "serve the room over https (--public-url), or start it with --insecure-sign-in"
        return yield* refuse(403, "FORBIDDEN", `passwords are not accepted over plain http: ${remedy}`)
      })

      /** A new session; that of the browser before ends. `body`: what is returned in place of the session. */
      const enter = Effect.fnUntraced(function* (request: Request, account: Account, body?: object) {
        const old = cookies.tokenOf(request)
        if (old?.kind === "userSession") yield* sessions.close(old)
        const text = yield* entry.enter(request, account, fromOf(request, { clients, isKnown: true }))
        const token = Tokens.parse(text)
        const view = token === null ? null : yield* views.ofUser(token, null)
        if (view === null) return yield* refuse(401, "UNAUTHENTICATED", "the account was disabled")
        const set = Cookies.fromSetCookie([cookies.cookie(text), cookies.known(account.login)])
        return HttpServerResponse.replaceCookies(body === undefined ? view : HttpServerResponse.jsonUnsafe(body), set)
      })

      /** What a workspace requires is set up before there is a session. */
      const enterOrEnrol = Effect.fnUntraced(function* (
        request: Request,
        account: Account,
        { code, pending }: { readonly code?: string; readonly pending?: string }
      ) {
        const enrolment = yield* signIn.enrolment(account)
        if (enrolment === null) return yield* enter(request, account)
        if (code === undefined || pending === undefined) return HttpServerResponse.jsonUnsafe({ enrol: enrolment })
        const made = yield* secondFactor.confirm(account, pending, code).pipe(
          Effect.tap((codes) =>
            codes === null ? Effect.void : entries.changed(request, account, null, "addSecondFactor")
          ),
          transaction
        )
        const codes = made ?? (yield* wrongFirstCode())
        return yield* enter(request, account, { recovery_codes: codes })
      })

      const open = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        yield* guard(request)
        const putBack = yield* attempts.take(request)
        const attempt = yield* loginIn(request)
        const isKnown = cookies.isKnown(request, attempt.login)
        const checked = yield* signIn.check({ code: undefined, ...attempt }, fromOf(request, { clients, isKnown }))
        yield* putBack
        if (checked === "code needed") return HttpServerResponse.jsonUnsafe({ code_needed: true })
        return yield* enterOrEnrol(request, checked, attempt)
      })

      /** Whose link it is; with a password, chooses that one and signs in. */
      const choose = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        yield* guard(request)
        const { link, password, replace = false } = yield* linkIn(request)
        const token = Tokens.parse(link)
        const id = token === null ? null : yield* sessions.ofLink(token)
        const account = id === null ? null : yield* accounts.find(id)
        if (token === null || account === null || account.disabled) {
          yield* limiter.charge(request)
          return yield* badLink()
        }
        const cookie = cookies.tokenOf(request)
        const other = cookie === null ? null : yield* sessions.find(cookie, null, false)
        const isOther = other !== null && other.account.id !== account.id
        if (password === undefined) {
          return HttpServerResponse.jsonUnsafe({
            login: account.login,
            name: nameOf(account),
            signed_in: isOther ? nameOf(other.account) : null,
            // Who has a password has accepted the invitation, and may have a second factor.
            providers: account.password === null ? providers : []
          })
        }
        if (isOther && !replace) {
          const message = `${nameOf(other.account)} is signed in in this browser; send replace: true to sign in as ${account.login}`
          return yield* refuse(409, "CONFLICT", message)
        }
        yield* Effect.provideService(
          signIn.setPasswordBy(token, account, password),
          EntryOfRequest,
          entries.changed(request, account, null, "choosePassword")
        )
        // A link replaces the password alone, or whoever has one gets past the second factor.
        if (account.totp_secret !== null) return HttpServerResponse.jsonUnsafe({ code_needed: true })
        return yield* enterOrEnrol(request, account, {})
      })

      /** So that nobody who has no account meets a form for one. */
      const ask = Effect.map(accounts.exist, (exist) =>
        HttpServerResponse.jsonUnsafe({ accounts: exist, own: isOwn, providers })
      )

      yield* router.add("GET", signInPath, ask)
      yield* router.add("POST", signInPath, open)
      yield* router.add("POST", linkPath, choose)
    })
  )
