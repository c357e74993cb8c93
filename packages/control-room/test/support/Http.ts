/** HTTP at the level of any client: every method, path, header and byte as given, and the response as text. */
import { assert } from "@effect/vitest"
import { ErrorBody, type ErrorCode } from "@signalbox/api/contract/Responses"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { request as nodeRequest } from "node:http"
import { connect } from "node:net"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Buffer
  readonly text: string
}

export interface Request {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** Sends one request on a separate connection. */
export const send = (origin: string, method: string, path: string, { body, headers = {} }: Request = {}) =>
  Effect.callback<Answer>((resume) => {
    const { hostname, port } = new URL(origin)
    const sized: Record<string, string> =
      body === undefined || headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined
        ? {}
        : { "content-length": String(Buffer.byteLength(body)) }
    const outgoing = nodeRequest({ hostname, port, method, path, headers: { ...sized, ...headers }, agent: false })
    outgoing.on("response", (incoming) => {
      const chunks: Array<Buffer> = []
      // A stream of events has no end of its own: its beginning is enough.
      const isStream = incoming.headers["content-type"] === "text/event-stream"
      incoming.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        if (!isStream) return
        end()
        outgoing.destroy()
      })
      incoming.on("error", (error) => resume(Effect.die(error)))
      const end = () => {
        const bytes = Buffer.concat(chunks)
        const flat = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const)
        resume(
          Effect.succeed({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(flat),
            bytes,
            text: bytes.toString()
          })
        )
      }
      incoming.on("end", end)
    })
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })

/** Writes bytes to a socket, closes it if requested, and returns everything received until the other side closes. */
export const sendRaw = (origin: string, bytes: string | Uint8Array, how: "half-close" | "wait" | "reset" = "wait") =>
  Effect.callback<string>((resume) => {
    const { hostname, port } = new URL(origin)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    let received = ""
    socket.on("data", (chunk: Buffer) => (received += chunk.toString()))
    socket.on("error", () => resume(Effect.succeed(received)))
    socket.on("close", () => resume(Effect.succeed(received)))
    socket.on("end", () => socket.end())
    socket.write(bytes, () => {
      if (how === "half-close") socket.end()
      if (how === "reset") socket.resetAndDestroy()
    })
    return Effect.sync(() => socket.destroy())
  })

/** The body of a response, decoded by the contract. */
export const bodyAs = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, answer: Answer): S["Type"] =>
  Schema.decodeSync(Schema.fromJsonString(schema))(answer.text)

/** Returns the envelope of a failure; fails the test when the body is something else. */
export const errorOf = (answer: Answer) => bodyAs(ErrorBody, answer)

/** Asserts that the response is this failure, in the envelope, with a matching message. */
export const assertError = (answer: Answer, status: number, code: ErrorCode, says: RegExp) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(errorOf(answer).error.code, code)
  assert.match(errorOf(answer).error.message, says)
}

export interface Part {
  readonly name: string
  readonly value: string | Uint8Array
  /** Makes the part a file. */
  readonly filename?: string
  readonly type?: string
}

/** A multipart form with its parts in this order. */
export const multipart = (parts: ReadonlyArray<Part>) => {
  const boundary = "form-of-the-test"
  const chunks = parts.flatMap(({ filename, name, type, value }) => [
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${
        filename === undefined ? "" : `; filename="${filename}"`
      }\r\n${type === undefined ? "" : `content-type: ${type}\r\n`}\r\n`
    ),
    Buffer.from(value),
    Buffer.from("\r\n")
  ])
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` }
  }
}
