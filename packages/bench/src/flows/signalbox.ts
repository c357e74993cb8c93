/**
 * The contender of this project, on the engine that the first argument names; the second says where its data is.
 */
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Flow from "@signalbox/flows/Flow"
import { freePort } from "@signalbox/testkit/FreePort"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { serve } from "./Contender.ts"
import { twoSteps } from "./TwoSteps.ts"

const [kind, where = ""] = process.argv.slice(2)

const engine = async () => {
  if (kind === "sqlite") return FlowEngine.layerSqlite({ file: where })
  const url = Redacted.make(where)
  if (kind === "postgres") return FlowEngine.layerPostgres({ url })
  return FlowEngine.layerCluster({ url, schema: "cluster", host: "127.0.0.1", port: await freePort() })
}

const runtime = ManagedRuntime.make(Flow.layer(twoSteps).pipe(Layer.provideMerge(await engine())))
await runtime.runPromise(Flow.execute(twoSteps, { n: 1, key: crypto.randomUUID() }))
serve((n, salt) => runtime.runPromise(Flow.execute(twoSteps, { n, key: `${salt}/${n}` })))
