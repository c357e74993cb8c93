/** A proxy before the room, of whose streams of changes it makes what bad networks and bad proxies make of them. */
import * as Effect from "effect/Effect"
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * What becomes of a stream: it goes through; not a byte comes before it ends; it ends in the middle of the first hint that is
 * no beginning; it is refused.
 */
export type Manner = "through" | "gathered" | "cut" | "refused"

export interface StreamProxy {
  readonly origin: string
  /** For streams that begin from now on. */
  readonly become: (manner: Manner) => void
  /** Streams that are open get no byte more, and stay open. */
  readonly silence: () => void
  /** Ends the streams that are open. */
  readonly drop: () => void
  /** How many streams are open that have sent something. */
  readonly open: () => number
  /** How many streams have begun, and how many were cut. */
  readonly begun: () => number
  readonly cuts: () => number
}

interface Stream {
  readonly response: ServerResponse
  isSilent: boolean
  hasSpoken: boolean
}

const start = (room: string) =>
  new Promise<StreamProxy & { readonly close: () => Promise<void> }>((resolve) => {
    const streams = new Set<Stream>()
    let manner: Manner = "through"
    let begun = 0
    let cuts = 0
    const follow = (upstream: IncomingMessage, response: ServerResponse, how: Manner) => {
      const stream: Stream = { response, isSilent: how === "gathered", hasSpoken: false }
      streams.add(stream)
      response.on("close", () => streams.delete(stream))
      // Headers are sent with the first byte, so that what is gathered is nothing at all.
      if (how !== "gathered") response.flushHeaders()
      upstream.on("data", (bytes: Buffer) => {
        if (stream.isSilent || response.destroyed) return
        stream.hasSpoken = true
        const isHint = bytes.includes('data: {"topic"') && !bytes.includes('"reset"')
        if (how !== "cut" || !isHint) return void response.write(bytes)
        cuts++
        const half = bytes.subarray(0, bytes.indexOf('"topic"') + 4)
        response.write(half, () => response.destroy())
      })
      upstream.on("end", () => response.end())
    }
    const server = createServer((request, response) => {
      const isStream = /\/changes(\?|$)/.test(request.url ?? "")
      if (isStream) begun++
      const how = manner
      if (isStream && how === "refused") return void response.writeHead(503).end()
      const onward = forward(
        `${room}${request.url}`,
        { method: request.method, headers: request.headers },
        (upstream) => {
          response.writeHead(upstream.statusCode ?? 502, upstream.headers)
          if (isStream && upstream.statusCode === 200) follow(upstream, response, how)
          else upstream.pipe(response)
        }
      )
      onward.on("error", () => response.destroy())
      response.on("close", () => onward.destroy())
      request.pipe(onward)
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({
        // A server that listens on a port has such an address.
        origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        become: (next) => {
          manner = next
        },
        silence: () => {
          for (const stream of streams) stream.isSilent = true
        },
        drop: () => {
          for (const { response } of streams) response.destroy()
          streams.clear()
        },
        open: () => [...streams].filter(({ hasSpoken }) => hasSpoken).length,
        begun: () => begun,
        cuts: () => cuts,
        close: () => {
          server.closeAllConnections()
          return new Promise((done) => server.close(() => done()))
        }
      })
    )
  })

/** A proxy before the room at an address, until the scope ends. */
export const streamProxy = (room: string) =>
  Effect.acquireRelease(
    Effect.promise(() => start(room)),
    (proxy) => Effect.promise(() => proxy.close())
  )
