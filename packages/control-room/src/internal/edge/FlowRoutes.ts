/**
 * The durable flows of the program that serves the control room. Their contract is that of `@signalbox/flows`, which this package
 * does not know: requests are authorized here by their prefix, and passed on.
 */
import { basePath } from "@signalbox/api/contract/Api"
import {
  CurrentActor,
  CurrentPrincipal,
  type Permission,
  RequiredPermission,
  SeesSecretFields,
  startPermission,
  StartsWork,
  WorkspaceAuthorization
} from "@signalbox/api/contract/Authorization"
import { WithoutRecord } from "@signalbox/api/contract/IdempotencyKeys"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { MountedFlows } from "../../Options.ts"
import { Secrecy } from "../runs/Secrecy.ts"
import { Changes } from "../store/room/Changes.ts"
import { Workspaces } from "../store/access/Workspaces.ts"
import { Auditing } from "./Auditing.ts"
import * as Actor from "./Actor.ts"
import { Authorization } from "./Authorization.ts"
import { body, failed, refuse } from "./Failures.ts"
import { pathOf } from "./Incoming.ts"
import { view } from "./Permissions.ts"

interface Route {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: `/${string}`
  readonly permission: Permission
  /** Whether it lets executions start, and needs the permission for that too. */
  readonly starts: boolean
}

const below = `${basePath}/workspaces/:workspace_id` as const
const executions = `${below}/flow-executions/*` as const
const versions = `${below}/flow-versions/*` as const
const schedules = `${below}/flow-schedules/*` as const

/** The routes: those that end with `/*` are also for the path without it. */
export const routes: ReadonlyArray<Route> = [
  { method: "GET", path: executions, permission: "Processes.read_work_items", starts: false },
  { method: "GET", path: versions, permission: "Processes.read_work_items", starts: false },
  { method: "POST", path: executions, permission: startPermission, starts: false },
  { method: "DELETE", path: executions, permission: startPermission, starts: false },
  { method: "GET", path: schedules, permission: "Schedules.read_schedules", starts: false },
  // What stops executions from starting.
  {
    method: "POST",
    path: `${below}/flow-schedules/:name/pause`,
    permission: "Schedules.write_schedules",
    starts: false
  },
  { method: "POST", path: schedules, permission: "Schedules.write_schedules", starts: true },
  { method: "DELETE", path: schedules, permission: "Schedules.write_schedules", starts: true }
]

/** What the guard reads of an endpoint. A command may call the control room itself, so it has no transaction around it. */
const endpointOf = ({ method, path, permission, starts }: Route) =>
  HttpApiEndpoint.make(method)(`${method} ${path}`, path)
    .middleware(WorkspaceAuthorization)
    .annotate(RequiredPermission, permission)
    .annotate(StartsWork, starts)
    .annotate(WithoutRecord, true)

/** Whether a workspace has mounted flows. */
export class FlowsOf extends Context.Service<FlowsOf, (workspaceId: string) => Effect.Effect<boolean>>()(
  "@signalbox/control-room/edge/FlowsOf"
) {
  static readonly layer = (flows: MountedFlows | undefined) =>
    Layer.effect(
      FlowsOf,
      Effect.map(Workspaces, (workspaces) => (workspaceId) => {
        if (flows === undefined) return Effect.succeed(false)
        if (flows.workspaceId !== undefined) return Effect.succeed(flows.workspaceId === workspaceId)
        return Effect.map(workspaces.first, (first) => first?.id === workspaceId)
      })
    )
}

/** Tells those who watch the workspace which executions change. */
export const layerHints = (flows: MountedFlows | undefined) =>
  flows?.changes === undefined
    ? Layer.empty
    : Layer.effectDiscard(
        Effect.gen(function* () {
          const changes = yield* Changes
          const workspaces = yield* Workspaces
          let workspace = flows.workspaceId
          const tell = Effect.fnUntraced(function* (id: string | null) {
            workspace ??= (yield* workspaces.first)?.id
            if (workspace !== undefined) yield* changes.tell(workspace, () => [{ topic: "flows", id }])
          })
          yield* Effect.forkScoped(Stream.runForEach(flows.changes ?? Stream.empty, tell))
        })
      )

const notFound = (path: string) =>
  HttpServerResponse.jsonUnsafe(body("NOT_FOUND", `nothing exists at ${path}`), { status: 404 })

/** Without flows every request that is authorized is a 404. */
export const layer = (flows: MountedFlows | undefined) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { guard } = yield* Authorization
      const hasFlows = yield* FlowsOf
      const { around } = yield* Auditing
      const actor = yield* Actor.make
      const { isIn } = yield* Secrecy
      const handle = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { params } = yield* HttpRouter.RouteContext
        if (flows === undefined || !(yield* hasFlows(params["workspace_id"] ?? ""))) {
          return yield* refuse(404, "NOT_FOUND", "this workspace has no durable flows: no program serves them")
        }
        const principal = yield* CurrentPrincipal
        const { id, name } = yield* actor
        // Results of steps in the journal are not known by their process: who may not see secret fields of any sees no values.
        const sees = (yield* view) !== "hidden" || !(yield* isIn(principal.workspaceId))
        const url = request.url.replace(/^.*?\/workspaces\/[^/]+/, "")
        const answered = flows.httpEffect.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, request.modify({ url })),
          Effect.provideService(CurrentActor, { id, name }),
          Effect.provideService(SeesSecretFields, sees),
          Effect.catchReason("HttpServerError", "RouteNotFound", () => Effect.succeed(notFound(pathOf(request.url))))
        )
        return yield* request.method === "GET" ? answered : around(request, principal, pathOf(url), answered)
      })
      for (const route of routes) {
        const guarded = guard(endpointOf(route), { identifier: "flows" }, handle)
        yield* router.add(
          route.method,
          route.path,
          Effect.catch(guarded, (failure) =>
            "status" in failure ? Effect.succeed(failed(failure)) : Effect.die(failure)
          )
        )
      }
    })
  )
