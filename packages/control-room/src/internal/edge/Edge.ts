/**
 * Applies to every request and response: the form of the contract on requests, a request id and the envelope on
 * responses.
 */
import { isAlsoPut } from "@signalbox/api/contract/Aliases"
import { Api, basePath } from "@signalbox/api/contract/Api"
import {
  IntegrationAuthorization,
  TokenAuthorization,
  WorkspaceAuthorization
} from "@signalbox/api/contract/Authorization"
import { keyLifetime, lifetimeHeader } from "@signalbox/api/contract/IdempotencyKeys"
import type { ErrorCode } from "@signalbox/api/contract/Responses"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import { hasHookToken, hooksPath } from "../settings/HooksPath.ts"
import { limits } from "../settings/Limits.ts"
import * as Sql from "@signalbox/sql/Sql"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import { StorageHealth } from "../storage/StorageHealth.ts"
import * as Tokens from "../vault/Tokens.ts"
import { body, failed, Refusal } from "./Failures.ts"
import { transferPrefix } from "../transfers/FileLinks.ts"
import { sessionPath, shownFilesPath } from "./ConsoleRoutes.ts"
import * as FlowRoutes from "./FlowRoutes.ts"
import { Hosts } from "./Hosts.ts"
import { canonical, pathOf, wantsBareForm } from "./Incoming.ts"
import * as Probes from "./Probes.ts"
import { Nodes } from "../store/room/Nodes.ts"
import * as RequestMetrics from "./RequestMetrics.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"

/** The router's settings; the lookup of methods below must agree with them. */
export const routerConfig = { maxParamLength: 512, caseSensitive: true, ignoreTrailingSlash: true } as const

/** The paths of the OpenAPI document and of the page generated from it. */
export const openApiPath = `${basePath}/openapi.json`
export const docsPath = "/docs"

const security = [WorkspaceAuthorization, IntegrationAuthorization, TokenAuthorization].map(({ key }) => key)

/** Whether an endpoint accepts requests without a key. */
const isOpen = (endpoint: HttpApiEndpoint.Top) => ![...endpoint.middlewares].some(({ key }) => security.includes(key))

/** Which methods each path has, and how large the body of each may be; built by the first request that needs it, not by the start. */
const methodsByPath = memoize((api: typeof Api) => {
  const methods = new Map<string, Map<string, number>>()
  const add = (path: string, method: string, bodyLimit: number = limits.jsonBody) => {
    const known = methods.get(path) ?? new Map<string, number>()
    methods.set(path, known.set(method, bodyLimit))
    if (method === "GET") known.set("HEAD", bodyLimit)
  }
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      add(endpoint.path, endpoint.method, isOpen(endpoint) ? limits.unauthenticatedBody : limits.jsonBody)
      // Older clients update with PUT.
      if (isAlsoPut(endpoint)) add(endpoint.path, "PUT")
    }
  })
  add(`${transferPrefix}/uploads`, "POST", limits.file + limits.uploadForm)
  // A PUT without a length limit here, so that the transfer endpoint can refuse it with its own message and record the
  // upload as failed.
  add(`${transferPrefix}/assets/:upload_id`, "PUT", Infinity)
  add(`${transferPrefix}/files/:file_id/:name`, "GET")
  add(`${hooksPath}/:token`, "POST", limits.hookBody)
  add(openApiPath, "GET")
  add(docsPath, "GET")
  for (const method of ["GET", "POST", "DELETE"]) add(sessionPath, method, limits.unauthenticatedBody)
  add(`${shownFilesPath}/:file_id`, "GET")
  for (const { method, path } of FlowRoutes.routes) {
    add(path, method)
    if (path.endsWith("/*")) add(path.slice(0, -"/*".length), method)
  }
  for (const path of [Probes.paths.health, Probes.paths.ready]) add(path, "GET")
  const router = FindMyWay.make<ReadonlyMap<string, number>>(routerConfig)
  // Paths of the contract and of the probes begin with a slash.
  for (const [path, allowed] of methods) router.on("GET", path as `/${string}`, allowed)
  return router
})

const respond = (status: number, code: ErrorCode, message: string, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body(code, message), { status, headers })

const allowedAt = (path: string) => methodsByPath(Api).find("GET", path)?.handler

/** An update may also be a PUT; what is a PUT in the contract remains one. */
const methodFor = (path: string, method: string): string => {
  const allowed = method === "PUT" ? allowedAt(path) : undefined
  return allowed?.has("PUT") === true && allowed.has("POST") ? "POST" : method
}

const noRoute = (request: HttpServerRequest.HttpServerRequest) => {
  const path = pathOf(request.url)
  const allowed = allowedAt(path)
  const shown = hasHookToken(path) ? "this address" : path
  if (allowed === undefined) return respond(404, "NOT_FOUND", `nothing exists at ${shown}`)
  const allow = [...allowed.keys()].sort().join(", ")
  return respond(405, "METHOD_NOT_ALLOWED", `${request.method} is not allowed here; use ${allow}`, { allow })
}

const sendBytes = "send bytes to upload_url or upload.url instead"

/** Refuses a body whose declared length is too large, before any of it is read; null for all others. */
const refuseLength = (request: HttpServerRequest.HttpServerRequest) => {
  const declared = Number(request.headers["content-length"] ?? 0)
  if (!(declared > limits.unauthenticatedBody)) return null
  const limit = allowedAt(pathOf(request.url))?.get(request.method) ?? limits.unauthenticatedBody
  if (declared <= limit) return null
  const remedy = limit === limits.jsonBody ? `; ${sendBytes}` : ""
  return respond(
    413,
    "PAYLOAD_TOO_LARGE",
    `the body of ${declared} bytes is larger than the ${limit} allowed here${remedy}`,
    { connection: "close" }
  )
}

/** Refuses a compressed body: its bytes would be taken for the content; null for all others. */
const refuseCompressed = ({ headers }: HttpServerRequest.HttpServerRequest) => {
  const encoding = headers["content-encoding"]
  // Some clients name a character set here.
  return encoding !== undefined && /\b(gzip|deflate|compress|br|zstd)\b/i.test(encoding)
    ? respond(
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        `content-encoding: ${encoding} is not accepted; send the body uncompressed`,
        {
          connection: "close"
        }
      )
    : null
}

/** Refuses all requests to a node that a newer version has replaced, but the one whether it lives; null for those. */
const refuseOutdated = (outdated: string | null, { url }: HttpServerRequest.HttpServerRequest) =>
  outdated === null || pathOf(url) === Probes.paths.health
    ? null
    : respond(503, "UNAVAILABLE", outdated, { "retry-after": "5" })

const isRead = ({ source }: HttpServerRequest.HttpServerRequest) =>
  (Predicate.hasProperty(source, "readableDidRead") && source.readableDidRead === true) ||
  (Predicate.hasProperty(source, "bodyUsed") && source.bodyUsed === true)

/** Refuses a request whose body something before the service has read, since it cannot be read again; null for all others. */
const refuseRead = (request: HttpServerRequest.HttpServerRequest) =>
  isRead(request)
    ? respond(
        500,
        "UNEXPECTED_ERROR",
        "the body of this request was read before it reached the control room: mount the control room before body parsers, such as express.json()",
        // What is left of the body is unknown.
        { connection: "close" }
      )
    : null

/** The names of hosts differ from what the service knows itself by. */
const misdirected = (host: string | undefined) =>
  respond(
    421,
    "INVALID_REQUEST",
    `Host: ${JSON.stringify(host)} is not served here; add it with --allowed-host, or use the address of the service`
  )

const badRequest = (tooLarge: boolean) =>
  tooLarge
    ? respond(413, "PAYLOAD_TOO_LARGE", `the body is larger than allowed; ${sendBytes}`)
    : respond(400, "INVALID_REQUEST", "the body could not be read")

const unexpected = Effect.fnUntraced(function* (
  cause: Cause.Cause<unknown>,
  requestId: string,
  health: StorageHealth["Service"]
) {
  if (Sql.isGone(cause))
    return respond(409, "CONFLICT", "a resource of the request was deleted concurrently; nothing was changed")
  const failure = StorageFailure.ofCause(cause)
  if (failure !== null) {
    const { code, message, retryAfter, status } = failure
    yield* health.report(failure)
    yield* Effect.annotateLogs(status === 500 ? Effect.logError(message) : Effect.logWarning(message), {
      requestId,
      reason: StorageFailure.reasonOf(cause)
    })
    return respond(status, code, message, retryAfter === null ? {} : { "retry-after": String(retryAfter) })
  }
  yield* Effect.logError("a request failed", cause).pipe(Effect.annotateLogs({ requestId }))
  return respond(
    500,
    "UNEXPECTED_ERROR",
    `an unexpected error occurred in the service; see request ${requestId} in the log`
  )
})

const toResponse = (
  cause: Cause.Cause<unknown>,
  request: HttpServerRequest.HttpServerRequest,
  requestId: string,
  health: StorageHealth["Service"]
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  for (const reason of cause.reasons) {
    const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (error instanceof Refusal) return Effect.succeed(failed(error))
    if (HttpServerError.isHttpServerError(error)) {
      if (error.reason._tag === "RouteNotFound") return Effect.succeed(noRoute(request))
      if (error.reason._tag === "RequestParseError") {
        return Effect.succeed(badRequest(error.reason.reason === "BodyTooLarge"))
      }
    }
  }
  return Effect.annotateLogs(unexpected(cause, requestId, health), { keyId: keyIdOf(request) })
}

/** The id of the key or token that a request came with, for the log; never the key itself. */
const keyIdOf = (request: HttpServerRequest.HttpServerRequest): string =>
  Tokens.parse(/\S+$/.exec(request.headers["authorization"] ?? "")?.[0] ?? "")?.id ?? "none"

/** Older clients expect the upload form for a file without an object around it. */
const bareForm = (response: HttpServerResponse.HttpServerResponse) => {
  if (response.status !== 200 || response.body._tag !== "Uint8Array") return response
  const { upload }: { readonly upload: Schema.Json } = JSON.parse(new TextDecoder().decode(response.body.body))
  return HttpServerResponse.setBody(response, HttpBody.jsonUnsafe(upload))
}

const edge = Effect.gen(function* () {
  const health = yield* StorageHealth
  const hosts = yield* Hosts
  const { outdated } = yield* Nodes
  const record = RequestMetrics.make()
  return (
    effect: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpServerRequest.HttpServerRequest> =>
    Effect.withFiber((fiber) => {
      const received = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const clock = fiber.getRef(Clock.Clock)
      const started = clock.monotonicTimeNanosUnsafe()
      const request = canonical(received, methodFor)
      const given = request.headers["x-request-id"]
      const requestId = given !== undefined && /^[\w.-]{1,128}$/.test(given) ? given : crypto.randomUUID()
      const headers: Record<string, string> = {
        "x-request-id": requestId,
        [lifetimeHeader]: String(keyLifetime.default),
        "x-content-type-options": "nosniff",
        "cache-control": "no-store"
      }
      const finished = (response: HttpServerResponse.HttpServerResponse) => {
        const whole = wantsBareForm(received.url) ? bareForm(response) : response
        const seconds = Number(clock.monotonicTimeNanosUnsafe() - started) / 1e9
        record(request, whole.status, seconds, fiber.context)
        // Most responses are created with these headers already.
        if (whole.headers["x-request-id"] === requestId) return whole
        const kept = whole.headers["cache-control"]
        return HttpServerResponse.setHeaders(
          whole,
          kept === undefined ? headers : { ...headers, "cache-control": kept }
        )
      }
      const refused = hosts.admits(received.headers["host"])
        ? (refuseOutdated(outdated(), request) ??
          refuseRead(request) ??
          refuseCompressed(request) ??
          refuseLength(request))
        : misdirected(received.headers["host"])
      if (refused !== null) return Effect.succeed(finished(refused))
      return effect.pipe(
        Effect.updateContext((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
          const known = Context.add(context, ResponseHeaders, headers)
          return request === received ? known : Context.add(known, HttpServerRequest.HttpServerRequest, request)
        }),
        Effect.catchCause((cause) => toResponse(cause, request, requestId, health)),
        Effect.map(finished)
      )
    })
})

export const layer = HttpRouter.middleware(edge, { global: true })
