/**
 * Durable flows whose process is killed at every point: each continues in the next process, loses no result of a step,
 * and does nothing in the control room twice.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { layer as connect } from "@signalbox/api/node"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { ProcessId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Room, temporaryFolder, up } from "../support/Cli.ts"

const steps = ["createWorkItem", "attachFiles", "startRun", "awaitCompletion", "collectOutputs"] as const

/** Every boundary of a step, and around each of its requests. Waiting for the run polls any number of times. */
const faults: ReadonlyArray<readonly [step: (typeof steps)[number], points: ReadonlyArray<string>]> = [
  ["createWorkItem", ["begin", "request 1", "answer 1", "end"]],
  ["attachFiles", ["begin", "answer 1", "request 2", "answer 2", "end"]],
  ["startRun", ["begin", "request 1", "answer 1", "end"]],
  ["awaitCompletion", ["begin", "answer 1", "end"]],
  ["collectOutputs", ["begin", "answer 1", "end"]]
]
const points = faults
  .flatMap(([step, points]) => points.map((at) => ({ step, at })))
  // The short form has one point of each step.
  .filter((_, index) => soak || index % 4 === 2)

const Line = Schema.Union([
  Schema.Struct({
    what: Schema.Literals(["StepStarted", "StepSucceeded"]),
    execution: Schema.String,
    step: Schema.String
  }),
  Schema.Struct({ what: Schema.Literal("result"), n: Schema.Finite, execution: Schema.String, result: Schema.Json }),
  Schema.Struct({
    what: Schema.Literal("failure"),
    n: Schema.Finite,
    execution: Schema.String,
    message: Schema.String
  }),
  Schema.Struct({ what: Schema.Literal("not killed"), n: Schema.Finite })
])
const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(Line))

const { folder, remove } = temporaryFolder("killed-flows")
const tasks = join(import.meta.dirname, "..", "support", "slowTasks.ts")
const script = join(import.meta.dirname, "..", "support", "killedFlow.ts")
let room: Room | undefined
beforeAll(async () => {
  room = await up(join(folder, "data"), ["--tasks", tasks, "--workers", "2"])
})
afterAll(async () => {
  await room?.end("SIGKILL")
  remove()
})

const theRoom = () => room ?? assert.fail("there is no control room")

const connected = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) =>
  Effect.suspend(() => {
    const { api_key, base_url, workspace_id } = theRoom().ready
    return Effect.provide(
      effect,
      connect({ baseUrl: base_url, workspaceId: WorkspaceId.make(workspace_id), apiKey: Redacted.make(api_key) })
    )
  })

interface Plan {
  readonly body?: string
  readonly finish?: number
  readonly resume?: boolean
  readonly begin?: { readonly n: number; readonly fault: { readonly step: string; readonly at: string } }
}

/** A place for flows: its database, its notes, and its processes, one after the other. */
const place = Effect.fnUntraced(function* (name: string) {
  const process = yield* connected(
    Processes.put({ name, steps: [{ name: "slow", task: { name: "slow" }, max_parallel: 2 }] })
  )
  const [file, notes] = [join(folder, `${name}.db`), join(folder, `${name}.notes`)]
  const start = ({ begin, body = "as it was", finish, resume = false }: Plan) =>
    Effect.promise(
      () =>
        new Promise<void>((resolve, reject) => {
          const { api_key, base_url, workspace_id } = theRoom().ready
          const plan = { file, notes, process: process.id, body, finish: finish ?? null, resume, begin: begin ?? null }
          const child = spawn(globalThis.process.execPath, [script, JSON.stringify(plan)], {
            env: {
              PATH: globalThis.process.env["PATH"],
              SIGNALBOX_BASE_URL: base_url,
              SIGNALBOX_API_KEY: api_key,
              SIGNALBOX_WORKSPACE_ID: workspace_id
            }
          })
          let output = ""
          child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
          child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
          child.once("close", (code, signal) => {
            if (begin === undefined ? code === 0 : signal === "SIGKILL") return resolve()
            reject(new Error(`${JSON.stringify(plan)} ended with ${code ?? signal}: ${output}`))
          })
        })
    )
  return {
    start,
    process: process.id,
    file,
    lines: Effect.sync(() =>
      readFileSync(notes, "utf8")
        .trim()
        .split("\n")
        .map((line) => decodeLine(line))
    )
  }
})

/** The items and runs that the flows have created, according to the control room. */
const made = (process: ProcessId) =>
  connected(
    Effect.gen(function* () {
      const items = yield* Stream.runCollect(WorkItems.stream({ process, includeData: true }))
      const inputs = items.filter(({ files }) => (files ?? []).length > 0)
      const runs = yield* Stream.runCollect(ProcessRuns.stream({ process }))
      return {
        payloads: inputs.map(({ payload }) => JSON.stringify(payload)).sort(),
        files: inputs.map(({ files }) => (files ?? []).length),
        items: items.length,
        runs: runs.map(({ state }) => state)
      }
    })
  )

const payloadOf = (n: number) => JSON.stringify({ n })

describe("a flow whose process is killed", () => {
  it.live(
    `goes on after it, wherever that was: ${points.length} points`,
    () =>
      Effect.gen(function* () {
        const { file, lines, process, start } = yield* place("points")
        // Each process completes what the previous one began, and is killed in another execution.
        for (const [n, fault] of points.entries()) {
          yield* start({ ...(n === 0 ? {} : { finish: n - 1 }), begin: { n, fault } })
        }
        yield* start({ finish: points.length - 1 })

        const noted = yield* lines
        const everyPayload = points.map((_, n) => payloadOf(n)).sort()
        assert.deepStrictEqual(yield* made(process), {
          payloads: everyPayload,
          files: points.map(() => 1),
          items: points.length,
          runs: points.map(() => "completed")
        })
        const results = noted.flatMap((line) => (line.what === "result" ? [line] : []))
        assert.deepStrictEqual(
          results.map(({ n, result }) => ({ n, result })),
          points.map((_, n) => ({ n, result: [{ n }] }))
        )
        for (const { execution, n } of results) {
          const killed = points[n]
          // A wait only polls, and may find on resumption that it is over.
          for (const step of steps.filter((step) => step !== "awaitCompletion")) {
            const begins = noted.filter(
              (line) => line.what === "StepStarted" && line.execution === execution && line.step === step
            ).length
            // What was recorded is not repeated; what was in progress is. The event of an end precedes its record.
            const allowed = step !== killed?.step ? [1] : killed.at === "end" ? [1, 2] : [2]
            assert.include(allowed, begins, `${step}, killed at ${killed?.step}, ${killed?.at}`)
          }
        }
        yield* Effect.gen(function* () {
          for (const { execution } of results) {
            const recorded = yield* FlowExecutions.steps(execution)
            assert.deepStrictEqual(
              recorded.map(({ attempt, path, state }) => `${path} ${attempt} ${state}`),
              steps.map((step) => `${step} 1 succeeded`)
            )
          }
        }).pipe(Effect.provide(FlowEngine.layerSqlite({ file })))
      }),
    soak ? 1_800_000 : 240_000
  )

  const fault = { step: "awaitCompletion", at: "begin" }

  it.live("continues with code that has an additional step at the end", () =>
    Effect.gen(function* () {
      const { lines, process, start } = yield* place("longer")
      yield* start({ begin: { n: 0, fault } })
      yield* start({ finish: 0, body: "a step more at the end" })
      const noted = yield* lines
      const last = noted.at(-1)
      assert.deepStrictEqual(last?.what === "result" ? last.result : last, [{ n: 0 }])
      assert.isTrue(noted.some((line) => line.what === "StepSucceeded" && line.step === "extra"))
      assert.strictEqual((yield* made(process)).items, 1)
    })
  )

  it.live(
    "is stopped by code that has an additional step before, which says so, and continues with matching code",
    () =>
      Effect.gen(function* () {
        const { lines, process, start } = yield* place("changed")
        yield* start({ begin: { n: 0, fault } })
        yield* start({ finish: 0, body: "a step more at the begin" })
        const stopped = (yield* lines).at(-1)
        assert.match(
          stopped?.what === "failure" ? stopped.message : JSON.stringify(stopped),
          /the body of killed, version 1, reached extra before the recorded step createWorkItem: .* needs a new version/
        )
        yield* start({ finish: 0, resume: true })
        const last = (yield* lines).at(-1)
        assert.deepStrictEqual(last?.what === "result" ? last.result : last, [{ n: 0 }])
        const { items, runs } = yield* made(process)
        assert.deepStrictEqual({ items, runs }, { items: 1, runs: ["completed"] })
      })
  )
})
