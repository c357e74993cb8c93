/** `signalbox runs watch` and `runs logs`: how a run goes, and what its tasks write. */
import { ProcessRunId, StepRunId } from "@signalbox/api/contract/Ids"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { columns, connected, connectionFlags, print } from "../../connection/Connection.ts"
import { changeLines, runArgument } from "../../output/RunLines.ts"
import { changes, stepRuns } from "../../output/Watching.ts"

export const watch = Command.make(
  "watch",
  { run: runArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, run }) {
    const watched = Stream.runForEach(changes(run), (change) => print(json, change, changeLines))
    yield* connected(data)(watched)
  })
).pipe(
  Command.withDescription(
    "Prints each change of a run and its step runs until the run has ended, and why step runs wait"
  ),
  Command.withExamples([
    { command: "signalbox runs watch 0199a1b2-...", description: "Ctrl-C ends the output, not the run" },
    {
      command: "signalbox runs watch 0199a1b2-... --json",
      description: "Print one line of JSON with `run` or `step_run` for each change"
    }
  ])
)

/** The step runs that are meant: one that is named, itself or by its run, or those of a run. */
const stepRunsOf = (id: string, only: Option.Option<StepRunId>, follow: boolean) => {
  if (Option.isSome(only)) return Stream.fromEffect(StepRuns.get(only.value))
  const run = ProcessRunId.make(id)
  const all = follow
    ? stepRuns(run)
    : Stream.fromIterableEffect(Effect.map(Stream.runCollect(StepRuns.stream(run)), (found) => found.toReversed()))
  const ofRun = Stream.unwrap(Effect.as(ProcessRuns.get(run), all))
  return Stream.catchTag(ofRun, "NotFound", (notFound) =>
    // Of neither: it is the run that was not found.
    Stream.fromEffect(Effect.mapError(StepRuns.get(StepRunId.make(id)), () => notFound))
  )
}

export const logs = Command.make(
  "logs",
  {
    run: Argument.String("run").pipe(Argument.withDescription("The id of a run or of a step run")),
    stepRun: Flag.String("step-run").pipe(
      Flag.withDescription("Only this step run, by id"),
      Flag.withSchema(StepRunId),
      Flag.optional
    ),
    follow: Flag.Boolean("follow").pipe(
      Flag.withAlias("f"),
      Flag.withDescription("Continue with new messages until the run has ended"),
      Flag.withDefault(false)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, follow, json, run, stepRun: only }) {
    const read = follow ? StepRuns.followConsoleMessages : StepRuns.consoleMessages
    const messages = stepRunsOf(run, only, follow).pipe(
      Stream.flatMap(
        ({ id, step }) => Stream.map(read(id), (message) => ({ ...message, step_run: { id }, step: step.name })),
        { concurrency: follow ? "unbounded" : 1 }
      ),
      Stream.runForEach((message) =>
        print(json, message, ({ message, step, timestamp }) => columns([timestamp, 24], [step, 12], [message, 0]))
      )
    )
    yield* connected(data)(messages)
  })
).pipe(
  Command.withDescription("Prints the log of a run, by step run, or with --follow as it is written"),
  Command.withExamples([
    { command: "signalbox runs logs 0199a1b2-...", description: "Print the log of a run" },
    { command: "signalbox runs logs 0199a1b2-... --follow", description: "Follow the log until the run has ended" }
  ])
)
