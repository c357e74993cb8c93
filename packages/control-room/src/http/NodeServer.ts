/**
 * The Node server under the service. What Node's parser refuses by itself never reaches the routes, so its answers get
 * the envelope here.
 */
import type { ErrorCode } from "@signalbox/api/contract/Responses"
import { createServer, type Server, ServerResponse } from "node:http"
import { body } from "./Failures.ts"

/** Bytes. */
const maxHeaderSize = 16 * 1024

const refusals: Readonly<Record<string, readonly [status: string, code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "INVALID_REQUEST",
    `the headers are larger than ${maxHeaderSize} bytes`
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "INVALID_REQUEST", "the request did not arrive in time"]
}

const malformed = ["400 Bad Request", "INVALID_REQUEST", "this is not a valid HTTP request"] as const

/**
 * Where the length of a body is checked, Node writes another, empty chunk after it, and with it takes a way to the socket
 * that costs half as much again. A body that is given as text is whole, and as long as its header says.
 */
class Answer extends ServerResponse {
  override end(...given: [chunk?: unknown, encoding?: unknown, callback?: () => void]): this {
    const [chunk, encoding, callback] = given
    if (typeof chunk === "string") this.strictContentLength = false
    if (typeof encoding === "string") return super.end(chunk, encoding as BufferEncoding, callback)
    return super.end(...(given as [chunk?: unknown, callback?: () => void]))
  }
}

/** For `NodeHttpServer.layer`. */
export const create = (): Server => {
  const server = createServer({ maxHeaderSize, ServerResponse: Answer })
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy()
    const [status, code, message] = refusals[error.code ?? ""] ?? malformed
    const json = JSON.stringify(body(code, message))
    const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}`
    return socket.end(`${head}\r\nx-request-id: ${crypto.randomUUID()}\r\nconnection: close\r\n\r\n${json}`)
  })
  return server
}
