/**
 * A client in a separate process with a small heap, for tests of memory. Arguments: the connection as JSON, then `walk
 * RUN`, `transfer ITEM BYTES` or `asset NAME BYTES`. Prints one line of JSON.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ProcessRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Assets from "@signalbox/api/Assets"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Files from "@signalbox/api/Files"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"

const [connection = "", mode, id = "", bytes] = process.argv.slice(2)
const { key, origin, workspaceId } = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ key: Schema.String, origin: Schema.String, workspaceId: WorkspaceId }))
)(connection)

let peak = 0
/** Called for each part. `maxRSS` of the system would count the process that has started this one, too. */
const measure = Effect.sync(() => void (peak = Math.max(peak, process.memoryUsage.rss())))

const requests: Array<string> = []
const counted = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.tapRequest((request) => Effect.sync(() => requests.push(JSON.stringify(request.urlParams))))
  )
).pipe(Layer.provide(NodeHttpClient.layerUndici))

const walk = Effect.gen(function* () {
  const all = WorkItems.stream({ processRun: ProcessRunId.make(id), includeData: true, limit: 500 })
  const items = yield* Stream.runCount(Stream.tap(all, () => measure))
  return { items, requests: requests.length, distinct: new Set(requests).size }
})

const size = Number(bytes)
const chunk = new Uint8Array(64 * 1024).fill(7)
const stream = Stream.fromIterable({
  *[Symbol.iterator]() {
    for (let left = size; left > 0; left -= chunk.length) yield left < chunk.length ? chunk.subarray(0, left) : chunk
  }
})

const receive = Effect.fnUntraced(function* <E, R>(download: Stream.Stream<Uint8Array, E, R>) {
  let received = 0
  let sevens = true
  yield* Stream.runForEach(download, (part) =>
    Effect.andThen(
      measure,
      Effect.sync(() => {
        received += part.length
        sevens &&= part[0] === 7 && part.at(-1) === 7
      })
    )
  )
  return { received, sevens }
})

const asset = Effect.gen(function* () {
  let sent = 0
  yield* Assets.put(
    id,
    { name: "large.bin", size, stream },
    {
      onProgress: (sentBytes) =>
        Effect.andThen(
          measure,
          Effect.sync(() => void (sent = sentBytes))
        )
    }
  )
  return { sent, ...(yield* receive(Assets.download(`name:${id}`))) }
})

const transfer = Effect.gen(function* () {
  const item = WorkItemId.make(id)
  let sent = 0
  yield* WorkItems.attachFile(
    item,
    { name: "large.bin", size, stream },
    {
      onProgress: (sentBytes) =>
        Effect.andThen(
          measure,
          Effect.sync(() => void (sent = sentBytes))
        )
    }
  )
  const { files } = yield* WorkItems.get(item)
  const [file] = files
  if (file === undefined) return { sent, received: -1, sevens: false }
  return { sent, ...(yield* receive(Files.download(file))) }
})

Effect.gen(function* () {
  const result = yield* mode === "walk" ? walk : mode === "asset" ? asset : transfer
  console.log(JSON.stringify({ ...result, peakMegabytes: peak / 1024 / 1024 }))
}).pipe(
  Effect.provide(
    Layer.provide(ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId, apiKey: Redacted.make(key) }), counted)
  ),
  NodeRuntime.runMain
)
