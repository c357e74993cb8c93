/**
 * The Node server under the service. What Node's parser refuses by itself never reaches the routes, so its answers get
 * the envelope here.
 */
import type { ErrorCode } from "@signalbox/api/contract/Responses"
import { createServer, type Server } from "node:http"
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

/** For `NodeHttpServer.layer`. */
export const create = (): Server => {
  const server = createServer({ maxHeaderSize })
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy()
    const [status, code, message] = refusals[error.code ?? ""] ?? malformed
    const json = JSON.stringify(body(code, message))
    const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}`
    return socket.end(`${head}\r\nx-request-id: ${crypto.randomUUID()}\r\nconnection: close\r\n\r\n${json}`)
  })
  return server
}
