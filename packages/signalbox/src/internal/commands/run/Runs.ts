/** `signalbox runs` and `outputs`: watch, stop and read process runs. */
import { processRunStates } from "@signalbox/api/contract/ProcessRuns"
import * as Outputs from "@signalbox/api/Outputs"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { confirm, yesFlag } from "../../resources/Confirm.ts"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { type Columns, printList } from "../../output/List.ts"
import { find } from "../../resources/Resource.ts"
import { processNoun } from "../../resources/Processes.ts"
import { runArgument, runColumns, runLine, shownLines } from "../../output/RunLines.ts"
import { shownStepRuns } from "../../output/Watching.ts"
import { logs, watch } from "./RunWatch.ts"
import * as FlagValues from "../../settings/FlagValues.ts"

const list = Command.make(
  "list",
  {
    process: Flag.String("process").pipe(
      Flag.withDescription("Only runs of this process, by name or id"),
      Flag.optional
    ),
    state: Flag.Literals("state", processRunStates).pipe(
      Flag.withDescription("Only runs in this state"),
      Flag.optional
    ),
    limit: FlagValues.limit.pipe(Flag.withDescription("How many, newest first"), Flag.withDefault(20)),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, limit, process, state }) {
    const program = Effect.gen(function* () {
      const of = Option.isNone(process) ? {} : { process: (yield* find(processNoun, process.value)).id }
      const filter = { ...of, state: Option.getOrUndefined(state) }
      const found = Stream.take(ProcessRuns.stream(filter), limit)
      yield* printList(json, found, runColumns, "No matching runs: start one with `signalbox run PROCESS`")
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists runs, newest first"),
  Command.withExamples([
    {
      command: "signalbox runs list --process airports --state unresolved",
      description: "List runs that need attention"
    }
  ])
)

const show = Command.make(
  "show",
  { run: runArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, run }) {
    const program = Effect.gen(function* () {
      const found = yield* ProcessRuns.get(run)
      const stepRuns = yield* shownStepRuns(run)
      if (json) return yield* Console.log(JSON.stringify({ ...found, step_runs: stepRuns }))
      yield* Console.log(runLine(found))
      for (const stepRun of stepRuns) yield* Console.log(shownLines(stepRun))
    })
    return yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Shows a run and its step runs, why step runs have no worker, and incomplete logs"),
  Command.withExamples([{ command: "signalbox runs show 0199a1b2-...", description: "Show the progress of a run" }])
)

const stop = Command.make(
  "stop",
  {
    run: runArgument,
    terminate: Flag.Boolean("terminate").pipe(
      Flag.withDescription("Terminate running step runs immediately instead of after their current item"),
      Flag.withDefault(false)
    ),
    done: Flag.Boolean("done").pipe(
      Flag.withDescription("Mark waiting items as done instead of failed"),
      Flag.withDefault(false)
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("The reason, shown with the items"), Flag.optional),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, done, json, reason, run, terminate }) {
    const program = ProcessRuns.stop(run, {
      terminate,
      remainingAsDone: done,
      reason: Option.getOrUndefined(reason)
    }).pipe(
      Effect.flatMap((answer) =>
        print(json, answer, ({ accepted }) => (accepted ? "the run is stopping" : "the run had already ended"))
      )
    )
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Stops a run"),
  Command.withExamples([
    {
      command: "signalbox runs stop 0199a1b2-...",
      description: "Stop after the current items; waiting items fail"
    },
    {
      command: "signalbox runs stop 0199a1b2-... --terminate --done",
      description: "Stop immediately and mark waiting items as done"
    }
  ])
)

const rerun = Command.make(
  "rerun",
  { run: runArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, run }) {
    const id = yield* connected(data)(ProcessRuns.startAgain(run))
    yield* print(json, { id }, () => `started run ${id} with the inputs of ${run}`)
  })
).pipe(
  Command.withDescription("Starts a new run with the current inputs of a run that has ended"),
  Command.withExamples([
    {
      command: "signalbox runs rerun 0199a1b2-...",
      description: "Rerun with the current definition of the process; the old run stays"
    }
  ])
)

const remove = Command.make(
  "delete",
  { runs: Argument.variadic(runArgument, { min: 1 }), yes: yesFlag, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, runs, yes }) {
    const program = Effect.gen(function* () {
      if (runs.length > 1) yield* confirm(`delete ${runs.length} runs with all their data`, yes)
      for (const run of runs) yield* print(json, yield* ProcessRuns.remove(run), ({ id }) => `deleted run ${id}`)
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Deletes runs that have ended, with all their data. Irreversible"),
  Command.withExamples([
    { command: "signalbox runs delete 0199a1b2-...", description: "Delete one run" },
    { command: "signalbox runs delete 0199a1b2-... 0199a1b3-... --yes", description: "Delete two runs without asking" }
  ])
)

export const runs = Command.make("runs").pipe(
  Command.withDescription("Lists, shows, watches, stops, reruns and deletes process runs"),
  Command.withSubcommands([list, show, watch, logs, stop, rerun, remove])
)

const outputColumns: Columns<Outputs.Output> = {
  id: ({ id }) => id,
  payload: ({ payload }) => JSON.stringify(payload),
  files: ({ files }) => files.map((file) => file.name).join(" ")
}

export const outputs = Command.make(
  "outputs",
  { run: runArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, run }) {
    const none = "No outputs: the last step has completed no items"
    yield* connected(data)(printList(json, Outputs.stream(run), outputColumns, none))
  })
).pipe(
  Command.withDescription("Prints the outputs of a run, oldest first"),
  Command.withExamples([
    {
      command: "signalbox outputs 0199a1b2-... --json",
      description: "Print one line of JSON for each output, with files"
    }
  ])
)
