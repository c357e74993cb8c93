/** A reader of the stream of changes. */
import { Change } from "@signalbox/api/contract/Changes"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import { createServer, type IncomingMessage, request as nodeRequest, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Service } from "./Service.ts"

const decode = Schema.decodeSync(Schema.fromJsonString(Change))

/** The data of each whole event of a text, without pings. */
const dataOf = (text: string) => text.split("\n\n").flatMap((event) => /^data: (\{"topic.*)$/m.exec(event)?.[1] ?? [])

export interface Watched {
  /** Null: none. Default: the key with every permission. */
  readonly key?: string | null
  readonly workspace?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Default: that of the service. */
  readonly origin?: string
}

/** Opens a stream, which is closed with the scope. */
export const watch = Effect.fnUntraced(function* ({ headers = {}, key, origin, query = "", workspace }: Watched = {}) {
  const service = yield* Service
  const given = key === undefined ? service.key : key
  const hints = yield* Queue.unbounded<Change>()
  const isEnded = yield* Deferred.make<void>()
  const received: Array<string> = []
  const url = `${origin ?? service.origin}/api/v1/workspaces/${workspace ?? service.workspaceId}/changes${query}`
  const authorization = given === null ? {} : { authorization: `Bearer ${given}` }
  const incoming = yield* Effect.acquireRelease(
    Effect.callback<IncomingMessage>((resume) => {
      const outgoing = nodeRequest(url, { headers: { ...authorization, ...headers }, agent: false })
      outgoing.on("response", (response) => resume(Effect.succeed(response)))
      outgoing.on("error", (error) => resume(Effect.die(error)))
      outgoing.end()
    }),
    (response) => Effect.sync(() => response.destroy())
  )
  if (incoming.statusCode !== 200) return yield* Effect.die(new Error(`the stream was refused: ${incoming.statusCode}`))
  let rest = ""
  incoming.on("data", (chunk: Buffer) => {
    const text = rest + chunk.toString()
    const end = text.lastIndexOf("\n\n") + 2
    rest = end < 2 ? text : text.slice(end)
    for (const data of end < 2 ? [] : dataOf(text.slice(0, end))) {
      const change = decode(data)
      received.push(change.topic)
      Queue.offerUnsafe(hints, change)
    }
  })
  const finish = () => void Deferred.doneUnsafe(isEnded, Effect.void)
  incoming.on("end", finish)
  incoming.on("error", finish)
  incoming.on("close", finish)
  const next = Queue.take(hints)
  return {
    headers: incoming.headers,
    /** The topics of all hints so far. */
    received,
    next,
    /** Waits for a hint of a topic, and with this id unless it is undefined. */
    until: (topic: string, id?: string | null) =>
      Effect.repeat(next, { until: (hint) => hint.topic === topic && (id === undefined || hint.id === id) }),
    /** Waits until the service, or something between, has ended the stream. */
    ended: Deferred.await(isEnded)
  }
})

/** A proxy that holds responses back until they end, unless they ask it not to, and that cuts what passes when it is told to. */
export const between = Effect.fnUntraced(function* (origin: string) {
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    open.add(response)
    const outgoing = nodeRequest(origin + (request.url ?? ""), { headers: request.headers, agent: false })
    response.on("close", () => outgoing.destroy())
    outgoing.on("error", () => response.destroy())
    outgoing.on("response", (incoming) => {
      const held: Array<Buffer> = []
      const holds = incoming.headers["x-accel-buffering"] !== "no"
      const begin = () => response.writeHead(incoming.statusCode ?? 502, incoming.headers)
      if (!holds) begin()
      incoming.on("data", (chunk: Buffer) => (holds ? held.push(chunk) : response.write(chunk)))
      incoming.on("end", () => (holds ? begin() : response).end(Buffer.concat(held)))
      incoming.on("error", () => response.destroy())
    })
    outgoing.end()
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  // A server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, cut: () => open.forEach((response) => response.destroy()) }
})
