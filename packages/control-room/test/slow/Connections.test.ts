/** How long the server waits for a client, and how much it reads from one: with short times, over real sockets. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { type IncomingMessage, request, type Server, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import * as NodeServer from "../../src/NodeServer.ts"
import { limits } from "../../src/internal/settings/Limits.ts"
import { WorkItems } from "../../src/internal/store/items/WorkItems.ts"
import { bodyAs, sendRaw } from "../support/Http.ts"
import { layerIn, linkWorker, Service, storageIn, temporaryFolder } from "../support/Service.ts"
import { stalledAt } from "../support/Stalled.ts"

const serving = (times?: NodeServer.Times, sockets = new Map<number | undefined, Socket>()) =>
  Layer.unwrap(
    Effect.map(temporaryFolder, (folder) =>
      layerIn(folder, { rateLimit: null }, storageIn(folder), () =>
        NodeServer.create(times).on("connection", (socket) => sockets.set(socket.remotePort, socket))
      )
    )
  )

/** When the server has parsed so many requests, whether or not anything listens to them. */
const arrival = (server: Server, count: number) =>
  Effect.callback<void>((resume) => {
    let arrived = 0
    const end = () => unsubscribe("http.server.request.start", note)
    const note = (message: unknown) => {
      if (typeof message !== "object" || message === null || !("server" in message) || message.server !== server) return
      if (++arrived < count) return
      end()
      resume(Effect.void)
    }
    subscribe("http.server.request.start", note)
    return Effect.sync(end)
  })

/** The server's sockets of all connections, by the port of the client. */
const ends = new Map<number | undefined, Socket>()
// Headers that are sent have so long to be read on a busy machine; those that never come cost the tests as long.
const short = serving({ headers: 1000, stalled: 2000, idle: 300 }, ends)

withLayer(short, { excludeTestServices: true, timeout: "4 minutes" })("a client that is slow", (it) => {
  it.effect("with its headers gets a 408 and is cut", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      for (const head of ["", "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: "]) {
        assert.match(yield* sendRaw(origin, head), /^HTTP\/1\.1 408 .*"code":"INVALID_REQUEST"/s)
      }
    })
  )

  it.effect("with its body gets a 408 and is cut, and nothing was made", () =>
    Effect.gen(function* () {
      const { key, origin, rows, workspaceId } = yield* Service
      const process = yield* Processes.create({ name: "slow", steps: [{ name: "s", task: { name: "t" } }] })
      const before = yield* rows
      const body = JSON.stringify({ process: { id: process.id } })
      const head =
        `POST /api/v1/workspaces/${workspaceId}/work-items HTTP/1.1\r\nhost: localhost\r\n` +
        `authorization: RC-WSKEY ${key}\r\ncontent-type: application/json\r\n`
      const half = body.slice(0, 10)
      for (const rest of [
        `content-length: ${body.length}\r\n\r\n${half}`,
        `transfer-encoding: chunked\r\n\r\na\r\n${half}\r\n`
      ]) {
        const answer = yield* sendRaw(origin, head + rest)
        assert.match(answer, /^HTTP\/1\.1 408 /)
        assert.include(answer, "the body stopped arriving")
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("with a body that no endpoint reads is closed after the response", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const head = "POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nx"
      assert.match(yield* sendRaw(origin, head), /^HTTP\/1\.1 404 /)
    })
  )

  it.effect("to ask again is cut", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      assert.match(yield* sendRaw(origin, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"), /^HTTP\/1\.1 200 /)
    })
  )

  it.effect("to read a large response is closed", () =>
    Effect.gen(function* () {
      const { key, origin, workspaceId } = yield* Service
      const items = yield* WorkItems
      const process = yield* Processes.create({ name: "large", steps: [{ name: "s", task: { name: "t" } }] })
      const payload = "x".repeat(limits.itemPayload - 100)
      for (let n = 0; n < 7; n++) yield* items.create(workspaceId, process.id, JSON.stringify(payload))
      const path = `/api/v1/workspaces/${workspaceId}/work-items?include_data=true`
      const socket = yield* stalledAt(origin, path, key)
      const end = ends.get(socket.localPort) ?? assert.fail("no such connection")
      if (!end.closed) yield* Effect.promise(() => once(end, "close"))
      socket.resume()
      yield* Effect.promise(() => once(socket, "close"))
      assert.isBelow(socket.bytesRead, 7 * payload.length)
    })
  )

  it.effect("because it waits for the service is not cut", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { identity } = yield* linkWorker(["nothing"])
      const answer = yield* raw("POST", "/worker-v1/lease", {
        key: null,
        headers: { authorization: `Bearer ${Redacted.value(identity.token)}` },
        json: { free: 1, tasks: ["nothing"], wait_seconds: 3 }
      })
      assert.deepStrictEqual(bodyAs(Schema.Struct({ leases: Schema.Array(Schema.Unknown) }), answer).leases, [])
    })
  )
})

withLayer(serving({ headers: 10_000, stalled: 4000, idle: 10_000 }), {
  excludeTestServices: true,
  timeout: "4 minutes"
})("a body that moves", (it) => {
  it.effect("may take longer than one that stands still", () =>
    Effect.gen(function* () {
      const { key, origin, workspaceId } = yield* Service
      const process = yield* Processes.create({ name: "slow", steps: [{ name: "s", task: { name: "t" } }] })
      const body = JSON.stringify({ process: { id: process.id } })
      const { hostname, port } = new URL(origin)
      const socket = connect({ host: hostname, port: Number(port) })
      let received = ""
      socket.on("data", (chunk: Buffer) => (received += chunk.toString()))
      socket.write(
        `POST /api/v1/workspaces/${workspaceId}/work-items HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n` +
          `authorization: RC-WSKEY ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
      )
      const parts = body.match(/.{1,4}/g) ?? []
      for (const part of parts) {
        yield* Effect.sleep("400 millis")
        socket.write(part)
      }
      yield* Effect.promise(() => once(socket, "close"))
      assert.match(received, /^HTTP\/1\.1 200 /)
    })
  )
})

withLayer(serving(), { excludeTestServices: true, timeout: "4 minutes" })("a body", (it) => {
  it.effect("that says itself that it is too large is refused before it comes", () =>
    Effect.gen(function* () {
      const { key, origin, workspaceId } = yield* Service
      const lengths: ReadonlyArray<readonly [method: string, path: string, limit: number]> = [
        ["POST", `/api/v1/workspaces/${workspaceId}/work-items`, limits.jsonBody],
        ["POST", "/worker-v1/link", 64 * 1024],
        ["POST", "/transfer/v1/uploads", limits.file + limits.uploadForm],
        ["POST", "/nowhere", 64 * 1024]
      ]
      for (const [method, path, limit] of lengths) {
        const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: RC-WSKEY ${key}\r\n`
        // No byte of the body is sent: the response does not wait for it.
        const answer = yield* sendRaw(origin, `${head}content-length: ${limit + 1}\r\n\r\n`)
        assert.match(answer, /^HTTP\/1\.1 413 .*connection: close.*"PAYLOAD_TOO_LARGE"/is, path)
        const asking = yield* sendRaw(origin, `${head}expect: 100-continue\r\ncontent-length: ${limit + 1}\r\n\r\n`)
        assert.match(asking, /^HTTP\/1\.1 413 /, path)
      }
    })
  )

  it.effect("without a key is no larger than 64 KB, whether declared or not", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const body = (bytes: number) => JSON.stringify({ link_token: "x".repeat(bytes), name: "n", tasks: [] })
      const chunked = { "transfer-encoding": "chunked", "content-type": "application/json" }
      const link = (bytes: number, headers: Readonly<Record<string, string>>) =>
        raw("POST", "/worker-v1/link", { key: null, body: body(bytes), headers })
      assert.strictEqual((yield* link(64 * 1024, { "content-type": "application/json" })).status, 413)
      assert.strictEqual((yield* link(64 * 1024, chunked)).status, 413)
      assert.strictEqual((yield* link(60 * 1024, chunked)).status, 403)
    })
  )

  it.effect("is waited for as long as the defaults say", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const answer = yield* raw("GET", "/healthz", { headers: { connection: "keep-alive" } })
      assert.strictEqual(answer.headers["keep-alive"], "timeout=75")
      const server = NodeServer.create()
      assert.deepStrictEqual(
        [server.headersTimeout, server.timeout, server.keepAliveTimeout, server.requestTimeout],
        [10_000, 30_000, 75_000, 0]
      )
    })
  )
})

describe("a server whose routes are not there yet", () => {
  it.live("answers the requests that came before them once they are", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => NodeServer.create()),
        (server) =>
          Effect.sync(() => {
            server.close()
            server.closeAllConnections()
          })
      )
      server.listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const arrived = yield* Effect.forkChild(arrival(server, 2), { startImmediately: true })
      const expecting = { "content-length": "2", expect: "100-continue" }
      const exchanges = [{ headers: {} }, { headers: expecting, body: "{}" }].map(({ body = "", headers }) => {
        const sent = request({ host: "127.0.0.1", port, method: body === "" ? "GET" : "POST", headers })
        sent.on("continue", () => sent.end(body))
        if (body === "") sent.end()
        else sent.flushHeaders()
        return once(sent, "response")
      })
      yield* Fiber.join(arrived)
      const respond = (request: IncomingMessage, response: ServerResponse) =>
        request.resume().once("end", () => response.end("here"))
      server.on("request", respond)
      server.on("checkContinue", (request, response) => {
        response.writeContinue()
        respond(request, response)
      })
      const responses = yield* Effect.promise(() => Promise.all(exchanges))
      assert.deepStrictEqual(
        responses.map(([{ statusCode }]) => statusCode),
        [200, 200]
      )
    })
  )
})

describe("a server that closes", () => {
  it.live("closes connections that never carried a request, and finishes the requests in progress", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => NodeServer.create()),
        (server) => Effect.sync(() => server.closeAllConnections())
      )
      server.listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const arrived = once(server, "request")
      const exchange = once(request({ host: "127.0.0.1", port }).end(), "response")
      const [, response]: Array<ServerResponse> = yield* Effect.promise(() => arrived)
      const connected = once(server, "connection")
      const unused = connect(port, "127.0.0.1")
      yield* Effect.promise(() => connected)
      const closed = once(server, "close")
      server.close()
      yield* Effect.promise(() => once(unused.resume(), "close"))
      response?.end()
      assert.strictEqual((yield* Effect.promise(() => exchange))[0].statusCode, 200)
      yield* Effect.promise(() => closed)
    })
  )
})
