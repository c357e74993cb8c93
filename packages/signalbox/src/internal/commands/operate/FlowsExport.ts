/** `signalbox flows export`: the histories of executions, for tests of changed code. */
import { type FlowManagementClient, onWire } from "@signalbox/flows/FlowManagementClient"
import type { FlowHistory } from "@signalbox/flows/FlowHistory"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { join } from "node:path"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import { filterFlags, filterOf } from "./FlowsFilter.ts"

/** A file cannot be written. */
export class NotWritten extends TaggedError<NotWritten>()("NotWritten", { message: Schema.String }) {}

/** Writes a history into a folder, as the file with the id of its execution. */
const written = (folder: string) =>
  Effect.fnUntraced(function* (history: FlowHistory) {
    const fs = yield* FileSystem.FileSystem
    const path = join(folder, `${history.execution.id}.json`)
    yield* fs.makeDirectory(folder, { recursive: true }).pipe(
      Effect.andThen(fs.writeFileString(path, `${JSON.stringify(onWire.history(history), null, 2)}\n`)),
      Effect.mapError(() => new NotWritten({ message: `--to: cannot write ${path}; check that you may write there` }))
    )
  })

const printed = (history: FlowHistory) => Console.log(JSON.stringify(onWire.history(history)))

/** The histories of an execution, or of those that match. An execution that is deleted in the meantime has none. */
const historiesOf = (
  flows: FlowManagementClient["Service"],
  id: Option.Option<string>,
  filter: ReturnType<typeof filterOf>
) =>
  Option.isSome(id)
    ? Stream.fromEffect(flows.history(id.value))
    : flows.stream(filter).pipe(
        Stream.mapEffect((one) =>
          flows.history(one.id).pipe(
            Effect.catchIf(
              ({ code }) => code === "NOT_FOUND",
              () => Effect.succeed(null)
            )
          )
        ),
        Stream.filter((history) => history !== null)
      )

export const exported = Command.make(
  "export",
  {
    execution: Argument.String("execution").pipe(Argument.withDescription("The id of an execution"), Argument.optional),
    ...filterFlags,
    all: Flag.Boolean("all").pipe(Flag.withDescription("Every execution"), Flag.withDefault(false)),
    to: Flag.String("to").pipe(
      Flag.withMetavar("folder"),
      Flag.withDescription("A folder for a file of each execution; default: print a line of JSON for each"),
      Flag.optional
    ),
    url: flags.url
  },
  Effect.fnUntraced(function* ({ all, execution, to, url, ...given }) {
    const filter = filterOf(given)
    const isFilter = all || Object.keys(filter).length > 0
    if (Option.isSome(execution) === isFilter) {
      return yield* refuse(
        "expected the id of an execution; or flags that filter, such as --flow and --state; or --all for every execution"
      )
    }
    const use = Option.isSome(to) ? written(to.value) : printed
    const count = yield* connected(url, (flows) =>
      historiesOf(flows, execution, filter).pipe(Stream.mapEffect(use), Stream.runCount)
    )
    if (Option.isSome(to))
      yield* Console.log(`${count} ${count === 1 ? "history" : "histories"} written to ${to.value}`)
  })
).pipe(
  Command.withDescription(
    "Prints the history of an execution, or of all matching ones, as JSON, for a test of changed code"
  ),
  Command.withExamples([
    { command: "signalbox flows export 0199a1b2-... > history.json", description: "Write the history to a file" },
    {
      command: "signalbox flows export --flow payments --state waiting --to test/histories",
      description: "Write the histories of all matching executions to a folder"
    }
  ])
)
