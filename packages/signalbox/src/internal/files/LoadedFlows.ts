/** The flows that a file of the user exports. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as FlowChecker from "./FlowChecker.ts"
import * as ModuleFile from "./ModuleFile.ts"

const versionOf = ({ name, version }: { readonly name: string; readonly version: number }) => `${name}@${version}`

/** The file exports no flow, or one twice. */
export class FlowsFileError extends TaggedError<FlowsFileError>()("FlowsFileError", { message: Schema.String }) {
  readonly exitCode = 2
}

const refuse = (message: string) => new FlowsFileError({ message })

/** Loads a file, and returns its flows by version with what replays them. */
export const load = Effect.fnUntraced(function* (file: string) {
  const module = yield* ModuleFile.load(file)
  const { check, isFlow } = yield* FlowChecker.make(file)
  const flows = [...new Set(Object.values(module).filter(isFlow))].sort(
    (one, other) => one.name.localeCompare(other.name) || one.version - other.version
  )
  if (flows.length === 0) {
    return yield* refuse(`${file} exports no flow: export what Flow.make or defineFlow returns, under any name`)
  }
  const byVersion = new Map(flows.map((flow) => [versionOf(flow), flow]))
  if (byVersion.size < flows.length) {
    const twice = flows.find((flow) => byVersion.get(versionOf(flow)) !== flow)
    return yield* refuse(
      `${file} exports two flows ${twice?.name}, version ${twice?.version}: raise the version of one`
    )
  }
  return { file, flows: byVersion, check }
})
