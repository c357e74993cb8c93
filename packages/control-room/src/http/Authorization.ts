/**
 * Finds the principal of a request and checks the permission that the endpoint names.
 */
import {
  CurrentPrincipal,
  type Principal,
  RequiredPermission,
  runPermissions,
  TokenAuthorization,
  WorkspaceAuthorization
} from "@signalbox/api/contract/Authorization"
import type { ForbiddenResponse, UnauthenticatedResponse } from "@signalbox/api/contract/Responses"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Tokens from "../Tokens.ts"
import { Assistants } from "../store/Assistants.ts"
import { StepRuns } from "../store/StepRuns.ts"
import { Workers } from "../store/Workers.ts"
import { Workspaces } from "../store/Workspaces.ts"
import { forbidden, unauthenticated } from "./Failures.ts"

const malformed = () =>
  unauthenticated("no usable key: send the header `Authorization: RC-WSKEY <key>` with a key of this control room")
const unknown = () => forbidden("the key is unknown or was revoked; make a new one with `keys create`")

/** Both schemes run the same check on the raw header, so that a scheme never hides the answer of the other. */
const tokenOf = (request: HttpServerRequest.HttpServerRequest): Tokens.Token | null => {
  const match = /^(?:rc-wskey|bearer) +(\S+) *$/i.exec(request.headers["authorization"] ?? "")
  return match?.[1] === undefined ? null : Tokens.parse(match[1])
}

type Check<A> = (
  about: A
) => Effect.Effect<
  Principal,
  UnauthenticatedResponse | ForbiddenResponse,
  HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext
>

/** The tokens of runs open the assets and secrets of their workspace, for as long as the run lives. */
const makeOfRun = Effect.gen(function* () {
  const stepRuns = yield* StepRuns
  const assistants = yield* Assistants
  const principalOf = Effect.fnUntraced(function* ({
    id,
    kind,
    secret
  }: Tokens.Token): Effect.fn.Return<Exclude<Principal, { readonly _tag: "ApiKey" }> | null> {
    if (kind === "assistantRun") {
      const run = yield* assistants.findRun(id)
      if (run?.state !== "in_progress" || !Tokens.matches(secret, run.runTokenHash)) return null
      return { _tag: "AssistantRun", workspaceId: run.workspaceId, assistantRunId: run.id }
    }
    const run = yield* stepRuns.find(id)
    if (run?.state !== "in_progress" || run.runTokenHash === null) return null
    if (!Tokens.matches(secret, run.runTokenHash)) return null
    return {
      _tag: "StepRun",
      workspaceId: run.workspaceId,
      processRunId: run.processRunId,
      stepRunId: run.id
    }
  })
  const check = Effect.fnUntraced(function* (token: Tokens.Token, endpoint: HttpApiEndpoint.Top) {
    const principal = yield* principalOf(token)
    const { params } = yield* HttpRouter.RouteContext
    if (principal === null || params["workspace_id"] !== principal.workspaceId) {
      return yield* forbidden("the token is unknown, its run has ended, or it does not belong to this workspace")
    }
    const needed = Context.getOrUndefined(endpoint.annotations, RequiredPermission)
    if (needed !== undefined && !runPermissions.includes(needed)) {
      return yield* forbidden(`the token of a run lacks the permission ${needed}; use a key that has it`)
    }
    return principal
  })
  return check
})

const workspaceLayer = Layer.effect(
  WorkspaceAuthorization,
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const ofRun = yield* makeOfRun
    const check: Check<HttpApiEndpoint.Top> = Effect.fnUntraced(function* (endpoint) {
      const token = tokenOf(yield* HttpServerRequest.HttpServerRequest)
      if (token === null) return yield* malformed()
      if (token.kind === "stepRun" || token.kind === "assistantRun") return yield* ofRun(token, endpoint)
      const key = token.kind === "apiKey" ? yield* workspaces.findKey(token.id) : null
      if (key === null || !Tokens.matches(token.secret, key.secretHash)) return yield* unknown()
      const { params } = yield* HttpRouter.RouteContext
      if (params["workspace_id"] !== key.workspaceId) {
        return yield* forbidden("the key does not belong to this workspace")
      }
      const needed = Context.getOrUndefined(endpoint.annotations, RequiredPermission)
      if (needed !== undefined && !key.permissions.has(needed)) {
        return yield* forbidden(`the key lacks the permission ${needed}; use a key that has it`)
      }
      return { _tag: "ApiKey", keyId: key.id, workspaceId: key.workspaceId, permissions: key.permissions }
    })
    return WorkspaceAuthorization.of({
      wskey: (effect, { endpoint }) => Effect.provideServiceEffect(effect, CurrentPrincipal, check(endpoint)),
      bearer: (effect, { endpoint }) => Effect.provideServiceEffect(effect, CurrentPrincipal, check(endpoint))
    })
  })
)

const tokenLayer = Layer.effect(
  TokenAuthorization,
  Effect.gen(function* () {
    const workers = yield* Workers
    const stepRuns = yield* StepRuns
    const check: Check<HttpApiGroup.Top> = Effect.fnUntraced(function* (group) {
      const token = tokenOf(yield* HttpServerRequest.HttpServerRequest)
      if (token === null) return yield* malformed()
      const { params } = yield* HttpRouter.RouteContext
      const principal = yield* principalOf(token)
      const workspace = params["workspace_id"]
      if (principal === null || (workspace !== undefined && workspace !== principal.workspaceId)) {
        return yield* forbidden("the token is unknown, or does not belong to this workspace")
      }
      const needed = group.identifier === "workerProtocol" ? "Worker" : "StepRun"
      if (principal._tag !== needed) {
        return yield* forbidden(
          needed === "Worker" ? "this needs the token of a worker" : "this needs the token that a step run was given"
        )
      }
      return principal
    })
    const principalOf = Effect.fnUntraced(function* (token: Tokens.Token): Effect.fn.Return<Principal | null> {
      if (token.kind === "worker") {
        const worker = yield* workers.find(token.id)
        if (worker === null || !Tokens.matches(token.secret, worker.secretHash)) return null
        return { _tag: "Worker", workspaceId: worker.workspaceId, workerId: worker.id }
      }
      if (token.kind === "stepRun") {
        const stepRun = yield* stepRuns.find(token.id)
        const hash = stepRun?.runTokenHash
        if (stepRun === null || hash === null || hash === undefined || !Tokens.matches(token.secret, hash)) return null
        return {
          _tag: "StepRun",
          workspaceId: stepRun.workspaceId,
          processRunId: stepRun.processRunId,
          stepRunId: stepRun.id
        }
      }
      return null
    })
    return TokenAuthorization.of({
      bearer: (effect, { group }) => Effect.provideServiceEffect(effect, CurrentPrincipal, check(group))
    })
  })
)

export const layer = Layer.mergeAll(workspaceLayer, tokenLayer)
