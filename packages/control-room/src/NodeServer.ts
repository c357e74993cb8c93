/**
 * The Node server under the service. Requests that Node's parser refuses never reach the routes, so their responses get
 * the envelope here.
 */
import { check, positive } from "@signalbox/transport/OptionError"
import type { ErrorCode } from "@signalbox/api/contract/Responses"
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { body } from "./internal/edge/Failures.ts"

/** Bytes. */
const maxHeaderSize = 16 * 1024

type Refusal = readonly [status: string, code: ErrorCode, message: string]

const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "INVALID_REQUEST",
    `the headers are larger than ${maxHeaderSize} bytes`
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "INVALID_REQUEST", "the request did not arrive in time"]
}

const malformed: Refusal = ["400 Bad Request", "INVALID_REQUEST", "this is not a valid HTTP request"]

const stalled: Refusal = ["408 Request Timeout", "INVALID_REQUEST", "the body stopped arriving; send the request again"]

/**
 * Where the length of a body is checked, Node writes another, empty chunk after it, on a path to the socket that costs
 * half as much again. A body given as text is complete, and its length is that of its header.
 */
class TextResponse extends ServerResponse {
  override end(...given: [chunk?: unknown, encoding?: unknown, callback?: () => void]): this {
    const [chunk, encoding, callback] = given
    if (typeof chunk === "string") this.strictContentLength = false
    // `ServerResponse.end` takes no other strings here.
    if (typeof encoding === "string") return super.end(chunk, encoding as BufferEncoding, callback)
    // Without an encoding these are the other overload of `end`.
    return super.end(...(given as [chunk?: unknown, callback?: () => void]))
  }
}

/** Whether the response has no end of its own. */
const isStream = (url = "") => /^[^?]*\/changes\/?(\?|$)/.test(url)

/** How long the server waits for the client, in milliseconds. */
export interface Times {
  /** Until the headers of a request have arrived. */
  readonly headers: number
  /** While no byte of a body arrives and none of a response is sent. */
  readonly stalled: number
  /** Between two requests on a connection. */
  readonly idle: number
}

const defaultTimes: Times = { headers: 10_000, stalled: 30_000, idle: 75_000 }

/** Sends a response on a connection without a request that the routes know of, and closes it. */
const refuse = (socket: Duplex, [status, code, message]: Refusal) => {
  const json = JSON.stringify(body(code, message))
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}`
  const more = `x-content-type-options: nosniff\r\nx-request-id: ${crypto.randomUUID()}\r\nconnection: close`
  socket.end(`${head}\r\n${more}\r\n\r\n${json}`)
}

/**
 * For `NodeHttpServer.layer`. A body of any length may take any time as long as bytes keep arriving: a whole request
 * has no limit.
 */
export const create = (times: Times = defaultTimes): Server => {
  check("NodeServer.create", times, { headers: positive, stalled: positive, idle: positive })
  const server = createServer({
    maxHeaderSize,
    ServerResponse: TextResponse,
    headersTimeout: times.headers,
    requestTimeout: 0,
    keepAliveTimeout: times.idle,
    // How often Node checks for late headers.
    connectionsCheckingInterval: Math.max(50, times.headers / 2)
  })
  // Node takes a connection that never carried a request for a busy one.
  const unused = new Set<Socket>()
  server.on("connection", (socket) => {
    unused.add(socket)
    socket.once("close", () => unused.delete(socket))
  })
  const streams = new Set<ServerResponse>()
  const last = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>()
  const remember = (request: IncomingMessage, response: ServerResponse) => {
    last.set(request.socket, { request, response })
    unused.delete(request.socket)
    if (!isStream(request.url) || streams.has(response)) return
    streams.add(response)
    response.once("close", () => streams.delete(response))
  }
  // It listens before the storage is open and the routes are there, and an event without a listener would never get a response.
  const early: Array<() => void> = []
  for (const event of ["request", "checkContinue"] as const) {
    server.on(event, (request, response) => {
      remember(request, response)
      if (server.listenerCount(event) === 1) early.push(() => server.emit(event, request, response))
    })
  }
  server.on("newListener", (event) => {
    if (event === "request" || event === "checkContinue") {
      setImmediate(() => {
        for (const again of early.splice(0)) again()
      })
    }
  })
  const close = server.close.bind(server)
  server.close = (closed) => {
    // Nothing else ends these, and a server that closes waits for all requests.
    for (const response of streams) response.end()
    for (const socket of unused) if (socket.bytesRead === 0) socket.destroy()
    // Node closes idle connections once; those whose last response ends later would stay until their clients close them.
    const sweep = setInterval(() => server.closeIdleConnections(), 50).unref()
    server.once("close", () => clearInterval(sweep))
    return close(closed)
  }
  server.setTimeout(times.stalled, (socket) => {
    const exchange = last.get(socket)
    // Between requests, already refused, or the client does not read the response it requested.
    if (exchange === undefined || exchange.response.writableEnded) return socket.destroy()
    if (socket.writableEnded || socket.writableLength > 0) return socket.destroy()
    const { request, response } = exchange
    // Bytes that arrived and were not read yet: the service is slow, not the client.
    const awaited = !request.complete && request.readableLength === 0
    if (!awaited) return socket.setTimeout(times.stalled)
    return response.headersSent ? socket.destroy() : refuse(socket, stalled)
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy()
    return refuse(socket, refusals[error.code ?? ""] ?? malformed)
  })
  return server
}
