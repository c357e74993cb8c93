/** The session of the console over HTTP: opened by a ticket or a key, asked for, and closed. */
import { basePath } from "@signalbox/api/contract/Api"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Tokens from "../vault/Tokens.ts"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import { type ConsoleSession, ConsoleSessions } from "../store/access/ConsoleSessions.ts"
import { AuditEntries } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import { Workspaces } from "../store/access/Workspaces.ts"
import * as Buckets from "./Buckets.ts"
import { textOfBody } from "./Incoming.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { ConsoleCookies } from "./ConsoleCookies.ts"
import { refuse } from "./Failures.ts"
import { FlowsOf } from "./FlowRoutes.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"
import { UnauthenticatedRequests } from "./UnauthenticatedRequests.ts"

export const sessionPath = "/console/session"
/** Files of robots, by their id. */
export const shownFilesPath = "/console/files"

const Opening = Schema.Union([Schema.Struct({ ticket: Schema.String }), Schema.Struct({ key: Schema.String })])
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Opening))

/** Failed attempts of one address. */
const attempts = { perSecond: 5 / 60, burst: 5 }

const refused = (message: string) => refuse(403, "FORBIDDEN", message)

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const cookies = yield* ConsoleCookies
    const sessions = yield* ConsoleSessions
    const keys = yield* ApiKeys
    const audit = yield* AuditEntries
    const { transaction } = yield* Database
    const workspaces = yield* Workspaces
    const hasFlows = yield* FlowsOf
    const buckets = Buckets.make(attempts)
    const clients = yield* ClientAddress
    const limiter = yield* UnauthenticatedRequests

    /** Null: not counted, since all people may have the address of one proxy. */
    const counted = (request: HttpServerRequest.HttpServerRequest) =>
      clients.isKnown ? clients.subscriber(request) : null

    const putBack = (address: string | null, now: number) => {
      if (address !== null) buckets.putBack(address, now)
    }

    const respond = Effect.fnUntraced(function* (session: ConsoleSession) {
      const workspace = yield* workspaces.get(session.workspaceId)
      return HttpServerResponse.jsonUnsafe({
        workspace: { id: session.workspaceId, name: workspace?.name ?? "" },
        api: basePath,
        key: session.key,
        permissions: [...session.permissions],
        flows: yield* hasFlows(session.workspaceId),
        expires_at: session.expiresAt
      })
    })

    const keyOf = Effect.fnUntraced(function* (opening: typeof Opening.Type) {
      const token = Tokens.parse("ticket" in opening ? opening.ticket : opening.key.trim())
      if (token === null) return null
      if ("ticket" in opening) return yield* sessions.redeem(token)
      const key = yield* keys.authenticate(token)
      return key === null ? null : { workspaceId: key.workspaceId, keyId: key.id }
    })

    /** A new session, with its entry. */
    const opened = Effect.fnUntraced(function* (
      { keyId, workspaceId }: { readonly workspaceId: WorkspaceId; readonly keyId: string },
      request: HttpServerRequest.HttpServerRequest
    ) {
      const text = yield* sessions.open(workspaceId, keyId)
      const headers = yield* ResponseHeaders
      yield* audit.write({
        workspaceId,
        actor: { type: "api_key", id: keyId },
        origin: {
          sessionId: Tokens.parse(text)?.id ?? null,
          address: clients.address(request),
          requestId: headers["x-request-id"] ?? null
        },
        action: "openSession",
        resource: { type: "api_key", id: keyId, name: null },
        before: null,
        after: null
      })
      return text
    }, transaction)

    const open = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const refusal = cookies.refusalOf(request)
      if (refusal !== null) return yield* refused(refusal)
      const now = yield* Clock.currentTimeMillis
      const address = counted(request)
      const taken = address === null ? null : buckets.take(address, now)
      if (taken !== null && !taken.admitted) {
        const seconds = Math.ceil(taken.waitMillis / 1000)
        return yield* refuse(429, "RATE_LIMITED", `too many attempts; try again in ${seconds} s`, {
          "retry-after": String(seconds)
        })
      }
      const opening = decode(yield* textOfBody(request))
      if (Option.isNone(opening)) {
        putBack(address, now)
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
      putBack(address, now)
      const text = yield* opened(key, request)
      const token = Tokens.parse(text)
      const session = token === null ? null : yield* sessions.find(token)
      // It was revoked in between.
      if (session === null) return yield* refused("the key was revoked")
      return HttpServerResponse.setHeader(yield* respond(session), "set-cookie", cookies.cookie(text))
    })

    const ended = Effect.suspend(() =>
      Effect.fail(
        refuse(401, "UNAUTHENTICATED", "no session; open one with a ticket or a key", {
          "set-cookie": cookies.cookie(null)
        })
      )
    )

    const show = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const refusal = cookies.refusalOf(request)
      if (refusal !== null) return yield* refused(refusal)
      const token = cookies.tokenOf(request)
      const session = token === null ? null : yield* sessions.find(token)
      return session === null ? yield* ended : yield* respond(session)
    })

    const close = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const refusal = cookies.refusalOf(request)
      if (refusal !== null) return yield* refused(refusal)
      const token = cookies.tokenOf(request)
      if (token !== null) yield* sessions.close(token)
      return HttpServerResponse.setHeader(
        HttpServerResponse.jsonUnsafe({ closed: true }),
        "set-cookie",
        cookies.cookie(null)
      )
    })

    yield* router.add("POST", sessionPath, open)
    yield* router.add("GET", sessionPath, show)
    yield* router.add("DELETE", sessionPath, close)
  })
)
