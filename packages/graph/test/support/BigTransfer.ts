/**
 * A program of its own that uploads so many bytes through a proxy and downloads them again: `node BigTransfer.ts <graph port>
 * <files port> <token> <size> <idle limit in milliseconds>`, with the proxy in the environment and `--expose-gc`. It prints the most
 * bytes that were in use: what has been freed is no matter, since when the process gives it back depends on the load of the machine.
 */
import * as NodeTransport from "@signalbox/transport/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { AccessTokens } from "../../src/AccessTokens.ts"
import * as Downloads from "../../src/Downloads.ts"
import * as Drive from "../../src/Drive.ts"
import { Graph } from "../../src/Graph.ts"
import { defaultPolicy, GraphPolicy } from "../../src/Policy.ts"
import * as Uploads from "../../src/Uploads.ts"

const [, , graphPort = "", filesPort = "", token = "", wanted = "0", idle = "0"] = process.argv
const size = Number(wanted)

/** Any chunk differs from the ones beside it; nothing is kept. */
const from = (offset: number) =>
  Stream.unfold(offset, (at) => {
    const length = Math.min(1024 * 1024, size - at)
    return Effect.succeed(length <= 0 ? undefined : ([new Uint8Array(length).fill(at / 65_536), at + length] as const))
  })

/** Loopback never goes through a proxy: the sandbox has names here that only the proxy knows. */
const names = new Map([
  [graphPort, "graph.test"],
  [filesPort, "files.test"]
])
const named = HttpClient.mapRequest((request) => {
  const url = new URL(request.url)
  const name = names.get(url.port)
  if (name === undefined) return request
  return HttpClientRequest.setUrl(request, `http://${name}${url.pathname}${url.search}`)
})

const layer = Graph.layerHttpClient({ graphUrl: `http://localhost:${graphPort}` }).pipe(
  Layer.provide(AccessTokens.layerFixed(Redacted.make(token))),
  Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, named))),
  Layer.provide(NodeTransport.layer)
)

let most = 0
let next = 0
/** Looks each 8 MiB. */
const look = (done: number) =>
  Effect.sync(() => {
    if (done < next) return
    next = done + 8 * 1024 * 1024
    globalThis.gc?.()
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    most = Math.max(most, heapUsed + arrayBuffers)
  })

const item = await Effect.runPromise(
  Effect.gen(function* () {
    const item = yield* Uploads.upload(
      Drive.me,
      { path: "/big.bin" },
      { size, from },
      { onProgress: ({ sent }) => look(sent) }
    )
    next = 0
    let read = 0
    // Compared by size and hash at its end.
    yield* Stream.runForEach(Downloads.stream(Drive.me, item), (chunk) => look((read += chunk.length)))
    return item
  }).pipe(
    Effect.provide(layer),
    Effect.provideService(GraphPolicy, { ...defaultPolicy, idleTimeoutMillis: Number(idle) })
  )
)
console.log(JSON.stringify({ size: item.size, most }))
