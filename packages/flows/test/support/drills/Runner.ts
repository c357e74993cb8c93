/**
 * The runner of a cluster that a process of a drill is: with the network, the locks and the settings that a program has by
 * default, on the Postgres of the drill.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:net"

/** Returns a free port. */
const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

export const layer = ({ schema, url }: { readonly url: string; readonly schema: string }) =>
  Layer.unwrap(
    Effect.map(freePort, (port) =>
      NodeClusterSocket.layer({
        shardingConfig: { runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port)) }
      }).pipe(
        Layer.provide(PostgresClient.layer({ url: Redacted.make(url), schema, applicationName: "runner of a drill" })),
        Layer.orDie
      )
    )
  )
