/** The modules of the graph with Effect, over `fetch` alone: for Workers, where `workerd test` calls it. */
import * as Credentials from "@signalbox/graph/Credentials"
import * as Downloads from "@signalbox/graph/Downloads"
import * as Drive from "@signalbox/graph/Drive"
import * as Drives from "@signalbox/graph/Drives"
import { Graph } from "@signalbox/graph/Graph"
import * as Uploads from "@signalbox/graph/Uploads"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { isScan, scan } from "./given.ts"

const drive = Drive.of({ user: "ann@contoso.test" })
const path = "/workers/scan.bin"

const program = Effect.gen(function* () {
  yield* Uploads.upload(drive, { path }, scan)
  const names = yield* Stream.runCollect(Drives.children(drive, { path: "/workers" }))
  const bytes = yield* Downloads.bytes(drive, { path })
  const isWhole = yield* Effect.promise(() => isScan([bytes]))
  const missing = yield* Effect.flip(Drives.item(drive, { path: "/missing" }))
  return JSON.stringify([names.map(({ name }) => name), isWhole, missing.reason._tag])
})

const expected = JSON.stringify([["scan.bin"], true, "NotFound"])

export default {
  test: async (_controller: unknown, { GIVEN }: { readonly GIVEN: string }) => {
    const { authority, client_id: clientId, client_secret: secret, tenant } = JSON.parse(GIVEN)
    const { origin } = new URL(authority)
    const place = { graphUrl: origin, loginUrl: origin }
    const app = { tenant, clientId, clientSecret: Redacted.make(secret), ...place }
    const layer = Graph.layer(place).pipe(
      Layer.provide(Credentials.layerClientSecret(app)),
      Layer.provide(FetchHttpClient.layer)
    )
    const actual = await Effect.runPromise(Effect.provide(program, layer))
    if (actual !== expected) throw new Error(`${actual}, expected ${expected}`)
  }
}
