/**
 * A program of its own that downloads a file: `node FileDownload.ts <graph origin> <token> <folder> <bytes>`. When so many bytes are
 * there it says how many, and waits for its end.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTransport from "@signalbox/transport/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { writeSync } from "node:fs"
import { AccessTokens } from "../../src/AccessTokens.ts"
import * as Drive from "../../src/Drive.ts"
import * as Files from "../../src/Files.ts"
import { Graph } from "../../src/Graph.ts"

const [, , origin = "", token = "", to = "", until = ""] = process.argv

const layer = Graph.layerHttpClient({ graphUrl: origin }).pipe(
  Layer.provide(AccessTokens.layerFixed(Redacted.make(token))),
  Layer.provide(NodeTransport.layer),
  Layer.merge(Layer.merge(NodeFileSystem.layer, NodePath.layer))
)

const print = (line: string) => Effect.sync(() => void writeSync(1, `${line}\n`))
const stay = (bytes: number) => Effect.andThen(print(String(bytes)), Effect.delay(Effect.void, "1 hour"))

await Effect.runPromise(
  Files.download(
    Drive.me,
    { path: "/large.bin" },
    {
      to,
      resume: true,
      onProgress: (bytes) => (bytes >= Number(until) ? stay(bytes) : Effect.void)
    }
  ).pipe(
    Effect.flatMap(({ path }) => print(path)),
    Effect.provide(layer)
  )
)
