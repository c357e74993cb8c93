/**
 * The contender of this project, on SQLite or in a schema of a Postgres, as the first argument says; the second says where its data is. With
 * a port as a third one it is a runner of a cluster.
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
import * as SqliteCounts from "../../harness/SqliteCounts.ts"
import { compete } from "./Contender.ts"
import { chain, fan } from "./Flows.ts"

const [kind, where = "", port] = process.argv.slice(2)
const counts = kind === "counted" ? await SqliteCounts.count() : undefined

const runner = (url: Redacted.Redacted, port: number) =>
  NodeClusterSocket.layer({
    shardingConfig: { runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port)) }
  }).pipe(Layer.provide(PgClient.layer({ url })))

const engine = () => {
  if (kind === "sqlite" || kind === "counted") return FlowEngine.layerSqlite({ file: where })
  const options = { url: Redacted.make(where), schema: "flows" }
  if (port === undefined) return FlowEngine.layerPostgres(options)
  return Layer.provide(FlowEngine.layerCluster(options), runner(options.url, Number(port)))
}

const flows = Layer.mergeAll(Flow.layer(chain), Flow.layer(fan))
const runtime = ManagedRuntime.make(flows.pipe(Layer.provideMerge(engine())))
const execute = { chain, fan }
await runtime.runPromise(Flow.execute(chain, { size: 1, key: crypto.randomUUID() }))
compete(
  (shape, size, key) => runtime.runPromise(Flow.execute(execute[shape], { size, key })),
  () => runtime.dispose(),
  counts
)
