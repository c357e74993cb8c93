/**
 * The calls of a robot that show values of secrets, forwarded by the worker. A robot reads secrets with a key of its own, so that
 * nobody between can: the worker reads the same one before, to hide its values in what the robot writes.
 */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Vault from "@signalbox/api/robot/Vault"
import * as NodeHttpServer from "@signalbox/platform/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { HttpMethod } from "effect/http/HttpMethod"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createServer } from "node:http"
import type { Mask } from "../agent/Mask.ts"
import type { Variables } from "../environments/Variables.ts"
import { PackageFailure } from "../outcome/SetupFailure.ts"

/** Where what is forwarded is in the service, by the variable with its address. */
const forwarded = { RC_API_SECRET_HOST: "/secrets-v1/", RC_API_PROCESS_HOST: "/process-v1/" } as const

/** Headers of one connection, and those that bodies get anew. */
const ofConnection = new Set([
  ..."connection keep-alive transfer-encoding te trailer upgrade expect host".split(" "),
  ..."content-length content-encoding accept-encoding proxy-authorization".split(" ")
])
const passed = (headers: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofConnection.has(name) ? [] : [[name, value] as const]
    )
  )

const refused = (status: number, message: string) =>
  HttpServerResponse.jsonUnsafe({ error: { code: "UNAVAILABLE", message } }, { status })

const nameOf = (path: string) => {
  const name = /^\/secrets-v1\/workspaces\/[^/]+\/secrets\/([^/?]+)/.exec(path)?.[1]
  return name === undefined || name === "publicKey" ? null : decodeURIComponent(name)
}

/** The exception of a failed item, in any JSON that has one. */
const withoutValues = (mask: Mask, body: Uint8Array): Uint8Array => {
  if (mask.isEmpty() || body.length === 0) return body
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return body
  }
  if (!Predicate.hasProperty(json, "exception")) return body
  const { exception } = json
  if (!Predicate.isObjectOrArray(exception)) return body
  const shown = Object.entries(exception).map(([name, value]) => [
    name,
    typeof value === "string" ? mask.text(value) : value
  ])
  return new TextEncoder().encode(JSON.stringify({ ...json, exception: Object.fromEntries(shown) }))
}

/**
 * Listens on loopback until the scope closes, and returns the variables that name it, for a robot with these variables of the
 * service. Whoever else reaches the port needs the token of the run, as at the service itself.
 */
export const make = Effect.fnUntraced(function* (service: Variables, mask: Mask) {
  const origins = Object.entries(forwarded).flatMap(([variable, path]) => {
    const origin = service[variable]
    return origin === undefined ? [] : [{ variable, path, origin }]
  })
  const { RC_API_SECRET_HOST: url, RC_API_SECRET_TOKEN: token, RC_WORKSPACE_ID: workspace } = service
  if (url === undefined || token === undefined || workspace === undefined) return {}
  const client = yield* HttpClient.HttpClient
  const vault = yield* Vault.make({ url, token: Redacted.make(token), workspaceId: WorkspaceId.make(workspace) })

  /** Whether the values are known, and hidden from now on. */
  const learn = (name: string) =>
    Effect.map(Effect.exit(Effect.suspend(() => vault.get(name))), (exit) => {
      if (Exit.isSuccess(exit)) mask.add(Redacted.value(exit.value.items))
      return Exit.isSuccess(exit)
    })

  const forward = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const to = origins.find(({ path }) => request.url.startsWith(path))
    if (to === undefined) return refused(404, "the worker forwards only calls of robots")
    const secret = request.method === "GET" ? nameOf(request.url) : null
    const known = secret === null || (yield* learn(secret))
    const body = withoutValues(mask, new Uint8Array(yield* request.arrayBuffer))
    // Node knows no other methods.
    const method = request.method as HttpMethod
    const sent = HttpClientRequest.make(method)(to.origin + request.url).pipe(
      HttpClientRequest.setHeaders(passed(request.headers)),
      body.length === 0
        ? (request) => request
        : HttpClientRequest.bodyUint8Array(body, request.headers["content-type"] ?? "application/octet-stream")
    )
    const response = yield* client.execute(sent)
    const bytes = new Uint8Array(yield* response.arrayBuffer)
    if (!known && response.status < 300) {
      return refused(503, "the worker cannot read the secret and therefore cannot mask its values; try again")
    }
    const { "content-type": contentType, ...headers } = passed(response.headers)
    return HttpServerResponse.uint8Array(bytes, {
      status: response.status,
      headers,
      contentType
    })
  }).pipe(Effect.catch(() => Effect.succeed(refused(502, "the service did not respond to the worker; try again"))))

  const server = yield* NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), {
    host: "127.0.0.1",
    port: 0,
    gracefulShutdownTimeout: "1 second"
  }).pipe(
    Effect.mapError(
      ({ cause }) =>
        new PackageFailure({
          code: "START_FAILURE",
          message: `the worker cannot listen on 127.0.0.1: ${String(cause)}`
        })
    )
  )
  yield* server.serve(forward)
  const address = HttpServer.formatAddress(server.address)
  return Object.fromEntries(origins.map(({ variable }) => [variable, address]))
})
