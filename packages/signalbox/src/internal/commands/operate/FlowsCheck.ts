/** `signalbox flows check`: whether the executions of a program can continue with changed code. */
import { TaggedError } from "@signalbox/transport/Printed"
import { type ListedExecution, type State, type UnendedState, unendedStates } from "@signalbox/flows/FlowExecutions"
import type { FlowManagementClient } from "@signalbox/flows/FlowManagementClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { columns, print } from "../../connection/Connection.ts"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import * as FlowChecker from "../../files/FlowChecker.ts"
import * as ModuleFile from "../../files/ModuleFile.ts"

/** Executions do not match the flows of the file. */
export class DoesNotFit extends TaggedError<DoesNotFit>()("DoesNotFit", { message: Schema.String }) {}

const versionOf = (flow: string, version: number): string => `${flow}@${version}`

interface Checked extends Pick<ListedExecution, "id" | "flow" | "version" | "state"> {
  /** Null when it matches. */
  readonly misfit: FlowChecker.Misfit | null
}

const isUnended = (state: State): state is UnendedState => unendedStates.some((one) => one === state)

const loaded = Effect.fnUntraced(function* (file: string) {
  const module = yield* ModuleFile.load(file)
  const { check, isFlow } = yield* FlowChecker.make(file)
  const flows = [...new Set(Object.values(module).filter(isFlow))].sort(
    (one, other) => one.name.localeCompare(other.name) || one.version - other.version
  )
  if (flows.length === 0) {
    return yield* refuse(`${file} exports no flow: export what Flow.make or defineFlow returns, under any name`)
  }
  const byVersion = new Map(flows.map((flow) => [versionOf(flow.name, flow.version), flow]))
  if (byVersion.size < flows.length) {
    const twice = flows.find((flow) => byVersion.get(versionOf(flow.name, flow.version)) !== flow)
    return yield* refuse(
      `${file} exports two flows ${twice?.name}, version ${twice?.version}: raise the version of one`
    )
  }
  return { flows: byVersion, check }
})

/** Replays one execution; null when it has ended in the meantime. */
const checked = Effect.fnUntraced(function* (
  client: FlowManagementClient["Service"],
  { check, flows }: Effect.Success<ReturnType<typeof loaded>>,
  file: string,
  { id }: ListedExecution
) {
  const history = yield* client.history(id).pipe(
    Effect.catchIf(
      ({ code }) => code === "NOT_FOUND",
      () => Effect.succeed(null)
    )
  )
  if (history === null || !isUnended(history.execution.state)) return null
  const { flow: name, state, version } = history.execution
  const flow = flows.get(versionOf(name, version))
  const missing = `${file} exports no version ${version} of ${name}: export it as well, or this execution cannot continue`
  const misfit = flow === undefined ? { tag: "FlowNotRegistered", message: missing } : yield* check(flow, history)
  return { id, flow: name, version, state, misfit } satisfies Checked
})

const line = ({ flow, id, misfit, state, version }: Checked): string =>
  columns([id, 36], [state, 9], [versionOf(flow, version), 20], [misfit?.message.replace(/\s+/g, " ") ?? "", 0])

const json = ({ id, misfit, ...rest }: Checked): string => JSON.stringify({ execution: id, ...rest, ...misfit })

/** How many executions of a version match. */
interface Tally {
  readonly flow: string
  readonly version: number
  fit: number
  unfit: number
}

const file = Argument.String("file").pipe(
  Argument.withDescription(
    "A TypeScript or JavaScript file that exports the flows to deploy and has no side effects when it is loaded"
  )
)

/** Histories that are read and replayed concurrently, so that memory is bounded. */
const atATime = 4

export const check = Command.make(
  "check",
  {
    file,
    flow: Flag.String("flow").pipe(Flag.withDescription("Only executions of this flow"), Flag.optional),
    state: Flag.Literals("state", unendedStates).pipe(
      Flag.withDescription("Only executions in this state; default: all live executions"),
      Flag.optional
    ),
    ...flags
  },
  ({ file, flow, json: asJson, state, url }) =>
    connected(
      url,
      Effect.fnUntraced(function* (client) {
        const code = yield* loaded(file)
        const { flows } = code
        const names = [...new Set([...flows.values()].map(({ name }) => name))]
        if (Option.isSome(flow) && !names.includes(flow.value)) {
          return yield* refuse(`--flow: ${file} exports no flow ${flow.value}; expected one of ${names.join(", ")}`)
        }
        const chosen = Option.isSome(flow) ? [flow.value] : names
        const states = Option.isSome(state) ? [state.value] : unendedStates
        const tallies = new Map<string, Tally>()
        const tallyOf = (flow: string, version: number): Tally => {
          const tally = tallies.get(versionOf(flow, version)) ?? { flow, version, fit: 0, unfit: 0 }
          tallies.set(versionOf(flow, version), tally)
          return tally
        }
        for (const { name, version } of flows.values()) if (chosen.includes(name)) tallyOf(name, version)
        yield* Stream.fromIterable(chosen).pipe(
          Stream.flatMap((name) => client.stream({ flow: name, state: states })),
          Stream.mapEffect((execution) => checked(client, code, file, execution), { concurrency: atATime }),
          Stream.runForEach((one) => {
            if (one === null) return Effect.void
            tallyOf(one.flow, one.version)[one.misfit === null ? "fit" : "unfit"]++
            return one.misfit === null ? Effect.void : Console.log(asJson ? json(one) : line(one))
          })
        )
        for (const tally of tallies.values()) {
          yield* print(
            asJson,
            tally,
            ({ fit, flow, unfit, version }) => `${versionOf(flow, version)}: ${fit} compatible, ${unfit} incompatible`
          )
        }
        const unfit = [...tallies.values()].reduce((sum, tally) => sum + tally.unfit, 0)
        if (unfit > 0) {
          return yield* new DoesNotFit({
            message: `incompatible executions with ${file}: ${unfit}; raise the version of a changed flow and export the earlier one as well, or use Flow.patched`
          })
        }
      })
    )
).pipe(
  Command.withDescription(
    "Replays live executions of a running program against the flows of a file before you deploy it. Runs no step. Exits with 1 when an execution is incompatible"
  ),
  Command.withExamples([
    {
      command: "signalbox flows check flows.ts --url http://127.0.0.1:4800",
      description: "Check all flows that the file exports"
    },
    {
      command: "signalbox flows check flows.ts --flow payments --state waiting --json",
      description: "Check one flow and print JSON"
    }
  ])
)
