/** Authorization: permissions, the principal of a request, and the middleware that finds it. */
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import type { AssistantRunId, ProcessRunId, StepRunId, UserId, WorkerId, WorkspaceId } from "./Ids.ts"
import type { Permission } from "../internal/endpoints/Permissions.ts"
import { ConflictResponse, ForbiddenResponse, InvalidRequestResponse, UnauthenticatedResponse } from "./Responses.ts"

export * from "../internal/endpoints/Permissions.ts"

/** The permission that an endpoint needs; an endpoint without this annotation needs any valid key. */
export class RequiredPermission extends Context.Service<RequiredPermission, Permission>()(
  "@signalbox/api/contract/RequiredPermission"
) {}

/** What an endpoint with `StartsWork` needs besides its own permission. */
export const startPermission: Permission = "Processes.trigger_processes"

/**
 * Annotates an endpoint that lets work start later or by others (a schedule, the address of a trigger, the end of a pause): it needs
 * the permission to start work too, or a key without it would start work all the same.
 */
export const StartsWork = Context.Reference<boolean>("@signalbox/api/contract/StartsWork", {
  defaultValue: () => false
})

/** All permissions that an endpoint needs. */
export const permissionsNeeded = (endpoint: {
  readonly annotations: Context.Context<never>
}): ReadonlyArray<Permission> => {
  const own = Context.getOrUndefined(endpoint.annotations, RequiredPermission)
  const start = Context.get(endpoint.annotations, StartsWork) ? [startPermission] : []
  return own === undefined ? start : [own, ...start]
}

/** The caller: a person, a workspace key, a worker, a run of a step, or a run of an assistant. */
export type Principal =
  | {
      readonly _tag: "ApiKey"
      readonly keyId: string
      /** The session of the console through which the key is used; null: it was sent itself. */
      readonly sessionId: string | null
      readonly workspaceId: WorkspaceId
      readonly permissions: ReadonlySet<Permission>
    }
  /** A person who is signed in, with the permissions of their role in the workspace. */
  | {
      readonly _tag: "User"
      readonly user: { readonly id: UserId; readonly first_name: string; readonly last_name: string }
      /** Both names, or the login. */
      readonly name: string
      readonly sessionId: string
      readonly workspaceId: WorkspaceId
      readonly permissions: ReadonlySet<Permission>
    }
  | { readonly _tag: "Worker"; readonly workspaceId: WorkspaceId; readonly workerId: WorkerId }
  | {
      readonly _tag: "StepRun"
      readonly workspaceId: WorkspaceId
      readonly processRunId: ProcessRunId
      readonly stepRunId: StepRunId
    }
  | { readonly _tag: "AssistantRun"; readonly workspaceId: WorkspaceId; readonly assistantRunId: AssistantRunId }

/** The principal of the current request. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "@signalbox/api/contract/CurrentPrincipal"
) {}

/**
 * Who makes a request that a control room passes on to the program around it: the id and the name of the key or the user. Null when no control
 * room has let the request in.
 */
export const CurrentActor = Context.Reference<{ readonly id: string; readonly name: string } | null>(
  "@signalbox/api/contract/CurrentActor",
  { defaultValue: () => null }
)

/**
 * Whether who makes a request that a control room passes on may see values in which secret fields of payloads may be. True when no control
 * room has let the request in.
 */
export const SeesSecretFields = Context.Reference<boolean>("@signalbox/api/contract/SeesSecretFields", {
  defaultValue: () => true
})

/** As an API key in a header, since generators of clients know no scheme `RC-WSKEY`. */
const wskey = /* @__PURE__ */ HttpApiSecurity.annotate(
  HttpApiSecurity.apiKey({ in: "header", key: "Authorization" }),
  OpenApi.Description,
  "`RC-WSKEY ` and a key of the workspace"
)

/**
 * Workspace keys on `/api/v1`: `Authorization: RC-WSKEY <key>` (case-insensitive), or the same key as a bearer token.
 * The token of a step run that has ended is a 409.
 */
export class WorkspaceAuthorization
  extends /* @__PURE__ */ HttpApiMiddleware.Service<WorkspaceAuthorization, { provides: CurrentPrincipal }>()(
    "@signalbox/api/contract/WorkspaceAuthorization",
    {
      security: { wskey, bearer: HttpApiSecurity.bearer },
      error: [UnauthenticatedResponse, ForbiddenResponse, ConflictResponse]
    }
  ) {}

/** The same keys for callers that cannot send headers: the bare key as `token` in the query. */
export class IntegrationAuthorization
  extends /* @__PURE__ */ HttpApiMiddleware.Service<IntegrationAuthorization, { provides: CurrentPrincipal }>()(
    "@signalbox/api/contract/IntegrationAuthorization",
    {
      security: { token: HttpApiSecurity.apiKey({ in: "query", key: "token" }) },
      error: [UnauthenticatedResponse, ForbiddenResponse]
    }
  ) {}

/** Tokens of workers and of step runs: `Authorization: Bearer <token>`. */
export class TokenAuthorization
  extends /* @__PURE__ */ HttpApiMiddleware.Service<TokenAuthorization, { provides: CurrentPrincipal }>()(
    "@signalbox/api/contract/TokenAuthorization",
    { security: { bearer: HttpApiSecurity.bearer }, error: [UnauthenticatedResponse, ForbiddenResponse] }
  ) {}

/** Turns input that does not decode into a 400 that names the field. */
export class Validation
  extends /* @__PURE__ */ HttpApiMiddleware.Service<Validation>()("@signalbox/api/contract/Validation", {
    error: InvalidRequestResponse
  }) {}
