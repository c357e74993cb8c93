/**
 * The contender of this project, on SQLite or in the schema of a Postgres, as the first argument says; the second says
 * where its data is.
 */
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Flow from "@signalbox/flows/Flow"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { serve } from "./Contender.ts"
import { twoSteps } from "./TwoSteps.ts"

const [kind, where = ""] = process.argv.slice(2)

const engine = () => {
  if (kind === "sqlite") return FlowEngine.layerSqlite({ file: where })
  return FlowEngine.layerPostgres({ url: Redacted.make(where), schema: kind ?? "postgres" })
}

const runtime = ManagedRuntime.make(Flow.layer(twoSteps).pipe(Layer.provideMerge(engine())))
await runtime.runPromise(Flow.execute(twoSteps, { n: 1, key: crypto.randomUUID() }))
serve((n, salt) => runtime.runPromise(Flow.execute(twoSteps, { n, key: `${salt}/${n}` })))
