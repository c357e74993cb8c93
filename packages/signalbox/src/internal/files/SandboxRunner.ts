/** Runs a fork of a history with the flows of a file, and with the packages that the file imports. */
import type * as Flow from "@signalbox/flows/Flow"
import type * as FlowSandbox from "@signalbox/flows/FlowSandbox"
import type * as SandboxGraph from "@signalbox/flows/graph/SandboxGraph"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ModuleFile from "./ModuleFile.ts"

/** The fork cannot be run with the flows of the file. */
export class SandboxFileError extends TaggedError<SandboxFileError>()("SandboxFileError", {
  message: Schema.String
}) {}

type Run = Omit<FlowSandbox.Options, "flows" | "services">

/** A layer of any copy of `effect`. */
const isLayer = (value: unknown): value is Layer.Layer<never, unknown> =>
  Predicate.hasProperty(value, "build") && Predicate.isFunction(value.build)

/** The services of the steps: those that the file exports as `sandbox`, or the room and the graph of the environment. */
const servicesOf = Effect.fnUntraced(function* (file: string, flows: string, sandbox: unknown) {
  if (sandbox !== undefined) {
    if (isLayer(sandbox)) return [sandbox]
    const message = `${file}: \`sandbox\` must be a Layer with the services of the steps`
    return yield* new SandboxFileError({ message })
  }
  const api = yield* ModuleFile.importFor<{ readonly ControlRoom: typeof ControlRoom }>(flows, {
    name: "@signalbox/api",
    module: "ControlRoom"
  })
  const graph = yield* Effect.option(
    ModuleFile.importFor<typeof SandboxGraph>(file, {
      name: "@signalbox/flows",
      module: "graph/SandboxGraph",
      broughtBy: "signalbox"
    })
  )
  const layers: ReadonlyArray<Layer.Layer<never, unknown>> = [api.module.ControlRoom.layerConfig]
  return Option.isNone(graph) ? layers : [...layers, graph.value.module.layer]
})

/** Loads a file, and runs a fork with its flows. */
export const run = Effect.fnUntraced(function* (file: string, options: Run) {
  const { sandbox, ...exported } = yield* ModuleFile.load(file)
  const at = { name: "@signalbox/flows", broughtBy: "signalbox" }
  const flow = yield* ModuleFile.importFor<typeof Flow>(file, { ...at, module: "Flow" })
  const runner = yield* ModuleFile.importFor<typeof FlowSandbox>(file, { ...at, module: "FlowSandbox" })
  const flows = [...new Set(Object.values(exported).filter(flow.module.isFlow))]
  const { flow: name, version } = options.history.execution
  if (!flows.some((one) => one.name === name && one.version === version)) {
    const message = `${file} exports no version ${version} of ${name}: export the flow of the execution`
    return yield* new SandboxFileError({ message })
  }
  const services = yield* servicesOf(file, flow.path, sandbox)
  return yield* Effect.tryPromise({
    try: () => runner.module.run({ ...options, flows, services }),
    catch: (cause) => new SandboxFileError({ message: cause instanceof Error ? cause.message : String(cause) })
  })
})
