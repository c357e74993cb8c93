/**
 * A program of its own that makes some calls with the tokens of a file: `node RenewingProcess.ts <origin> <file> <calls>`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as FileTokenStore from "../../src/FileTokenStore.ts"
import { Graph } from "../../src/Graph.ts"
import { OAuth } from "../../src/OAuth.ts"
import * as Raw from "../../src/Raw.ts"

const [, , origin = "", path = "", calls = "1"] = process.argv

const layer = Graph.layerHttpClient({ graphUrl: origin }).pipe(
  Layer.provide(OAuth.layerAccessTokens),
  Layer.provide(OAuth.layer({ clientId: "app-1", graphUrl: origin, loginUrl: origin })),
  Layer.provide(FileTokenStore.layer({ path })),
  Layer.provide(NodeHttpClient.layerUndici)
)

const call = Raw.send({ path: "/me" })

await Effect.runPromise(
  Effect.forEach(Array.from({ length: Number(calls) }), () => call, { concurrency: "unbounded", discard: true }).pipe(
    Effect.provide(layer)
  )
)
