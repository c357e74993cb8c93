/**
 * The contender of this project, on SQLite or in the schema of a Postgres, as the first argument says; the second says
 * where its data is. With a port as a third one it is a runner of a cluster.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as PgClient from "@effect/sql-pg/PgClient"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Flow from "@signalbox/flows/Flow"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { serve } from "./Contender.ts"
import { twoSteps } from "./TwoSteps.ts"

const [kind, where = "", port] = process.argv.slice(2)

const runner = (url: Redacted.Redacted, port: number) =>
  NodeClusterSocket.layer({
    shardingConfig: { runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port)) }
  }).pipe(Layer.provide(PgClient.layer({ url })))

const engine = () => {
  if (kind === "sqlite") return FlowEngine.layerSqlite({ file: where })
  const options = { url: Redacted.make(where), schema: kind ?? "postgres" }
  if (port === undefined) return FlowEngine.layerPostgres(options)
  return Layer.provide(FlowEngine.layerCluster(options), runner(options.url, Number(port)))
}

const runtime = ManagedRuntime.make(Flow.layer(twoSteps).pipe(Layer.provideMerge(engine())))
await runtime.runPromise(Flow.execute(twoSteps, { n: 1, key: crypto.randomUUID() }))
serve((n, salt) => runtime.runPromise(Flow.execute(twoSteps, { n, key: `${salt}/${n}` })))
