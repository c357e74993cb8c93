/**
 * A program of its own that uploads so many bytes and downloads them again: `node BigTransfer.ts <origin> <token> <size>`. It
 * prints the most memory that it took, in bytes.
 */
import * as NodeTransport from "@signalbox/transport/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { AccessTokens } from "../../src/AccessTokens.ts"
import * as Downloads from "../../src/Downloads.ts"
import * as Drive from "../../src/Drive.ts"
import { Graph } from "../../src/Graph.ts"
import * as Uploads from "../../src/Uploads.ts"

const [, , origin = "", token = "", wanted = "0"] = process.argv
const size = Number(wanted)

/** Any chunk differs from the ones beside it; nothing is kept. */
const from = (offset: number) =>
  Stream.unfold(offset, (at) => {
    const length = Math.min(1024 * 1024, size - at)
    return Effect.succeed(length <= 0 ? undefined : ([new Uint8Array(length).fill(at / 65_536), at + length] as const))
  })

const layer = Graph.layerHttpClient({ graphUrl: origin }).pipe(
  Layer.provide(AccessTokens.layerFixed(Redacted.make(token))),
  Layer.provide(NodeTransport.layer)
)

const item = await Effect.runPromise(
  Effect.gen(function* () {
    const item = yield* Uploads.upload(Drive.me, { path: "/big.bin" }, { size, from })
    // Compared by size and hash at its end.
    yield* Stream.runDrain(Downloads.stream(Drive.me, item))
    return item
  }).pipe(Effect.provide(layer))
)
console.log(JSON.stringify({ size: item.size, memory: process.resourceUsage().maxRSS * 1024 }))
