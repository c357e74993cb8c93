import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ProcessId } from "@signalbox/api/contract/Ids"
import { layerConfig } from "@signalbox/api/node"
import * as Flow from "@signalbox/flows/Flow"
import * as TerminalProgress from "@signalbox/flows/TerminalProgress"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { invoices } from "./invoices.ts"

const [process = "", day = ""] = globalThis.process.argv.slice(2)

Flow.run(invoices, { process: ProcessId.make(process), day }).pipe(
  Effect.flatMap(Console.log),
  Effect.provide([TerminalProgress.layer(), layerConfig]),
  NodeRuntime.runMain
)
