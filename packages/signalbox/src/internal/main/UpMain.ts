/**
 * `signalbox up` as a process: `Main` with this command alone, so that one file is all that it loads before it listens.
 */
import * as NodeRuntime from "@signalbox/platform/NodeRuntime"
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { up } from "../commands/host/Up.ts"
import * as CommandLine from "./CommandLine.ts"
import * as ParentEnded from "../process/ParentEnded.ts"
import * as Logs from "../output/Logs.ts"

CommandLine.run([up], process.argv.slice(2)).pipe(
  Effect.provide(ParentEnded.layer.pipe(Layer.provide(Logs.layerBeside), Layer.provide(NodeServices.layer))),
  NodeRuntime.runMain({ teardown: CommandLine.teardown, disableErrorReporting: true })
)
