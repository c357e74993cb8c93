/** What the program has besides its server: the engine of its flows, the flow, and the control room. */
import { layerConfig } from "@signalbox/api/node"
import * as Flow from "@signalbox/flows/Flow"
import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Config from "effect/Config"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { welcome } from "./flow.ts"

/** From the environment; `npm start` reads `.env` too. */
export const settings = Config.all({
  host: Config.withDefault(Config.String("HOST"), "127.0.0.1"),
  port: Config.withDefault(Config.Port("PORT"), 4800),
  /** Of `signalbox flows`: it gives access to the inputs and results of every flow, and to all commands. */
  token: Config.Redacted("SIGNALBOX_FLOWS_TOKEN")
})
export type Settings = Effect.Success<typeof settings>

/** With it, executions that had not ended when the program did go on when it starts. */
const layer = Flow.layer(welcome).pipe(
  Layer.provideMerge(FlowCallbacks.layerConfig),
  Layer.provideMerge(FlowEngine.layerSqlite({ file: "data/flows.db" })),
  Layer.provideMerge(layerConfig),
  Layer.provide(FetchHttpClient.layer)
)

/** Effects run in it with `runPromise`, in any handler of any server. */
export const makeRuntime = () => ManagedRuntime.make(layer)
export type Runtime = ReturnType<typeof makeRuntime>
