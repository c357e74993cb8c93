/** A client that sends a request and then stops reading. */
import * as Effect from "effect/Effect"
import { connect, type Socket } from "node:net"

/** Requests a path, reads the first bytes of the response, and none after them. */
export const stalledAt = (origin: string, path: string, key: string) =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const { hostname, port } = new URL(origin)
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on("error", () => {})
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: RC-WSKEY ${key}\r\n\r\n`)
      socket.once("data", () => {
        socket.pause()
        resume(Effect.succeed(socket))
      })
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
