/**
 * A server on a socket with scripted responses, request by request, which records requests and their (virtual) time.
 * For what the real service does not do on demand.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as VirtualHttp from "@signalbox/testkit/VirtualHttp"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as HttpClient from "effect/http/HttpClient"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  /** Milliseconds of the clock of the test. */
  readonly at: number
}

/** The response to one request. */
export type Fault =
  | {
      readonly _tag: "Answer"
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** Resets the connection before any response. */
  | { readonly _tag: "Reset" }
  /** Sends headers and a part of the body, then resets the connection. */
  | { readonly _tag: "Half"; readonly body: string }
  /** No response. */
  | { readonly _tag: "Hang" }
  /** Sends headers and a part of the body, and then nothing. */
  | { readonly _tag: "Stall"; readonly body: string }

export const answer = (status: number, body?: unknown, headers?: Readonly<Record<string, string>>): Fault => ({
  _tag: "Answer",
  status,
  ...(headers === undefined ? {} : { headers }),
  ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
})

export interface FaultServer {
  readonly origin: string
  /** The next responses, in order; the last one repeats. */
  readonly script: (faults: ReadonlyArray<Fault>) => void
  /** The next responses, each from the time of its request. */
  readonly respond: (by: (at: number) => Fault) => void
  /** The requests since the script was set. */
  readonly received: () => ReadonlyArray<Received>
  /** Whether a request is being handled now; one that hangs does not count. */
  readonly busy: () => boolean
  /** A client whose requests are known to `settle`. */
  readonly http: Layer.Layer<HttpClient.HttpClient>
  /** Settles when the client closes the connection of a request without a response. */
  readonly nextClosed: () => Promise<void>
}

const reply = (fault: Fault, response: ServerResponse): boolean => {
  switch (fault._tag) {
    case "Answer":
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
      response.end(
        fault.body ?? JSON.stringify({ error: { code: "TEST", message: "told to fail" }, message: "told to fail" })
      )
      return true
    case "Reset":
      response.socket?.resetAndDestroy()
      return true
    case "Half":
      response.writeHead(200, { "content-type": "application/json", "content-length": String(fault.body.length + 100) })
      response.write(fault.body, () => setImmediate(() => response.socket?.resetAndDestroy()))
      return true
    case "Hang":
      return false
    case "Stall":
      response.writeHead(200, { "content-type": "application/json", "content-length": String(fault.body.length + 100) })
      response.write(fault.body)
      return false
  }
}

export const make: Effect.Effect<FaultServer, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  let faultAt: (at: number) => Fault = () => answer(200, {})
  let received: Array<Received> = []
  let open = 0
  const inFlight = VirtualHttp.inFlight()
  let closed: () => void = () => {}
  const server = createServer((request, response) => {
    open++
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => (body += chunk))
    request.once("end", () => {
      const { headers, method = "", url: path = "" } = request
      const at = clock.currentTimeMillisUnsafe()
      const fault = faultAt(at)
      received.push({ method, path, headers, body, at })
      response.once("close", () => {
        if (!response.writableEnded) closed()
      })
      if (fault._tag === "Hang") inFlight.hangs(request)
      if (!reply(fault, response)) open--
      else response.once("close", () => open--)
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  )
  const address = server.address()
  return {
    origin: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    script: (faults) => {
      faultAt = () => faults[Math.min(received.length, faults.length - 1)] ?? answer(200, {})
      received = []
    },
    respond: (by) => {
      faultAt = by
      received = []
    },
    received: () => received,
    busy: () => open > 0 || inFlight.some(),
    http: inFlight.watched(NodeHttpClient.layerUndici),
    nextClosed: () => new Promise((resolve) => (closed = resolve))
  }
})

/** Runs a call to its end under virtual time. */
export const settle = <A, E, R>(server: FaultServer, call: Effect.Effect<A, E, R>, step?: number) =>
  VirtualHttp.settle(server.busy, call, step)
