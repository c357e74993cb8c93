/** The action `start-run`: starts a run, and waits for its end. */
import type { ProcessId, ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as core from "@actions/core"
import { fail, run } from "./internal/Action.ts"
import * as Inputs from "./internal/Inputs.ts"
import * as Room from "./internal/Room.ts"

/** Characters: GitHub takes outputs of a megabyte. */
const mostOutputs = 500_000

const Payload = Schema.fromJsonString(Schema.Json)

/** What the run starts with. */
const item = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const payload =
    (yield* Inputs.optional("payload")) === null ? null : yield* Inputs.decoded("payload", Payload, "JSON")
  const files = yield* Inputs.lines("files")
  for (const path of files) {
    yield* Effect.mapError(
      fs.access(path, { readable: true }),
      () => new Inputs.InvalidInput({ message: `files: cannot read ${path}` })
    )
  }
  if (!(yield* Inputs.flag("inputs"))) return payload === null && files.length === 0 ? null : { payload, files }
  if (payload === null && files.length === 0) return "waiting" as const
  return yield* new Inputs.InvalidInput({
    message: "inputs: cannot be combined with payload and files, which create an item"
  })
})

const start = Effect.fnUntraced(function* (process: ProcessId, given: Effect.Success<typeof item>) {
  if (given === "waiting") return yield* ProcessRuns.start(process, { inputs: true })
  if (given === null) return yield* ProcessRuns.start(process)
  const { id } = yield* WorkItems.create({ process, payload: given.payload })
  for (const path of given.files) yield* WorkItems.attachFile(id, path)
  return yield* ProcessRuns.start(process, { workItems: [id] })
})

/** Waits for the end of a run; says each state that it comes to. Null: the wait has ended first. */
const awaitEnd = Effect.fnUntraced(function* (id: ProcessRunId, timeout: Duration.Duration | null) {
  let last = ""
  const ended = ProcessRuns.awaitEnd(id, {
    onPoll: ({ state }) =>
      Effect.sync(() => {
        if (state !== last) core.info(`The run is ${state}.`)
        last = state
      })
  })
  return yield* timeout === null
    ? ended
    : Effect.timeoutOrElse(ended, { duration: timeout, orElse: () => Effect.succeed(null) })
})

/** Hands the payloads of the outputs to the steps that follow. */
const setOutputs = Effect.fnUntraced(function* (id: ProcessRunId) {
  const payloads = yield* Stream.runCollect(Stream.map(Outputs.stream(id), ({ payload }) => payload))
  const json = JSON.stringify(payloads)
  if (json.length <= mostOutputs) core.setOutput("outputs", json)
  else
    core.warning(
      `outputs: ${payloads.length} outputs are too large for GitHub; read them with \`signalbox outputs ${id}\``
    )
  return payloads.length
})

const summarize = (heading: string, rows: ReadonlyArray<readonly [string, string]>) =>
  Effect.tryPromise(() =>
    core.summary
      .addHeading(heading, 3)
      .addTable(rows.map(([name, value]) => [{ data: name, header: true }, value]))
      .write()
  ).pipe(
    // Runners that are not GitHub's may have no summaries.
    Effect.ignore
  )

const settled = Effect.fnUntraced(function* (id: ProcessRunId, name: string, timeout: Duration.Duration | null) {
  const ended = yield* awaitEnd(id, timeout)
  if (ended === null) {
    return yield* fail(
      `timeout: the run ${id} has not ended within ${Duration.format(timeout ?? Duration.zero)}, and continues; stop it with \`signalbox runs stop ${id}\``
    )
  }
  core.setOutput("state", ended.state)
  const outputs = yield* setOutputs(id)
  const failed = yield* Stream.runCollect(WorkItems.stream({ processRun: id, state: "failed" }))
  yield* summarize(`${name}: ${ended.state}`, [
    ["Run", id],
    ["Seconds", String(ended.duration ?? "")],
    ["Outputs", String(outputs)],
    ["Failed items", String(failed.length)]
  ])
  if (ended.state === "completed") return
  const reasons = [...new Set(failed.map(({ exception }) => exception?.code ?? exception?.type ?? "no reason"))]
  yield* fail(`the run is ${ended.state}: ${failed.length} work items failed (${reasons.slice(0, 5).join(", ")})`)
})

const program = Effect.gen(function* () {
  // All inputs are read before anything is made.
  const given = yield* item
  const timeout = yield* Inputs.length("timeout")
  const wait = yield* Inputs.flag("wait")
  const stopOnCancel = yield* Inputs.flag("stop-on-cancel")
  const name = yield* Inputs.required("process")
  const process = yield* Room.find("process", name, (only) => Processes.stream({ limit: 500, ...only }))
  if (process === null) {
    return yield* new Inputs.InvalidInput({ message: `process: no process has the name or id ${name}` })
  }
  const started = yield* start(process.id, given)
  if (!started.started) return yield* fail("no run was started: no items wait in the process")
  const { id } = started
  core.setOutput("run-id", id)
  core.info(`Started the run ${id} of ${process.name}.`)
  if (!wait) return
  yield* Effect.onInterrupt(settled(id, process.name, timeout), () =>
    stopOnCancel
      ? Effect.ignore(ProcessRuns.stop(id, { reason: "the job that started it was cancelled" }))
      : Effect.sync(() => core.info(`The run ${id} continues.`))
  )
})

run(program)
