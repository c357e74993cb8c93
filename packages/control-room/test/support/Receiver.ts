/** A receiver of webhooks on a real socket. The test decides the response of a path; default 200. */
import * as Effect from "effect/Effect"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly answer: (status: number, headers?: Record<string, string>) => void
  /** Responds with a status and some bytes, and never ends. */
  readonly answerForever: (status: number) => void
}

/** Handles a request at a path; `index` counts from 0. Without a response the request hangs. */
export type Behaviour = (received: Received, index: number) => void

export const receiver = Effect.gen(function* () {
  const received: Array<Received> = []
  const behaviours = new Map<string, Behaviour>()
  const waiting = new Set<() => void>()
  const open = new Set<ServerResponse>()
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        // The port may be that of the next test, to which a sender would write on a connection of this one.
        response.setHeader("connection", "close")
        const chunks: Array<Buffer> = []
        open.add(response)
        response.on("close", () => open.delete(response))
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const path = request.url ?? ""
          const it: Received = {
            path,
            method: request.method ?? "",
            headers: request.headers,
            body: Buffer.concat(chunks),
            answer: (status, headers = {}) => {
              response.writeHead(status, headers)
              response.end()
            },
            answerForever: (status) => {
              response.writeHead(status)
              response.write("and so on")
            }
          }
          const index = received.filter((other) => other.path === path).length
          received.push(it)
          const behaviour = behaviours.get(path) ?? ((one) => one.answer(200))
          behaviour(it, index)
          waiting.forEach((check) => check())
        })
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const { port } = server.address() as AddressInfo
  const at = (path: string) => received.filter((one) => one.path === path)
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    on: (path: string, behaviour: Behaviour) => Effect.sync(() => behaviours.set(path, behaviour)),
    /** What a path has received so far. */
    at,
    /** Waits until a path has received this many requests, and returns them. */
    take: (path: string, count: number) =>
      Effect.callback<ReadonlyArray<Received>>((resume) => {
        const check = () => {
          if (at(path).length < count) return
          waiting.delete(check)
          resume(Effect.succeed(at(path)))
        }
        waiting.add(check)
        check()
        return Effect.sync(() => waiting.delete(check))
      }),
    /** Requests without a response so far. */
    open: () => open.size
  }
})

export type Receiver = Effect.Success<typeof receiver>
