/** `signalbox run`: starts a run, and waits for its end. */
import { TaggedError } from "@signalbox/transport/Printed"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { exitCodes } from "../../process/ExitCodes.ts"
import { createItem, itemFlags } from "../../resources/NewItem.ts"
import { priorityFlag } from "../../resources/OrderFlags.ts"
import { find } from "../../resources/Resource.ts"
import { processNoun } from "../../resources/Processes.ts"
import { changeLines, runLine } from "../../output/RunLines.ts"
import { changes, whatItWaitsFor } from "../../output/Watching.ts"
import * as FlagValues from "../../settings/FlagValues.ts"

/** A run that did not end as hoped, or was not started; `exitCode` is that of the command. */
export class RunNotCompleted extends TaggedError<RunNotCompleted>()("RunNotCompleted", {
  message: Schema.String,
  exitCode: Schema.Finite
}) {}

/** Flags that do not go together. */
export class RunFlagError extends TaggedError<RunFlagError>()("RunFlagError", { message: Schema.String }) {}

/** The wait for a run has ended before the run. */
export class StillRunning extends TaggedError<StillRunning>()("StillRunning", { message: Schema.String }) {}

/** Waits until the run has ended, and says on standard error how it goes. A wait that ends leaves the run as it is. */
const awaitEnd = Effect.fnUntraced(function* (id: ProcessRunId, timeout: Option.Option<Duration.Duration>) {
  const waited = Stream.runForEach(changes(id), (change) => Console.error(changeLines(change)))
  if (Option.isNone(timeout)) yield* waited
  else {
    yield* Effect.timeoutOrElse(waited, {
      duration: timeout.value,
      orElse: Effect.fnUntraced(function* () {
        const reason = yield* whatItWaitsFor(id)
        return yield* new StillRunning({
          message: `the run ${id} has not ended within ${Duration.format(timeout.value)}, and continues: watch it with \`signalbox runs watch ${id}\`, stop it with \`signalbox runs stop ${id}\`${reason === null ? "" : `; ${reason}`}`
        })
      })
    })
  }
  return yield* ProcessRuns.get(id)
})

export const run = Command.make(
  "run",
  {
    process: Argument.String("process").pipe(Argument.withDescription("The name or the id of a process")),
    ...itemFlags,
    inputs: Flag.Boolean("inputs").pipe(
      Flag.withDescription("Start with the items that wait in the process, as created by `signalbox items create`"),
      Flag.withDefault(false)
    ),
    priority: priorityFlag,
    wait: Flag.Boolean("wait").pipe(Flag.withDescription("Wait until the run has ended"), Flag.withDefault(false)),
    timeout: Flag.String("timeout").pipe(
      Flag.withDescription('How long to wait, such as "10 minutes"; with --wait'),
      Flag.withSchema(FlagValues.Length),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, file, inputs, json, payload, priority, process: name, timeout, wait }) {
    const order = Option.isNone(priority) ? {} : { priority: priority.value }
    const started = Effect.gen(function* () {
      const process = yield* find(processNoun, name)
      const hasItem = Option.isSome(payload) || file.length > 0
      if (inputs && hasItem) {
        return yield* new RunFlagError({
          message: "--inputs: cannot be combined with --payload and --file, which create an item"
        })
      }
      if (inputs) return yield* ProcessRuns.start(process.id, { inputs: true }, order)
      if (!hasItem) return yield* ProcessRuns.start(process.id, undefined, order)
      const item = yield* createItem(process.id, { payload, file }, order)
      return yield* ProcessRuns.start(process.id, { workItems: [item.id] }, order)
    })
    const program = Effect.gen(function* () {
      const answer = yield* started
      if (!answer.started)
        return yield* new RunNotCompleted({
          message: "no run was started: no items wait in the process; create one with `signalbox items create`",
          exitCode: exitCodes.notStarted
        })
      if (!wait) return yield* print(json, yield* ProcessRuns.get(answer.id), runLine)
      const ended = yield* awaitEnd(answer.id, timeout)
      yield* print(json, ended, runLine)
      if (ended.state === "completed") return
      const items = yield* Stream.runCollect(WorkItems.stream({ processRun: answer.id, state: "failed" }))
      const stopped = items.some((item) => item.exception?.code === "STOPPED")
      return yield* new RunNotCompleted({
        message: `the run is ${ended.state}: ${items.length} work items failed; see \`signalbox items list --run ${answer.id}\``,
        exitCode: stopped ? exitCodes.stopped : exitCodes.unresolved
      })
    })
    return yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Starts a run. Exits with 0 completed, 2 unresolved, 3 stopped, 4 not started"),
  Command.withExamples([
    {
      command: 'signalbox run airports --file airports.csv --payload \'{"file":"airports.csv"}\' --wait',
      description: "Start a run and wait until it has ended"
    }
  ])
)
