import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Flow from "@signalbox/flows/Flow"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { serve } from "./Contender.ts"
import { twoSteps } from "./TwoSteps.ts"
const [kind, where = "", schema = "one"] = process.argv.slice(2)
const engine = () => kind === "sqlite" ? FlowEngine.layerSqlite({ file: where }) : FlowEngine.layerPostgres({ url: Redacted.make(where), schema })
const runtime = ManagedRuntime.make(Flow.layer(twoSteps).pipe(Layer.provideMerge(engine())))
await runtime.runPromise(Flow.execute(twoSteps, { n: 1, key: crypto.randomUUID() }))
serve((n, salt) => runtime.runPromise(Flow.execute(twoSteps, { n, key: `${salt}/${n}` })))
