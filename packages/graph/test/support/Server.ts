/**
 * A real HTTP server whose answers are scripted, for what no well-behaved service does on demand.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as VirtualHttp from "@signalbox/testkit/VirtualHttp"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as HttpClient from "effect/http/HttpClient"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { AccessTokens } from "../../src/AccessTokens.ts"
import { Graph } from "../../src/Graph.ts"

export interface Received {
  readonly method: string
  /** Path and query as they were on the wire. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** By the clock of the test. */
  readonly at: number
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What the server does with a request. */
export type Reply = Answer | "reset" | "hang"

export const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body)
})

export const failure = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  json({ error: { code, message: "told to fail", innerError: { "request-id": "r" } } }, status, {
    "request-id": "r-1",
    ...headers
  })

export interface Server {
  readonly origin: string
  /** Answers by a function. */
  readonly respond: (reply: (request: Received, index: number) => Reply) => void
  /** Answers one after the other; the last one stays. */
  readonly script: (...replies: ReadonlyArray<Reply>) => void
  /** What came since the answers were set. */
  readonly received: () => ReadonlyArray<Received>
  readonly busy: () => boolean
  /** A client whose requests are known to `settle`. */
  readonly http: Layer.Layer<HttpClient.HttpClient>
  /** Settles when the client closes the connection of a request that is not answered. */
  readonly closed: () => Promise<void>
}

const send = (reply: Reply, response: ServerResponse) => {
  if (reply === "hang") return
  if (reply === "reset") return response.socket?.resetAndDestroy()
  response.writeHead(reply.status, reply.headers)
  return response.end(reply.body ?? "")
}

export const make: Effect.Effect<Server, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  let answer: (request: Received, index: number) => Reply = () => json({})
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
      const { headers, method = "", url = "" } = request
      const seen = { method, url, headers, body, at: clock.currentTimeMillisUnsafe() }
      const reply = answer(seen, received.length)
      received.push(seen)
      response.once("close", () => {
        if (!response.writableEnded) closed()
      })
      if (reply === "hang") {
        open--
        inFlight.hangs(request)
      } else response.once("close", () => open--)
      send(reply, response)
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
  const respond: Server["respond"] = (next) => {
    answer = next
    received = []
  }
  return {
    origin: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    respond,
    script: (...replies) => respond((_, index) => replies[Math.min(index, replies.length - 1)] ?? json({})),
    received: () => received,
    busy: () => open > 0 || inFlight.some(),
    http: inFlight.watched(NodeHttpClient.layerUndici),
    closed: () => new Promise((resolve) => (closed = resolve))
  }
})

/** The connection to a server of this kind, with one token that stays. */
export const connect = (server: Server): Layer.Layer<Graph> =>
  connectWith(server, AccessTokens.layerFixed(Redacted.make("TOKEN-1")))

export const connectWith = <E>(server: Server, tokens: Layer.Layer<AccessTokens, E>): Layer.Layer<Graph, E> =>
  Graph.layerHttpClient({ graphUrl: server.origin, loginUrl: server.origin }).pipe(
    Layer.provide(tokens),
    Layer.provide(server.http)
  )

/** Runs a call to its end under virtual time. */
export const settle = <A, E, R>(server: Server, call: Effect.Effect<A, E, R>, step?: number) =>
  VirtualHttp.settle(server.busy, call, step)
