/**
 * The `signalbox` command as a process.
 */
import * as NodeRuntime from "@signalbox/platform/NodeRuntime"
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ParentEnded from "../process/ParentEnded.ts"
import * as Logs from "../output/Logs.ts"
import * as Program from "./Program.ts"

Program.run(process.argv.slice(2)).pipe(
  Effect.provide(ParentEnded.layer.pipe(Layer.provide(Logs.layerBeside), Layer.provide(NodeServices.layer))),
  NodeRuntime.runMain({ teardown: Program.teardown, disableErrorReporting: true })
)
