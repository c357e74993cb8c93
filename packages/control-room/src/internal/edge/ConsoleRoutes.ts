/** The session of the console over HTTP: opened by a ticket or a key, asked for, and closed. */
import type { Permission } from "@signalbox/api/contract/Authorization"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Tokens from "../vault/Tokens.ts"
import { Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { type ApiKey, ApiKeys } from "../store/access/ApiKeys.ts"
import { ConsoleSessions } from "../store/access/ConsoleSessions.ts"
import { Database } from "../store/database/Database.ts"
import { Providers } from "../providers/Providers.ts"
import { textOfBody } from "./Incoming.ts"
import { ConsoleCookies } from "./ConsoleCookies.ts"
import { refuse } from "./Failures.ts"
import * as SessionEntries from "./SessionEntries.ts"
import { SessionViews } from "./SessionViews.ts"
import * as SignInAttempts from "./SignInAttempts.ts"
import { UnauthenticatedRequests } from "./UnauthenticatedRequests.ts"

export const sessionPath = "/console/session"
/** Files of robots, by their id. */
export const shownFilesPath = "/console/files"

const Opening = Schema.Union([Schema.Struct({ ticket: Schema.String }), Schema.Struct({ key: Schema.String })])
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Opening))

const refused = (message: string) => refuse(403, "FORBIDDEN", message)

/** `mayUseKeys`: whether any key opens a session where people have accounts. */
export const layer = ({ mayUseKeys }: { readonly mayUseKeys: boolean }) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const cookies = yield* ConsoleCookies
      const sessions = yield* ConsoleSessions
      const accountSessions = yield* AccountSessions
      const keys = yield* ApiKeys
      const accounts = yield* Accounts
      const { ofKey, ofRequest } = yield* SessionViews
      const limiter = yield* UnauthenticatedRequests
      const providers = yield* Providers
      const attempts = yield* SignInAttempts.make
      const { transaction } = yield* Database
      const entries = yield* SessionEntries.make

      const keyOf = Effect.fnUntraced(function* (opening: typeof Opening.Type) {
        const token = Tokens.parse("ticket" in opening ? opening.ticket : opening.key.trim())
        if (token === null) return null
        if ("key" in opening) return yield* keys.authenticate(token)
        const redeemed = yield* sessions.redeem(token)
        return redeemed === null ? null : yield* keys.ofId(redeemed.keyId)
      })

      /** A new session, with its entry in the audit. */
      const opened = Effect.fnUntraced(function* (
        { id, workspaceId }: ApiKey,
        request: HttpServerRequest.HttpServerRequest
      ) {
        const text = yield* sessions.open(workspaceId, id)
        yield* entries.opened(request, workspaceId, { type: "api_key", id }, text)
        return text
      }, transaction)

      /** Once people have accounts, a key is nobody: only who operates the room lets themselves in by one. */
      const mayOpen = (permissions: ReadonlySet<Permission>) =>
        mayUseKeys || permissions.has("Room.manage")
          ? Effect.succeed(true)
          : Effect.map(accounts.exist, (exist) => !exist)

      const open = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const refusal = cookies.refusalOf(request)
        if (refusal !== null) return yield* refused(refusal)
        const putBack = yield* attempts.take(request)
        const opening = decode(yield* textOfBody(request))
        if (Option.isNone(opening)) {
          yield* putBack
          return yield* refuse(400, "INVALID_REQUEST", "the body must be {ticket} or {key}, as JSON")
        }
        const key = yield* keyOf(opening.value)
        if (key === null) {
          yield* limiter.charge(request)
          return yield* refused(
            "ticket" in opening.value
              ? "the ticket is unknown, used or expired; create a new one with `signalbox open`"
              : "the key is unknown or was revoked; create a new one with `signalbox keys create`"
          )
        }
        yield* putBack
        if (!(yield* mayOpen(key.permissions))) {
          return yield* refused("people sign in with their own login here; keys of the workspace are for programs")
        }
        const text = yield* opened(key, request)
        const token = Tokens.parse(text)
        const session = token === null ? null : yield* sessions.find(token)
        // It was revoked in between.
        if (session === null) return yield* refused("the key was revoked")
        return HttpServerResponse.setHeader(yield* ofKey(session), "set-cookie", cookies.cookie(text))
      })

      /** The cookie stays: by the time of the response, the browser may have the one of a session that began meanwhile. */
      const ended = Effect.suspend(() =>
        Effect.fail(refuse(401, "UNAUTHENTICATED", "no session; open one with a ticket or a key"))
      )

      const show = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const refusal = cookies.refusalOf(request)
        if (refusal !== null) return yield* refused(refusal)
        return (yield* ofRequest(request)) ?? (yield* ended)
      })

      const close = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const refusal = cookies.refusalOf(request)
        if (refusal !== null) return yield* refused(refusal)
        const token = cookies.tokenOf(request)
        if (token?.kind === "session") yield* sessions.close(token)
        const held = token?.kind === "userSession" ? yield* accountSessions.find(token, null, false) : null
        if (token?.kind === "userSession") yield* accountSessions.close(token)
        // The session here has ended by now, whether its provider responds or not.
        const provider = providers.find(held?.provider ?? "")
        const address = provider === undefined ? null : yield* provider.signOutAddress
        return HttpServerResponse.setHeader(
          HttpServerResponse.jsonUnsafe({ closed: true, ...defined({ continue_at: address ?? undefined }) }),
          "set-cookie",
          cookies.cookie(null)
        )
      })

      yield* router.add("POST", sessionPath, open)
      yield* router.add("GET", sessionPath, show)
      yield* router.add("DELETE", sessionPath, close)
    })
  )
