/**
 * A program of its own that uploads a folder: `node FolderUpload.ts <graph origin> <token> <folder> <file of sessions>`. It prints the path of each file
 * that was sent, and at the end the counts of the report.
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
import { defaultPolicy, GraphPolicy } from "../../src/Policy.ts"

const [, , origin = "", token = "", folder = "", sessionFile = ""] = process.argv

const layer = Graph.layerHttpClient({ graphUrl: origin }).pipe(
  Layer.provide(AccessTokens.layerFixed(Redacted.make(token))),
  Layer.provide(NodeTransport.layer),
  Layer.merge(Layer.merge(NodeFileSystem.layer, NodePath.layer))
)

const print = (line: string) => Effect.sync(() => void writeSync(1, `${line}\n`))

await Effect.runPromise(
  Files.uploadFolder(Drive.me, { path: "/Up" }, folder, {
    concurrency: 8,
    fragmentBytes: 4 * 327_680,
    sessionFile,
    onProgress: ({ path }) => print(path)
  }).pipe(
    Effect.flatMap(({ files, folders, present }) => print(JSON.stringify({ files, folders, present }))),
    Effect.provide(layer),
    // Several in a row of one file's requests may meet a fault.
    Effect.provideService(GraphPolicy, { ...defaultPolicy, attempts: 8, baseMillis: 1, capMillis: 5 })
  )
)
