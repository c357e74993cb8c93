/** A person's own account, for whoever is signed in to it: password, second factor, sessions. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { SecondFactor } from "./SecondFactor.ts"
import { SignIn } from "./SignIn.ts"
import { type Account, Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { EntryOfRequest } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { ConsoleCookies } from "./ConsoleCookies.ts"
import { refuse } from "./Failures.ts"
import * as SessionEntries from "./SessionEntries.ts"
import { bodyOf, fromOf, wrongFirstCode } from "./SignInRoutes.ts"

export const accountPath = "/console/account"

type Request = HttpServerRequest.HttpServerRequest

const Text = Schema.String.check(Schema.isMaxLength(1024))
const changeIn = bodyOf(Schema.Struct({ current: Text, password: Text }), "{current, password}")
const beginIn = bodyOf(Schema.Struct({ password: Text }), "{password}")
const confirmIn = bodyOf(Schema.Struct({ pending: Text, code: Text }), "{pending, code}")
const removeIn = bodyOf(Schema.Struct({ password: Text, code: Text }), "{password, code}")

const mostSessions = 100

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const cookies = yield* ConsoleCookies
    const clients = yield* ClientAddress
    const accounts = yield* Accounts
    const sessions = yield* AccountSessions
    const memberships = yield* Memberships
    const signIn = yield* SignIn
    const secondFactor = yield* SecondFactor
    const { transaction } = yield* Database
    const entries = yield* SessionEntries.make

    /** The account that the browser is signed in to, and its session. */
    const own = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const refusal = cookies.refusalOf(request)
      if (refusal !== null) return yield* refuse(403, "FORBIDDEN", refusal)
      const token = cookies.tokenOf(request)
      const session = token === null ? null : yield* sessions.find(token, null, true)
      const account = session === null ? null : yield* accounts.find(session.account.id)
      if (session === null || account === null) {
        return yield* refuse(401, "UNAUTHENTICATED", "nobody is signed in in this browser; sign in first")
      }
      return { request, account, session: session.id }
    })

    /** What needs the password again, since a browser may be left open. It is throttled as a sign-in is. */
    const confirmed = Effect.fnUntraced(function* (
      request: Request,
      account: Account,
      password: string,
      code?: string
    ) {
      const from = fromOf(request, { clients, isKnown: true })
      const attempt = { login: account.login, password, code }
      return yield* signIn.check(attempt, from)
    })

    /** In place of the sessions that have ended. */
    const entered = Effect.fnUntraced(function* (request: Request, account: Account, body: object) {
      const text = yield* signIn.enter(account.id, fromOf(request, { clients, isKnown: true }))
      return HttpServerResponse.setHeader(HttpServerResponse.jsonUnsafe(body), "set-cookie", cookies.cookie(text))
    })

    /** A session with a new id: whoever knew the old one is out. */
    const renewed = (request: Request, account: Account, body: object) =>
      Effect.andThen(sessions.end(account.id, { except: null }), entered(request, account, body))

    const show = Effect.gen(function* () {
      const { account, session } = yield* own
      const { email, first_name, id, last_name, login, manages_room, totp_secret } = account
      const { rows } = yield* sessions.list(id, { after: null, limit: mostSessions })
      return HttpServerResponse.jsonUnsafe({
        id,
        login,
        first_name,
        last_name,
        email,
        manages_room,
        second_factor: totp_secret !== null,
        has_password: account.password !== null,
        sessions: rows.map((row) => ({ ...row, current: row.id === session }))
      })
    })

    const changePassword = Effect.gen(function* () {
      const { account, request, session } = yield* own
      const { current, password } = yield* changeIn(request)
      yield* confirmed(request, account, current)
      yield* Effect.provideService(
        signIn.setPassword(account, password),
        EntryOfRequest,
        entries.changed(request, account, session, "changePassword")
      )
      return yield* entered(request, account, { changed: true })
    })

    const beginFactor = Effect.gen(function* () {
      const { account, request } = yield* own
      const { password } = yield* beginIn(request)
      if (account.totp_secret !== null) {
        return yield* refuse(409, "CONFLICT", "the account has a second factor; remove it before another is added")
      }
      yield* confirmed(request, account, password)
      return HttpServerResponse.jsonUnsafe(yield* secondFactor.begin(account))
    })

    const confirmFactor = Effect.gen(function* () {
      const { account, request, session } = yield* own
      const { code, pending } = yield* confirmIn(request)
      if (account.totp_secret !== null) return yield* refuse(409, "CONFLICT", "the account has a second factor already")
      const made = yield* secondFactor.confirm(account, pending, code).pipe(
        Effect.tap((codes) =>
          codes === null ? Effect.void : entries.changed(request, account, session, "addSecondFactor")
        ),
        transaction
      )
      const codes = made ?? (yield* wrongFirstCode())
      return yield* renewed(request, account, { recovery_codes: codes })
    })

    const removeFactor = Effect.gen(function* () {
      const { account, request, session } = yield* own
      const { code, password } = yield* removeIn(request)
      yield* confirmed(request, account, password, code)
      yield* accounts
        .removeSecondFactor(account.id)
        .pipe(Effect.andThen(entries.changed(request, account, session, "removeSecondFactor")), transaction)
      // Where one is required, another is set up at the next sign-in.
      if (yield* memberships.needsSecondFactor(account.id)) {
        yield* sessions.end(account.id, { except: null })
        const body = HttpServerResponse.jsonUnsafe({ removed: true })
        return HttpServerResponse.setHeader(body, "set-cookie", cookies.cookie(null))
      }
      return yield* renewed(request, account, { removed: true })
    })

    const endSession = Effect.gen(function* () {
      const { account, request, session } = yield* own
      const { params } = yield* HttpRouter.RouteContext
      const ended = params["session_id"] ?? ""
      yield* sessions
        .end(account.id, { only: ended })
        .pipe(
          Effect.andThen(entries.changed(request, account, session, "endSession", { session_id: ended })),
          transaction
        )
      return HttpServerResponse.jsonUnsafe({ ended: true })
    })

    yield* router.add("GET", accountPath, show)
    yield* router.add("POST", `${accountPath}/password`, changePassword)
    yield* router.add("POST", `${accountPath}/second-factor`, beginFactor)
    yield* router.add("POST", `${accountPath}/second-factor/confirm`, confirmFactor)
    yield* router.add("DELETE", `${accountPath}/second-factor`, removeFactor)
    yield* router.add("DELETE", `${accountPath}/sessions/:session_id`, endSession)
  })
)
