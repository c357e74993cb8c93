/**
 * Leaves an entry of the audit for requests of people and keys, by the annotation of their endpoint: what the resource was before and
 * after, as its own endpoint returns it, and what was asked for. A request that is refused, and one that is replayed, leaves none.
 */
import {
  type AuditedResource,
  Audited,
  auditedResources,
  type AuditRule,
  resourcesOfRoom
} from "@signalbox/api/contract/Auditing"
import { CurrentPrincipal, type Principal } from "@signalbox/api/contract/Authorization"
import { WithoutRecord } from "@signalbox/api/contract/IdempotencyKeys"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Fields } from "../engine/AuditChanges.ts"
import {
  type Actor,
  AuditEntries,
  EntryOfRequest,
  type NewEntry,
  type Origin,
  roomChain
} from "../store/audit/AuditEntries.ts"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { Database } from "../store/database/Database.ts"
import { ClientAddress } from "./ClientAddress.ts"
import type { Failure } from "./Failures.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"

/** A handler without its types. */
export type Handler = (input: unknown) => Effect.Effect<unknown, Failure, CurrentPrincipal | HttpRouter.Provided>

/** What a handler is called with, as far as an entry needs it. */
interface Input {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly query?: unknown
  readonly payload?: unknown
}

/** Who acts by a request; null: what it does is no act of a person or a key, or no entry. */
const actorOf = (principal: Principal, kind: "entry" | "item"): Actor | null => {
  if (principal._tag === "User") return { type: "user", id: principal.user.id }
  return principal._tag !== "ApiKey" || (kind === "item" && principal.sessionId === null)
    ? null
    : { type: "api_key", id: principal.keyId }
}

const fieldsOf = (value: unknown): Fields | null => (Predicate.isObject(value) ? { ...value } : null)

const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value.slice(0, 255) : null

/** The id of what a request has created; a secret is known by its name. */
const idIn = (type: AuditedResource, answered: Fields) =>
  textOf(answered["id"]) ??
  textOf(fieldsOf(answered[type])?.["id"]) ??
  (type === "secret" ? textOf(answered["name"]) : null)

/** Whether all members of a body are declared. */
const isDeclared = (ast: SchemaAST.AST): boolean => {
  switch (ast._tag) {
    case "Objects":
      return ast.indexSignatures.length === 0
    case "Union":
      return ast.types.every(isDeclared)
    default:
      return ast._tag === "Undefined"
  }
}

/** Whether the body as a whole is the payload of a work item: members of any name, which is content too. */
const isPayload = ({ payload }: HttpApiEndpoint.Top): boolean =>
  [...payload.values()].some(({ schemas }) => !schemas.every(({ ast }) => isDeclared(SchemaAST.toEncoded(ast))))

/** The entry of the room for what belongs to it, which says in which workspace it was asked for. */
const inRoom = (entry: NewEntry): NewEntry => {
  const where = { workspace_id: entry.workspaceId }
  return entry.after === null
    ? { ...entry, workspaceId: roomChain, before: { ...entry.before, ...where } }
    : { ...entry, workspaceId: roomChain, after: { ...entry.after, ...where } }
}

/** The fields of a response: of one that is encoded already, its id. */
const ofResponse = (value: unknown): Fields => {
  if (!HttpServerResponse.isHttpServerResponse(value)) return fieldsOf(value) ?? {}
  if (value.body._tag !== "Uint8Array") return {}
  const id = /"id":"([^"\\]+)"/.exec(Buffer.from(value.body.body).toString("utf8", 0, 1000))?.[1]
  return id === undefined ? {} : { id }
}

type OwnReads = Partial<Record<AuditedResource, (workspace: WorkspaceId, id: string) => Effect.Effect<object | null>>>

export class Auditing extends Context.Service<
  Auditing,
  {
    /** The handler of an endpoint, which leaves the entries that its annotation says. `handlers`: all of its group. */
    readonly audited: (endpoint: HttpApiEndpoint.Top, handlers: Readonly<Record<string, unknown>>) => Handler
    /**
     * Around a command on durable flows, which changes another database: an entry before it, and one with its status after it, of the same
     * request. What became of a command without the second is not known.
     */
    readonly around: <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      principal: Principal,
      path: string,
      command: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  }
>()("@signalbox/control-room/edge/Auditing") {
  static readonly layer = Layer.effect(
    Auditing,
    Effect.gen(function* () {
      const { lockResource, write } = yield* AuditEntries
      const { transaction } = yield* Database
      const { address } = yield* ClientAddress
      const keys = yield* ApiKeys
      const memberships = yield* Memberships

      /** How what has no endpoint of its own is read, by its id. */
      const ownReads: OwnReads = {
        api_key: (workspace, id) => keys.find(workspace, id),
        role: (workspace, name) =>
          Effect.map(memberships.permissionsOfRole(workspace, name), (held) =>
            held === null ? null : { name, permissions: [...held] }
          )
      }

      const originOf = (request: HttpServerRequest.HttpServerRequest, principal: Principal) =>
        Effect.map(ResponseHeaders, (headers): Origin => ({
          sessionId: "sessionId" in principal ? principal.sessionId : null,
          address: address(request),
          requestId: headers["x-request-id"] ?? null
        }))

      const entered = (
        endpoint: HttpApiEndpoint.Top,
        { isOfRequest, resource: type }: Exclude<AuditRule, { readonly kind: "none" }>,
        handler: Handler,
        reading: Handler | undefined
      ) => {
        const { id: parameter } = auditedResources[type]
        const isOfOne = parameter !== null && endpoint.path.includes(`:${parameter}`)
        const isRead = endpoint.method === "GET"
        const ownRead = ownReads[type]
        const asPayload = isPayload(endpoint)
        const waits = Context.get(endpoint.annotations, WithoutRecord)
        return Effect.fnUntraced(function* (input: Input, principal: Principal, actor: Actor) {
          const { [parameter ?? ""]: given, workspace_id: _, ...among } = input.params ?? {}
          const id = textOf(given)
          const read =
            id === null || !isOfOne || isRead
              ? undefined
              : ownRead === undefined
                ? reading?.(input)
                : ownRead(principal.workspaceId, id)
          // A secret that does not open, for example, can be deleted all the same.
          const view: Effect.Effect<Fields | null, never, CurrentPrincipal | HttpRouter.Provided> =
            read === undefined
              ? Effect.succeed(null)
              : Effect.matchCause(read, { onFailure: () => null, onSuccess: fieldsOf })
          // The fields before are those that the handler finds, so no other request may change them in between.
          if (read !== undefined && !waits) yield* lockResource(principal.workspaceId, type, id)
          const before = yield* view
          const origin = yield* originOf(input.request, principal)
          const body = isRead ? input.query : input.payload
          const members = asPayload ? null : fieldsOf(body)
          const asked: Fields = { ...among, ...(members ?? (body === undefined ? {} : { payload: body })) }
          const entryOf = (answered: Fields, now: Fields | null): NewEntry => {
            // What is gone cannot be read any more. What was asked for says more than what the response repeats of it.
            const isGone = endpoint.method === "DELETE" && read !== undefined && now === null
            const after = isGone ? null : { ...answered, ...asked, ...now }
            return {
              workspaceId: principal.workspaceId,
              actor,
              origin,
              action: endpoint.identifier,
              resource: {
                type,
                id: textOf(before?.["id"]) ?? id ?? idIn(type, answered),
                name: textOf((now ?? answered)["name"]) ?? textOf(before?.["name"]) ?? textOf(asked["name"])
              },
              before,
              after
            }
          }
          if (waits) {
            return yield* Effect.provideService(
              handler(input),
              EntryOfRequest,
              Effect.suspend(() => write(entryOf({}, null)))
            )
          }
          const result = yield* handler(input)
          const answered = isRead || isOfRequest === true ? {} : ofResponse(result)
          // It was carried out, and there was nothing to do.
          if (answered["started"] === false || answered["accepted"] === false) return result
          const now = yield* view
          const entry = entryOf(now === null ? answered : {}, now)
          yield* write(entry)
          if (resourcesOfRoom.has(type)) yield* write(inRoom(entry))
          return result
        })
      }

      return Auditing.of({
        around: Effect.fnUntraced(function* (request, principal, path, command) {
          const actor = actorOf(principal, "entry")
          if (actor === null) return yield* command
          const [, kind = "", id = null, rest = ""] = /^\/([\w-]+)(?:\/([^/]+))?(.*)$/.exec(path) ?? []
          const entry: NewEntry = {
            workspaceId: principal.workspaceId,
            actor,
            origin: yield* originOf(request, principal),
            action: `${request.method} /${kind}${id === null ? "" : "/:id"}${rest}`.slice(0, 255),
            resource: {
              type: kind === "flow-schedules" ? "flow_schedule" : "flow_execution",
              id: id === null ? null : id.slice(0, 255),
              name: null
            },
            before: null,
            after: null
          }
          yield* write(entry)
          const response = yield* command
          yield* write({ ...entry, after: { status: response.status } })
          return response
        }),
        audited: (endpoint, handlers) => {
          // `HandlersOf` has checked the handlers against their endpoints.
          const handlerOf = (name: string) => handlers[name] as Handler | undefined
          const handler =
            handlerOf(endpoint.identifier) ?? (() => Effect.die(new Error(`no handler of ${endpoint.identifier}`)))
          const rule: AuditRule | null = Context.get(endpoint.annotations, Audited)
          if (rule === null || rule.kind === "none") return handler
          const { kind, resource } = rule
          const { read } = auditedResources[resource]
          const entering = entered(endpoint, rule, handler, read === null ? undefined : handlerOf(read))
          const waits = Context.get(endpoint.annotations, WithoutRecord)
          return (given) =>
            Effect.withFiber((fiber) => {
              // The guard has provided it to the fiber.
              const principal = Context.getUnsafe(fiber.context as Context.Context<CurrentPrincipal>, CurrentPrincipal)
              const actor = actorOf(principal, kind)
              // Of an endpoint with this annotation the input has a request.
              const input = given as Input
              if (actor === null || fieldsOf(input.payload)?.["dry_run"] === true) return handler(given)
              const entry = entering(input, principal, actor)
              return waits ? entry : transaction(entry)
            })
        }
      })
    })
  )
}
