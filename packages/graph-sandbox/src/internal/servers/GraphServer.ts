/**
 * The graph over HTTP: who asks, in which version, and the headers of an answer.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Edge from "./Edge.ts"
import * as Failure from "../model/Failure.ts"
import * as Graph from "./Graph.ts"
import { isMethod, parseOptions, type Reply } from "../requests/GraphRequest.ts"
import * as Ids from "../model/Ids.ts"
import { Tokens } from "../login/Tokens.ts"
import { altered, refusal, Traffic } from "./Traffic.ts"
import { World } from "../world/World.ts"

const contentType = "application/json;odata.metadata=minimal;odata.streaming=true;IEEE754Compatible=false;charset=utf-8"

const diagnostic = JSON.stringify({
  ServerInfo: { DataCenter: "Sandbox", Slice: "E", Ring: "4", ScaleUnit: "001", RoleInstance: "SANDBOX01" }
})

const bodyFailure = Failure.badRequest(
  "Unable to read JSON request payload. Please ensure Content-Type header is set and payload is of valid JSON format."
)

const decodeBody = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** The body as an object; what is empty is `{}`. */
const json = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.gen(function* () {
    const text = yield* Effect.mapError(request.text, () => bodyFailure)
    if (text.trim() === "") return {}
    if (!(request.headers["content-type"] ?? "").includes("json")) {
      return yield* Failure.badRequest("Entity only allows writes with a JSON Content-Type header.")
    }
    return yield* Effect.mapError(decodeBody(text), () => bodyFailure)
  })

const respond = ({ body, contents, headers = {}, status }: Reply, ids: Graph.Ids, isTls: boolean) => {
  const common = {
    "request-id": ids.requestId,
    "client-request-id": ids.clientRequestId,
    "x-ms-ags-diagnostic": diagnostic,
    "cache-control": "private",
    vary: "Accept-Encoding",
    "strict-transport-security": isTls ? "max-age=31536000" : undefined,
    ...headers
  }
  if (contents !== undefined) {
    const { length, stream, type } = contents
    return HttpServerResponse.stream(Stream.orDie(stream), {
      status,
      headers: common,
      contentType: type,
      contentLength: length
    })
  }
  if (body === undefined) return HttpServerResponse.empty({ status, headers: common })
  if (typeof body === "string") {
    return HttpServerResponse.text(body, {
      status,
      headers: common,
      contentType: headers["content-type"] ?? "text/plain"
    })
  }
  const odata = status < 300 ? { "odata-version": "4.0" } : {}
  const options = { status, headers: { ...common, ...odata }, contentType }
  return HttpServerResponse.text(JSON.stringify(body), options)
}

/** Answers what begins with `/v1.0` or `/beta`. */
export const handler = (origin: string) => {
  const isTls = origin.startsWith("https:")
  const challenge = { "www-authenticate": `Bearer realm="", authorization_uri="${origin}/common/oauth2/authorize"` }
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const tokens = yield* Tokens
    const { workbooks } = yield* World
    const now = yield* Clock.currentTimeMillis
    const rules = yield* Edge.Met
    const requestId = Ids.random()
    const ids = { requestId, clientRequestId: request.headers["client-request-id"] ?? requestId }
    const refuse = (failure: Failure.Failure) =>
      respond(
        Graph.refuse(failure.status === 401 ? Failure.withHeaders(failure, challenge) : failure, ids, now),
        ids,
        isTls
      )

    const sessionId = request.headers["workbook-session-id"]
    if (sessionId !== undefined && rules.some(({ fault }) => fault === "loseSession")) {
      workbooks.sessions.delete(sessionId)
    }
    const asked = refusal(rules, now)
    if (asked !== undefined) return refuse(asked)
    const principal = tokens.verify(request.headers["authorization"], now)
    if (Result.isFailure(principal)) return refuse(principal.failure)
    const method = request.method === "HEAD" ? "GET" : request.method
    if (!isMethod(method)) return refuse(Failure.methodNotAllowed())

    const [, version = "", path = "", query = ""] = /^(\/(?:v1\.0|beta))([^?]*)\??(.*)$/is.exec(request.url) ?? []
    const reply = yield* Graph.answer(
      {
        method,
        path,
        query,
        options: parseOptions(query),
        headers: request.headers,
        json: json(request),
        body: request.stream,
        base: `${origin}${version}`,
        now,
        principal: principal.success,
        lag: yield* Effect.flatMap(Traffic, (traffic) => traffic.lag)
      },
      ids
    )
    return respond({ ...reply, body: altered(rules, reply.body) }, ids, isTls)
  })
}
