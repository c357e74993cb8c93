/** `signalbox flows check`: whether the code of a file can continue the executions of a program, before it is deployed. */
import { type ListedExecution, type State, type UnendedState, unendedStates } from "@signalbox/flows/FlowExecutions"
import type { FlowHistory } from "@signalbox/flows/FlowHistory"
import type { FlowManagementClient } from "@signalbox/flows/FlowManagementClient"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { columns } from "../../connection/Connection.ts"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import * as HistoryFiles from "../../files/HistoryFiles.ts"
import * as LoadedFlows from "../../files/LoadedFlows.ts"
import { exitCodes } from "../../process/ExitCodes.ts"
import * as CheckedFlows from "./CheckedFlows.ts"

/** Executions do not match the flows of the file. */
export class DoesNotFit extends TaggedError<DoesNotFit>()("DoesNotFit", { message: Schema.String }) {
  readonly exitCode = exitCodes.failed
}

/** Nothing can be said of the executions: the file, the histories or the program cannot be read. */
export class CannotCheck extends TaggedError<CannotCheck>()("CannotCheck", { message: Schema.String }) {
  readonly exitCode = exitCodes.unchecked
}

const { versionOf } = CheckedFlows

const isUnended = (state: State): state is UnendedState => unendedStates.some((one) => one === state)

type Code = Effect.Success<ReturnType<typeof LoadedFlows.load>>

/** Replays a history; a version that the file does not export does not fit. */
const checked = Effect.fnUntraced(function* ({ check, file, flows }: Code, history: FlowHistory) {
  const { flow: name, id, state, version } = history.execution
  const flow = flows.get(versionOf(name, version))
  const missing = `${file} exports no version ${version} of ${name}: export it as well, or this execution cannot continue`
  const misfit = flow === undefined ? { tag: "FlowNotRegistered", message: missing } : yield* check(flow, history)
  return { id, flow: name, version, state, misfit } satisfies CheckedFlows.Checked
})

const line = ({ flow, id, misfit, state, version }: CheckedFlows.Checked): string =>
  columns([id, 36], [state, 9], [versionOf(flow, version), 20], [misfit?.message.replace(/\s+/g, " ") ?? "", 0])

const json = ({ id, misfit, ...rest }: CheckedFlows.Checked): string =>
  JSON.stringify({ execution: id, ...rest, ...misfit })

/** Histories that are read and replayed concurrently, so that memory is bounded. */
const atATime = 4

/** The histories of what has not ended in a running program; null: it has ended in the meantime. */
const historyOf = (client: FlowManagementClient["Service"], { id }: ListedExecution) =>
  client.history(id).pipe(
    Effect.map((history) => (isUnended(history.execution.state) ? history : null)),
    Effect.catchIf(
      ({ code }) => code === "NOT_FOUND",
      () => Effect.succeed(null)
    )
  )

interface Given {
  readonly file: string
  readonly flow: Option.Option<string>
  readonly histories: ReadonlyArray<string>
  readonly json: boolean
  readonly state: Option.Option<UnendedState>
  readonly url: Option.Option<string>
}

/** The flows to check, by name. */
const chosenOf = ({ file, flow }: Given, { flows }: Code) => {
  const names = [...new Set([...flows.values()].map(({ name }) => name))]
  if (Option.isNone(flow)) return Effect.succeed(names)
  return names.includes(flow.value)
    ? Effect.succeed([flow.value])
    : Effect.fail(refuse(`--flow: ${file} exports no flow ${flow.value}; expected one of ${names.join(", ")}`))
}

/** Replays all histories, prints those that do not fit, and then the table. */
const replay = Effect.fnUntraced(function* <E, R>(
  { file, json: asJson }: Given,
  code: Code,
  chosen: ReadonlyArray<string>,
  histories: Stream.Stream<FlowHistory | null, E, R>
) {
  const tallies = CheckedFlows.make()
  for (const { name, version } of code.flows.values()) if (chosen.includes(name)) tallies.known(name, version)
  yield* histories.pipe(
    Stream.filter((history) => history !== null),
    Stream.mapEffect((history) => checked(code, history), { concurrency: atATime }),
    Stream.runForEach((one) => {
      tallies.add(one)
      return one.misfit === null ? Effect.void : Console.log(asJson ? json(one) : line(one))
    })
  )
  const all = tallies.all()
  yield* asJson
    ? Effect.forEach(all, (tally) => Console.log(JSON.stringify(tally)), { discard: true })
    : Console.log(CheckedFlows.report(all))
  const unfit = tallies.unfit()
  if (unfit > 0) {
    return yield* new DoesNotFit({
      message: `incompatible executions with ${file}: ${unfit}; raise the version of a changed flow and export the earlier one as well, or use Flow.patched`
    })
  }
})

const ofProgram = (given: Given, code: Code, chosen: ReadonlyArray<string>) =>
  connected(given.url, (client) => {
    const states = Option.isSome(given.state) ? [given.state.value] : unendedStates
    return replay(
      given,
      code,
      chosen,
      Stream.fromIterable(chosen).pipe(
        Stream.flatMap((name) => client.stream({ flow: name, state: states })),
        Stream.mapEffect((execution) => historyOf(client, execution), { concurrency: atATime })
      )
    )
  })

/** Of files all are replayed, ended ones too, so that they can be kept as tests. */
const ofFiles = Effect.fnUntraced(function* (given: Given, code: Code, chosen: ReadonlyArray<string>) {
  const paths = (yield* Effect.forEach(given.histories, HistoryFiles.pathsOf)).flat()
  const isChosen = ({ execution: { flow, state } }: FlowHistory) =>
    chosen.includes(flow) && (Option.isNone(given.state) || given.state.value === state)
  yield* replay(
    given,
    code,
    chosen,
    Stream.fromIterable(paths).pipe(
      Stream.mapEffect(HistoryFiles.histories),
      Stream.flatMap((histories) => Stream.fromIterable(histories.filter(isChosen)))
    )
  )
})

const run = Effect.fnUntraced(function* (given: Given) {
  const code = yield* LoadedFlows.load(given.file)
  const chosen = yield* chosenOf(given, code)
  yield* given.histories.length === 0 ? ofProgram(given, code, chosen) : ofFiles(given, code, chosen)
})

export const check = Command.make(
  "check",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription(
        "A TypeScript or JavaScript file that exports the flows to deploy and has no side effects when it is loaded"
      )
    ),
    histories: Flag.String("histories").pipe(
      Flag.withMetavar("path"),
      Flag.withDescription(
        "A file of `signalbox flows export`, or a folder of them, instead of a running program; may be repeated"
      ),
      Flag.atLeast(0)
    ),
    flow: Flag.String("flow").pipe(Flag.withDescription("Only executions of this flow"), Flag.optional),
    state: Flag.Literals("state", unendedStates).pipe(
      Flag.withDescription("Only executions in this state; default: all live executions"),
      Flag.optional
    ),
    ...flags
  },
  (given) =>
    Effect.mapError(run(given), (error) =>
      error._tag === "DoesNotFit" || "exitCode" in error ? error : new CannotCheck({ message: error.message })
    )
).pipe(
  Command.withDescription(
    "Replays live executions of a running program, or exported histories, against the flows of a file before you deploy it. Runs no step. Exits with 1 when an execution is incompatible, with 2 when that could not be checked"
  ),
  Command.withExamples([
    {
      command: "signalbox flows check flows.ts --url http://127.0.0.1:4800",
      description: "Check all flows that the file exports"
    },
    {
      command: "signalbox flows check flows.ts --flow payments --state waiting --json",
      description: "Check one flow and print JSON"
    },
    {
      command: "signalbox flows check flows.ts --histories test/histories",
      description: "Check exported histories, without a program"
    }
  ])
)
