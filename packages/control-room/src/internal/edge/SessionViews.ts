/** What the console is told of its session: of a person, or of a key. */
import { basePath } from "@signalbox/api/contract/Api"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { nameOf } from "../engine/Logins.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { type ConsoleSession, ConsoleSessions } from "../store/access/ConsoleSessions.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { Workspaces } from "../store/access/Workspaces.ts"
import type * as Tokens from "../vault/Tokens.ts"
import { ConsoleCookies } from "./ConsoleCookies.ts"
import { FlowsOf } from "./FlowRoutes.ts"

/** The parameter that names the workspace that a person looks at. */
const workspaceIn = (request: HttpServerRequest.HttpServerRequest) =>
  new URL(request.url, "http://room").searchParams.get("workspace")

type Response = HttpServerResponse.HttpServerResponse

export class SessionViews extends Context.Service<
  SessionViews,
  {
    readonly ofKey: (session: ConsoleSession) => Effect.Effect<Response>
    /** Of the session of a person, in a workspace of theirs: the one of this id, else the first. Null: it has ended. */
    readonly ofUser: (token: Tokens.Token, workspace: string | null) => Effect.Effect<Response | null>
    /** Of the session in the cookie of a request; null when it has none. */
    readonly ofRequest: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<Response | null>
  }
>()("@signalbox/control-room/edge/SessionViews") {
  static readonly layer = Layer.effect(
    SessionViews,
    Effect.gen(function* () {
      const cookies = yield* ConsoleCookies
      const keySessions = yield* ConsoleSessions
      const userSessions = yield* AccountSessions
      const memberships = yield* Memberships
      const workspaces = yield* Workspaces
      const hasFlows = yield* FlowsOf

      const ofKey = Effect.fnUntraced(function* (session: ConsoleSession) {
        const found = yield* workspaces.get(session.workspaceId)
        const workspace = { id: session.workspaceId, name: found?.name ?? "" }
        return HttpServerResponse.jsonUnsafe({
          workspace,
          workspaces: [workspace],
          api: basePath,
          key: session.key,
          user: null,
          permissions: [...session.permissions],
          flows: yield* hasFlows(session.workspaceId),
          expires_at: session.expiresAt
        })
      })

      const ofUser = Effect.fnUntraced(function* (token: Tokens.Token, asked: string | null) {
        const anywhere = yield* userSessions.find(token, null, true)
        if (anywhere === null) return null
        const { account, expiresAt } = anywhere
        const own = yield* memberships.of(account.id)
        const chosen = own.find(({ workspace }) => workspace.id === asked) ?? own[0]
        const here: WorkspaceId | null = chosen?.workspace.id ?? null
        const session = here === null ? anywhere : yield* userSessions.find(token, here, false)
        return HttpServerResponse.jsonUnsafe({
          workspace: chosen?.workspace ?? { id: "", name: "" },
          workspaces: own.map(({ workspace }) => workspace),
          api: basePath,
          key: null,
          user: {
            id: account.id,
            login: account.login,
            name: nameOf(account),
            role: chosen?.role ?? null,
            manages_room: account.manages_room
          },
          permissions: [...(session?.permissions ?? [])],
          flows: here !== null && (yield* hasFlows(here)),
          expires_at: expiresAt
        })
      })

      return SessionViews.of({
        ofKey,
        ofUser,
        ofRequest: Effect.fnUntraced(function* (request) {
          const token = cookies.tokenOf(request)
          if (token === null) return null
          if (token.kind === "userSession") return yield* ofUser(token, workspaceIn(request))
          const session = yield* keySessions.find(token)
          return session === null ? null : yield* ofKey(session)
        })
      })
    })
  )
}
