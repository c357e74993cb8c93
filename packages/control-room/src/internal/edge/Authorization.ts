/**
 * Finds the principal of a request and checks the permission that the endpoint names.
 */
import {
  CurrentPrincipal,
  IntegrationAuthorization,
  type Permission,
  permissionsNeeded,
  type Principal,
  TokenAuthorization,
  WorkspaceAuthorization
} from "@signalbox/api/contract/Authorization"
import { ReturnsCredential, WithoutRecord } from "@signalbox/api/contract/IdempotencyKeys"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ConflictResponse, ForbiddenResponse, UnauthenticatedResponse } from "@signalbox/api/contract/Responses"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { limits } from "../settings/Limits.ts"
import * as Tokens from "../vault/Tokens.ts"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import { type AccountSession, AccountSessions } from "../store/access/AccountSessions.ts"
import { type ConsoleSession, ConsoleSessions } from "../store/access/ConsoleSessions.ts"
import { Assistants } from "../store/workers/Assistants.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import type { StoredStepRun } from "../store/runs/StoredStepRun.ts"
import { Workers } from "../store/workers/Workers.ts"
import { Refused } from "../engine/Refused.ts"
import { ConsoleCookies } from "./ConsoleCookies.ts"
import { forbidden, type Refusal, refusals, unauthenticated } from "./Failures.ts"
import * as Forms from "./Forms.ts"
import { Idempotency } from "./Idempotency.ts"
import { nameOf } from "../engine/Logins.ts"
import { callerOf, lacks } from "./Permissions.ts"
import { RateLimits } from "./RateLimits.ts"
import { UnauthenticatedRequests } from "./UnauthenticatedRequests.ts"

const none: ReadonlySet<Permission> = new Set()

const malformed = () =>
  unauthenticated("no usable key: send the header `Authorization: RC-WSKEY <key>` with a key of this control room")
const sessionEnded = () =>
  unauthenticated("the session of the console has ended; sign in again, or use `signalbox open`")
const unknown = () => forbidden("the key is unknown or was revoked; create a new one with `keys create`")

/** Both schemes run the same check on the raw header, so that a scheme never hides the result of the other. */
const tokenOf = (request: HttpServerRequest.HttpServerRequest): Tokens.Token | null => {
  const match = /^(?:rc-wskey|bearer) +(\S+) *$/i.exec(request.headers["authorization"] ?? "")
  return match?.[1] === undefined ? null : Tokens.parse(match[1])
}

/** The step run that this token belongs to, live or ended. */
const principalOfRun = (stepRun: StoredStepRun | null, token: Tokens.Token): Principal | null =>
  stepRun === null || stepRun.runTokenHash === null || !Tokens.matches(token.secret, stepRun.runTokenHash)
    ? null
    : {
        _tag: "StepRun",
        workspaceId: stepRun.workspaceId,
        processRunId: stepRun.processRunId,
        stepRunId: stepRun.id
      }

type TokenRefusal = ForbiddenResponse | ConflictResponse
type GuardRefusal = UnauthenticatedResponse | TokenRefusal | Refusal

/** Why a caller may not use an endpoint of the workspace in the path; null when it may. */
const refusalBy = (endpoint: HttpApiEndpoint.Top) => {
  const needed = permissionsNeeded(endpoint)
  // The only path without a workspace creates one.
  const ofWorkspace = endpoint.path.includes(":workspace_id")
  return (principal: Principal, { params }: HttpRouter.RouteContext["Service"]): ForbiddenResponse | null => {
    if (ofWorkspace && params["workspace_id"] !== principal.workspaceId) {
      return forbidden("the key does not belong to this workspace")
    }
    const { permissions } = callerOf(principal)
    const lacking = needed.find((permission) => !permissions.has(permission))
    return lacking === undefined ? null : forbidden(lacks(principal, lacking))
  }
}

/** The caller behind an API key, null for any other token. */
const callerOfKey = Effect.map(
  ApiKeys,
  (apiKeys) =>
    (token: Tokens.Token): Effect.Effect<Principal | null> =>
      Effect.map(apiKeys.authenticate(token), (key) => {
        if (key === null) return null
        const { id, permissions, workspaceId } = key
        return { _tag: "ApiKey", keyId: id, sessionId: null, workspaceId, permissions }
      })
)

/** The workspace in the path of a request. */
const workspaceOf = ({ params }: HttpRouter.RouteContext["Service"]): WorkspaceId | null => {
  const id = params["workspace_id"]
  return id === undefined ? null : WorkspaceId.make(id)
}

/** What `Room.manage` allows where the path names no workspace: to create one. */
const ofRoom: ReadonlySet<Permission> = new Set(["Room.manage", "Workspace.manage_api_keys"])

/** Without a workspace only who operates the room may do anything. */
const principalOfUser = ({ account, id, permissions }: AccountSession, workspace: WorkspaceId | null): Principal => ({
  _tag: "User",
  user: { id: account.id, first_name: account.first_name, last_name: account.last_name },
  name: nameOf(account),
  sessionId: id,
  workspaceId: workspace ?? WorkspaceId.make(""),
  permissions: workspace !== null ? permissions : account.manages_room ? ofRoom : none
})

/** The caller behind any token that may use `/api/v1` and `/secrets-v1`. */
const callerOfToken = Effect.gen(function* () {
  const ofKey = yield* callerOfKey
  const stepRuns = yield* StepRuns
  const assistants = yield* Assistants
  const sessions = yield* ConsoleSessions
  const accountSessions = yield* AccountSessions
  const ofUser = (token: Tokens.Token, workspace: WorkspaceId | null, isUse: boolean) =>
    Effect.map(accountSessions.find(token, workspace, isUse), (session) =>
      session === null ? null : principalOfUser(session, workspace)
    )
  const ofSession = (
    token: Tokens.Token,
    find: (token: Tokens.Token) => Effect.Effect<ConsoleSession | null>
  ): Effect.Effect<Principal | null> =>
    Effect.map(find(token), (session) => {
      if (session === null) return null
      const { id, key, permissions, workspaceId } = session
      return { _tag: "ApiKey", keyId: key.id, sessionId: id, workspaceId, permissions }
    })
  const ofRun = Effect.fnUntraced(function* (token: Tokens.Token): Effect.fn.Return<Principal | null, TokenRefusal> {
    if (token.kind === "assistantRun") {
      const run = yield* assistants.findRun(token.id)
      if (run?.state !== "in_progress" || !Tokens.matches(token.secret, run.runTokenHash)) return null
      const { id, workspaceId } = run
      return { _tag: "AssistantRun", workspaceId, assistantRunId: id }
    }
    const stepRun = yield* stepRuns.find(token.id)
    const principal = principalOfRun(stepRun, token)
    if (stepRun === null || principal === null) return null
    if (stepRun.state === "awaiting_worker") {
      return yield* forbidden("the step run of this token has not started; start it first")
    }
    if (stepRun.state !== "in_progress") {
      // As on the robot side: a task that still works for it learns that its work is no longer wanted.
      const message = `the step run of this token is ${stepRun.state}: the token has expired; stop the task`
      return yield* refusals("LEASE_LOST")(new Refused({ code: "LEASE_LOST", message }))
    }
    return principal
  })
  /** `workspace`: the one of the path, if it has one. `isUse`: whether a session counts it as a use. */
  return (
    token: Tokens.Token,
    workspace: WorkspaceId | null,
    isUse = true
  ): Effect.Effect<Principal | null, TokenRefusal> => {
    if (token.kind === "assistantRun" || token.kind === "stepRun") return ofRun(token)
    if (token.kind === "userSession") return ofUser(token, workspace, isUse)
    return token.kind === "session" ? ofSession(token, isUse ? sessions.find : sessions.look) : ofKey(token)
  }
})

/** The principal behind the token of a worker or of a step run. */
const principalOfToken = Effect.gen(function* () {
  const workers = yield* Workers
  const stepRuns = yield* StepRuns
  return Effect.fnUntraced(function* (token: Tokens.Token): Effect.fn.Return<Principal | null> {
    if (token.kind === "worker") {
      const worker = yield* workers.find(token.id)
      if (worker === null || !Tokens.matches(token.secret, worker.secretHash)) return null
      return { _tag: "Worker", workspaceId: worker.workspaceId, workerId: worker.id }
    }
    return token.kind === "stepRun" ? principalOfRun(yield* stepRuns.find(token.id), token) : null
  })
})

const openBody = ByteSize.fromInputUnsafe(limits.unauthenticatedBody)

/** The token of a session is good in its cookie alone. */
const isOfCookie = ({ kind }: Tokens.Token) => kind === "session" || kind === "userSession"

const isSubset = (permissions: ReadonlySet<Permission>, caller: Principal) =>
  [...permissions].every((permission) => callerOf(caller).permissions.has(permission))

/** The group of an endpoint. */
type Group = Pick<HttpApiGroup.Top, "identifier">

type Guarded<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** A form is read as JSON, once the caller is authenticated. */
const withForm = <E, R>(
  endpoint: HttpApiEndpoint.Top,
  handler: Guarded<E, R>,
  body?: Parameters<typeof Forms.asJson>[2]
): Guarded<E | Refusal, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (received) =>
    Effect.flatMap(Forms.asJson(received, endpoint, body), (request) =>
      request === received ? handler : Effect.provideService(handler, HttpServerRequest.HttpServerRequest, request)
    )
  )

/** @effect-expect-leaking HttpServerRequest | ParsedSearchParams | RouteContext */
export class Authorization extends Context.Service<
  Authorization,
  {
    /** Runs the handler of an endpoint when the key or token of the request permits it. */
    readonly guard: <E>(
      endpoint: HttpApiEndpoint.Top,
      group: Group,
      handler: Guarded<E, CurrentPrincipal | HttpRouter.Provided>
    ) => Guarded<E | GuardRefusal, HttpRouter.Provided>
    /**
     * Whether the key, token or session that a request was let in with still exists and has all permissions that its principal had; does
     * not count as a use.
     */
    readonly stillHolds: (request: HttpServerRequest.HttpServerRequest, principal: Principal) => Effect.Effect<boolean>
  }
>()("@signalbox/control-room/edge/Authorization") {
  static readonly layer = Layer.effect(
    Authorization,
    Effect.gen(function* () {
      const rateLimits = yield* RateLimits
      const limiter = yield* UnauthenticatedRequests
      /** Refuses a request that carries nothing in the form of a key. */
      const withoutKey = (request: HttpServerRequest.HttpServerRequest, refused: UnauthenticatedResponse) =>
        Effect.andThen(limiter.charge(request), Effect.fail(refused))
      const { replayOrRun } = yield* Idempotency
      const ofKey = yield* callerOfKey
      const principalOfCaller = yield* callerOfToken
      const principalOf = yield* principalOfToken
      const cookies = yield* ConsoleCookies

      /** Checks of a request with a key: its permission, its rate, forms read as JSON, and idempotency keys. */
      const workspace = <E>(
        endpoint: HttpApiEndpoint.Top,
        handler: Guarded<E, CurrentPrincipal | HttpRouter.Provided>
      ): Guarded<E | GuardRefusal, HttpRouter.Provided> => {
        const refusedBy = refusalBy(endpoint)
        const withoutRecord = Context.get(endpoint.annotations, WithoutRecord)
        const isCredential = Context.get(endpoint.annotations, ReturnsCredential)
        const entered = (received: HttpServerRequest.HttpServerRequest, principal: Principal) => {
          const handled = (request: HttpServerRequest.HttpServerRequest) =>
            Effect.provideService(
              withoutRecord ? handler : replayOrRun(request, principal, isCredential, handler),
              CurrentPrincipal,
              principal
            )
          return Forms.isForm(received)
            ? Effect.flatMap(Forms.asJson(received, endpoint), (request) =>
                Effect.provideService(handled(request), HttpServerRequest.HttpServerRequest, request)
              )
            : handled(received)
        }
        return Effect.withFiber<HttpServerResponse.HttpServerResponse, E | GuardRefusal, HttpRouter.Provided>(
          (fiber) => {
            // The router and this guard have provided these services to the fiber.
            const context = fiber.context as Context.Context<HttpRouter.Provided>
            const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
            const cookie = cookies.tokenOf(request)
            const token = cookie ?? tokenOf(request)
            if (token === null || (cookie === null && isOfCookie(token))) return withoutKey(request, malformed())
            const misused = cookie === null ? null : cookies.refusalOf(request)
            if (misused !== null) return Effect.fail(forbidden(misused))
            const route = Context.getUnsafe(context, HttpRouter.RouteContext)
            return Effect.flatMap(
              limiter.lookUp(request, token, principalOfCaller(token, workspaceOf(route))),
              (caller): Guarded<E | GuardRefusal, HttpRouter.Provided> => {
                if (caller === null) return Effect.fail(cookie === null ? unknown() : sessionEnded())
                const refused = refusedBy(caller, route)
                if (refused !== null) return Effect.fail(refused)
                return caller._tag === "ApiKey" || caller._tag === "User"
                  ? Effect.andThen(rateLimits.admit(callerOf(caller).id), entered(request, caller))
                  : entered(request, caller)
              }
            )
          }
        )
      }

      const integration = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { token: given } = yield* HttpServerRequest.ParsedSearchParams
        const token = typeof given === "string" ? Tokens.parse(given) : null
        if (token === null) {
          return yield* withoutKey(
            request,
            unauthenticated("no usable key: give the bare key of this control room as `token` in the query")
          )
        }
        const caller = yield* limiter.lookUp(request, token, ofKey(token))
        if (caller === null) return yield* unknown()
        const refused = refusalBy(endpoint)(caller, yield* HttpRouter.RouteContext)
        if (refused !== null) return yield* refused
        if (caller._tag === "ApiKey") yield* rateLimits.admit(caller.keyId)
        return caller
      })

      const ofToken = Effect.fnUntraced(function* (group: Group) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = tokenOf(request)
        if (token === null) return yield* withoutKey(request, malformed())
        const { params } = yield* HttpRouter.RouteContext
        const principal = yield* limiter.lookUp(request, token, principalOf(token))
        const workspace = params["workspace_id"]
        if (principal === null || (workspace !== undefined && workspace !== principal.workspaceId)) {
          return yield* forbidden("the token is unknown, or does not belong to this workspace")
        }
        const needed = group.identifier === "workerProtocol" ? "Worker" : "StepRun"
        if (principal._tag !== needed) {
          return yield* forbidden(
            needed === "Worker" ? "the token of a worker is required" : "the token of a step run is required"
          )
        }
        return principal
      })

      const open = <E>(handler: Guarded<E, HttpRouter.Provided>) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          limiter.attempt(request, Effect.provideService(handler, HttpIncomingMessage.MaxBodySize, openBody))
        )

      return Authorization.of({
        stillHolds: (request, principal) => {
          const token = cookies.tokenOf(request) ?? tokenOf(request)
          return token === null
            ? Effect.succeed(false)
            : principalOfCaller(token, principal.workspaceId, false).pipe(
                Effect.map((caller) => caller !== null && isSubset(callerOf(principal).permissions, caller)),
                Effect.orElseSucceed(() => false)
              )
        },
        guard: (endpoint, group, handler) => {
          const schemes = new Set([...endpoint.middlewares].map(({ key }) => key))
          if (schemes.has(WorkspaceAuthorization.key)) return workspace(endpoint, handler)
          if (schemes.has(IntegrationAuthorization.key)) {
            return Effect.provideServiceEffect(
              withForm(endpoint, handler, "any JSON"),
              CurrentPrincipal,
              integration(endpoint)
            )
          }
          if (schemes.has(TokenAuthorization.key)) {
            return Effect.provideServiceEffect(withForm(endpoint, handler), CurrentPrincipal, ofToken(group))
          }
          // Open to all: its handler has no principal.
          return open(withForm(endpoint, handler as Guarded<never, HttpRouter.Provided>))
        }
      })
    })
  )
}
