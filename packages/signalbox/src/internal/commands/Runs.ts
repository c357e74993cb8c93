/** `signalbox run`, `runs` and `outputs`: starts, watches, stops and reads process runs. */
import { ProcessId, ProcessRunId, StepRunId } from "@signalbox/api/contract/Ids"
import { processRunStates } from "@signalbox/api/contract/ProcessRuns"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { columns, connected, connectionFlags, print } from "../Connection.ts"

/** A run that was not completed, or not started; `exitCode` is that of the command. */
export class RunNotCompleted extends Schema.TaggedError<RunNotCompleted>()("RunNotCompleted", {
  message: Schema.String,
  exitCode: Schema.Finite
}) {}

/** No process has this name or id. */
export class NoSuchProcess extends Schema.TaggedError<NoSuchProcess>()("NoSuchProcess", { message: Schema.String }) {}

/** The payload on the command line is not JSON. */
export class BadPayload extends Schema.TaggedError<BadPayload>()("BadPayload", { message: Schema.String }) {}

/** A process by its name, else by its id. */
const findProcess = Effect.fnUntraced(function* (nameOrId: string) {
  const named = yield* Stream.runHead(
    Stream.filter(Processes.stream({ limit: 500 }), (process) => process.name === nameOrId)
  )
  if (Option.isSome(named)) return named.value
  return yield* Processes.get(ProcessId.make(nameOrId)).pipe(
    Effect.catchTag("NotFound", () =>
      Effect.fail(new NoSuchProcess({ message: `no process has the name or id ${nameOrId}` }))
    )
  )
})

const decodePayload = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const runLine = (run: ProcessRuns.ProcessRun) =>
  columns(
    [run.id, 36],
    [run.state, 11],
    [run.created_at, 24],
    [run.duration === null ? "" : `${run.duration} s`, 10],
    [run.process.name, 0]
  )

export const run = Command.make(
  "run",
  {
    process: Argument.String("process").pipe(Argument.withDescription("The name or the id of a process")),
    payload: Flag.String("payload").pipe(Flag.withDescription("The payload of the work item, as JSON"), Flag.optional),
    file: Flag.String("file").pipe(
      Flag.withDescription("A file to attach to the work item; may be repeated"),
      Flag.atLeast(0)
    ),
    wait: Flag.Boolean("wait").pipe(Flag.withDescription("Wait until the run has ended"), Flag.withDefault(false)),
    timeout: Flag.String("timeout").pipe(
      Flag.withDescription('How long to wait, such as "10 minutes"; with --wait'),
      Flag.withSchema(Schema.DurationFromString),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, file, json, payload, process: name, timeout, wait }) {
    const started = Effect.gen(function* () {
      const process = yield* findProcess(name)
      const given = Option.isNone(payload)
        ? null
        : yield* Effect.mapError(
            decodePayload(payload.value),
            () => new BadPayload({ message: "--payload: Expected JSON; a text is JSON in quotes" })
          )
      if (Option.isNone(payload) && file.length === 0) return yield* ProcessRuns.start(process.id)
      const item = yield* WorkItems.create({ process: process.id, payload: given })
      for (const path of file) yield* WorkItems.attachFile(item.id, path)
      return yield* ProcessRuns.start(process.id, { workItems: [item.id] })
    })
    const program = Effect.gen(function* () {
      const answer = yield* started
      if (!answer.started) return yield* new RunNotCompleted({ message: "no run was started", exitCode: 4 })
      if (!wait) return yield* print(json, yield* ProcessRuns.get(answer.id), runLine)
      const ended = yield* ProcessRuns.awaitEnd(answer.id, Option.isSome(timeout) ? { timeout: timeout.value } : {})
      yield* print(json, ended, runLine)
      if (ended.state === "completed") return
      const items = yield* Stream.runCollect(WorkItems.stream({ processRun: answer.id, state: "failed" }))
      const stopped = items.some((item) => item.exception?.code === "STOPPED")
      return yield* new RunNotCompleted({
        message: `the run is ${ended.state}: ${items.length} work items failed; see \`signalbox items list --run ${answer.id}\``,
        exitCode: stopped ? 3 : 2
      })
    })
    return yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Starts a run; exits with 0 completed, 2 unresolved, 3 stopped, 4 not started"),
  Command.withExamples([
    {
      command: 'signalbox run airports --file airports.csv --payload \'{"file":"airports.csv"}\' --wait',
      description: "Start and wait"
    }
  ])
)

const runArgument = Argument.String("run").pipe(
  Argument.withDescription("The id of a run"),
  Argument.withSchema(ProcessRunId)
)

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
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, the newest first"), Flag.withDefault(20)),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, limit, process, state }) {
    const program = Effect.gen(function* () {
      const of = Option.isNone(process) ? {} : { process: (yield* findProcess(process.value)).id }
      const filter = { ...of, ...(Option.isSome(state) ? { state: state.value } : {}) }
      yield* Stream.runForEach(Stream.take(ProcessRuns.stream(filter), limit), (found) => print(json, found, runLine))
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists runs, the newest first"),
  Command.withExamples([
    { command: "signalbox runs list --process airports --state unresolved", description: "Runs that need attention" }
  ])
)

const stepRunLine = (stepRun: StepRuns.StepRun) =>
  columns(
    [stepRun.id, 36],
    [stepRun.state, 15],
    [stepRun.error?.code ?? "", 14],
    [stepRun.duration === null ? "" : `${stepRun.duration} s`, 10],
    [stepRun.step.name, 0]
  )

/** Why a step run has no worker, null when it has one or may get one. */
const waitsFor = Effect.fnUntraced(function* (stepRun: StepRuns.StepRun) {
  if (stepRun.state !== "awaiting_worker") return null
  // A key that may read runs, but not their events, sees the rest.
  const last = yield* Stream.runLast(StepRuns.events(stepRun.id)).pipe(
    Effect.catchTag("ControlRoomError", (error) =>
      error.reason._tag === "Forbidden" ? Effect.succeed(Option.none()) : Effect.fail(error)
    )
  )
  return Option.isSome(last) && last.value.event_type === "NO_WORKER" ? last.value : null
})

const show = Command.make(
  "show",
  { run: runArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, run }) {
    const program = Effect.gen(function* () {
      const found = yield* ProcessRuns.get(run)
      const stepRuns = yield* Effect.forEach(yield* Stream.runCollect(StepRuns.stream(run)), (stepRun) =>
        Effect.map(waitsFor(stepRun), (waiting) => ({ ...stepRun, no_worker: waiting?.message ?? null }))
      )
      if (json) return yield* Console.log(JSON.stringify({ ...found, step_runs: stepRuns.toReversed() }))
      yield* Console.log(runLine(found))
      for (const stepRun of stepRuns.toReversed()) {
        yield* Console.log(`  ${stepRunLine(stepRun)}`)
        if (stepRun.no_worker !== null) yield* Console.log(`    ${stepRun.no_worker}`)
      }
    })
    return yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Shows a run and its step runs, and what they wait for when no worker can take them"),
  Command.withExamples([{ command: "signalbox runs show 0199a1b2-...", description: "Its progress" }])
)

const logs = Command.make(
  "logs",
  {
    run: runArgument,
    stepRun: Flag.String("step-run").pipe(
      Flag.withDescription("Only this step run, by its id"),
      Flag.withSchema(StepRunId),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, run, stepRun: only }) {
    const program = Effect.gen(function* () {
      const stepRuns = Option.isSome(only)
        ? [yield* StepRuns.get(only.value)]
        : (yield* Stream.runCollect(StepRuns.stream(run))).toReversed()
      for (const { id, step } of stepRuns) {
        yield* Stream.runForEach(StepRuns.consoleMessages(id), (message) =>
          print(json, { ...message, step_run: { id }, step: step.name }, ({ message, timestamp }) =>
            columns([timestamp, 24], [step.name, 12], [message, 0])
          )
        )
      }
    })
    return yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Prints the console messages of a run, one step run after the other"),
  Command.withExamples([{ command: "signalbox runs logs 0199a1b2-...", description: "The output of its tasks" }])
)

const stop = Command.make(
  "stop",
  {
    run: runArgument,
    terminate: Flag.Boolean("terminate").pipe(
      Flag.withDescription("End running step runs immediately instead of letting them finish their item"),
      Flag.withDefault(false)
    ),
    done: Flag.Boolean("done").pipe(
      Flag.withDescription("Mark waiting items as done instead of failed"),
      Flag.withDefault(false)
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why, shown with the items"), Flag.optional),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, done, json, reason, run, terminate }) {
    const program = ProcessRuns.stop(run, {
      terminate,
      remainingAsDone: done,
      ...(Option.isSome(reason) ? { reason: reason.value } : {})
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
      description: "Running step runs finish their item; waiting items fail"
    },
    {
      command: "signalbox runs stop 0199a1b2-... --terminate --done",
      description: "Immediately; waiting items are done"
    }
  ])
)

export const runs = Command.make("runs").pipe(
  Command.withDescription("Lists, shows, reads and stops process runs"),
  Command.withSubcommands([list, show, logs, stop])
)

export const outputs = Command.make(
  "outputs",
  { run: runArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, run }) {
    const line = (output: Outputs.Output) =>
      columns(
        [output.id, 36],
        [JSON.stringify(output.payload), 0],
        [output.files.map((file) => file.name).join(" "), 0]
      )
    yield* connected(data)(Stream.runForEach(Outputs.stream(run), (output) => print(json, output, line)))
  })
).pipe(
  Command.withDescription("Prints the outputs of a run, the oldest first"),
  Command.withExamples([
    { command: "signalbox outputs 0199a1b2-... --json", description: "A line for each, with files" }
  ])
)
