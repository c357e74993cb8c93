/** Old data is deleted, recent data remains, and concurrent work is not affected. */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Workers from "@signalbox/api/Workers"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { soak } from "@signalbox/testkit/Soak"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { Runs } from "../src/internal/runs/Runs.ts"
import { Assistants } from "../src/internal/store/workers/Assistants.ts"
import { Processes as ProcessStore } from "../src/internal/store/processes/Processes.ts"
import { TaskPackages } from "../src/internal/store/packages/TaskPackages.ts"
import { send } from "./support/Http.ts"
import { layer, layerIn, linkWorker, Service, temporaryFolder } from "./support/Service.ts"

const days = (count: number) => Math.round(Duration.toMillis(Duration.days(count)))

/** Deleted beside the requests of others. */
const several = soak ? 2_000 : 500

const sized = (name: string, text: string) => ({
  name,
  size: Buffer.byteLength(text),
  stream: Stream.succeed(Buffer.from(text))
})

const exception = { type: "APPLICATION", code: "E", message: "m" } as const

/** A process with a worker for its one step. */
const withWorker = Effect.gen(function* () {
  const { origin } = yield* Service
  const task = `task ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name: task, steps: [{ name: "s", task: { name: task } }] })
  const worker = yield* linkWorker([task])
  yield* worker.stayAlive
  return { process, worker, reports: yield* WorkerProtocol.makeReports(origin, worker.identity) }
})

/** A run with every resource that a run can have; `ends`: how, null for one that continues. */
const ran = Effect.fnUntraced(function* (
  { process, reports, worker }: Effect.Success<typeof withWorker>,
  ends: "completed" | "unresolved" | null
) {
  const item = yield* WorkItems.create({ process: process.id, payload: 1 })
  yield* WorkItems.attachFile(item.id, { name: "in.txt", bytes: new TextEncoder().encode("in") })
  const run = yield* ProcessRuns.start(process.id, { workItems: [item.id] })
  if (!run.started) return assert.fail("not started")
  const { lease, session } = yield* worker.take
  yield* reports.sendConsole(lease, 0, [{ timestamp: "2020-01-01T00:00:00.000Z", message: "hello" }])
  yield* reports.uploadArtifact(lease, sized("shot.png", "png"))
  const output = yield* session.createOutput(item.id, { out: 1 })
  yield* session.attachFile(output, sized("out.txt", "out"))
  if (ends === "unresolved") yield* session.release(item.id, { state: "FAILED", exception, dropOutputs: true })
  if (ends !== null) yield* worker.protocol.finish(lease, null)
  return { id: run.id, item: item.id, stepRun: lease.step_run_id, lease }
})

const detailsOf = Effect.fnUntraced(function* (stepRun: Effect.Success<ReturnType<typeof ran>>["stepRun"]) {
  return {
    messages: (yield* Stream.runCollect(StepRuns.consoleMessages(stepRun))).length,
    events: (yield* Stream.runCollect(StepRuns.events(stepRun))).length,
    artifacts: yield* Stream.runCollect(StepRuns.artifacts(stepRun))
  }
})

/** Ended runs of a process, written into the tables, each with an item, a step run, an event and messages. */
const manyRuns = Effect.fnUntraced(function* (process: string, count: number, endedAt: string) {
  const sql = yield* SqlClient.SqlClient
  const { workspaceId } = yield* Service
  const steps = "[]"
  const counter = sql`WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count})`
  const run = sql`${process} || '-' || n`
  yield* sql`
    INSERT INTO process_run (id, workspace_id, process_id, process_name, state, created_at, started_at, ended_at,
      started_by, steps, counts, failed)
    ${counter} SELECT ${run}, ${workspaceId}, ${process}, 'p', 'completed', ${endedAt}, ${endedAt}, ${endedAt},
      '{"type":"api","details":null}', ${steps}, '[]', 0 FROM counter`
  yield* sql`
    INSERT INTO work_item (id, workspace_id, process_id, process_run_id, state, created_at, payload, attempts)
    ${counter} SELECT ${run}, ${workspaceId}, ${process}, ${run}, 'done', ${endedAt}, 'null', 0 FROM counter`
  yield* sql`
    INSERT INTO step_run (id, workspace_id, process_id, process_run_id, step, step_id, step_name, task_name, env, state,
      state_updated_at, ended_at, first_item_id)
    ${counter} SELECT ${run}, ${workspaceId}, ${process}, ${run}, 0, 's', 's', 't', '{}', 'completed', ${endedAt},
      ${endedAt}, ${run} FROM counter`
  for (const part of ["a", "b", "c"]) {
    yield* sql`
      INSERT INTO console_message (id, step_run_id, timestamp, message)
      ${counter} SELECT ${run} || ${part}, ${run}, ${endedAt}, 'm' FROM counter`
  }
})

const tablesOfRuns = ["process_run", "step_run", "step_run_event", "work_item", "output", "console_message", "file"]

const retaining = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, retainRuns: "200 days" }))
)

// In this order: the first test of each suite counts what is stored, and the first poll of a service would delete the runs of years
// ago that others write.
describe("old data", { shuffle: false }, () => {
  withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("without a time for runs", (it) => {
    it.effect("keeps runs for ever, and details of their step runs for 90 days after those ended", () =>
      Effect.gen(function* () {
        const { blobs, origin, raw, retainIn } = yield* Service
        const made = yield* withWorker
        const old = yield* ran(made, "unresolved")
        const [artifact] = (yield* detailsOf(old.stepRun)).artifacts
        if (artifact === undefined) return assert.fail("no artifact")
        const { url } = yield* StepRuns.getArtifact(old.stepRun, artifact.id)
        const live = yield* ran(made, null)
        // No output of the failed item is left, nor its file.
        assert.strictEqual((yield* blobs).kept.length, 5)

        yield* retainIn(days(89.9))
        const before = yield* detailsOf(old.stepRun)
        assert.deepStrictEqual([before.messages, before.artifacts.length], [1, 1])
        assert.isAbove(before.events, 3)
        assert.strictEqual((yield* send(origin, "GET", url.slice(origin.length))).status, 200)

        yield* retainIn(days(90.1))
        assert.deepStrictEqual(yield* detailsOf(old.stepRun), { messages: 0, events: 0, artifacts: [] })
        assert.strictEqual((yield* StepRuns.consoleMessagesFrom(old.stepRun, -1)).total, 0)
        assert.strictEqual((yield* raw("GET", `step-runs/${old.stepRun}/artifacts/${artifact.id}`)).status, 404)
        assert.strictEqual((yield* send(origin, "GET", url.slice(origin.length))).status, 404)
        assert.strictEqual((yield* blobs).kept.length, 4)
        const kept = yield* detailsOf(live.stepRun)
        assert.deepStrictEqual([kept.messages, kept.artifacts.length], [1, 1])

        yield* retainIn(days(5000))
        assert.strictEqual((yield* ProcessRuns.get(old.id)).state, "unresolved")
        assert.strictEqual((yield* StepRuns.get(old.stepRun)).state, "completed")
        assert.strictEqual((yield* WorkItems.get(old.item)).files.length, 1)

        // Its worker ends with this test: the run must not be lost while another test compares rows.
        yield* made.worker.protocol.finish(live.lease, null)
      })
    )

    it.effect("deletes any number of messages and events of a step run", () =>
      Effect.gen(function* () {
        const { retainIn } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const old = yield* ran(yield* withWorker, "completed")
        const counter = sql`WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 5000)`
        yield* sql`
        INSERT INTO console_message (id, step_run_id, timestamp, message)
        ${counter} SELECT id || '-' || n, id, ended_at, 'm' FROM counter, step_run WHERE id = ${old.stepRun}`
        yield* sql`
        INSERT INTO step_run_event (id, step_run_id, event_type, created_at)
        ${counter} SELECT id || '-' || n, id, 'X', ended_at FROM counter, step_run WHERE id = ${old.stepRun}`
        // The nodes concurrently, one part at a time.
        const ticks = Array.from({ length: 3 }, () => retainIn(days(91)))
        yield* Effect.all(ticks, { concurrency: "unbounded", discard: true })
        assert.deepStrictEqual(yield* detailsOf(old.stepRun), { messages: 0, events: 0, artifacts: [] })
      })
    )

    it.effect("continues a deletion that was interrupted in the middle", () =>
      Effect.gen(function* () {
        const { raw, retainIn, rows, workspaceId } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { removeProcess } = yield* Runs
        const before = yield* rows
        const process = yield* Processes.create({ name: "interrupted", steps: [] })
        yield* manyRuns(process.id, 2000, "2020-01-01T00:00:00.000Z")
        const deletion = yield* Effect.forkChild(removeProcess(workspaceId, process.id))
        const some = Effect.map(
          sql`SELECT id FROM process_run WHERE process_id = ${process.id}`,
          (all) => all.length < 2000
        )
        yield* Effect.repeat(some, { until: (begun) => begun })
        yield* Fiber.interrupt(deletion)
        assert.isNotEmpty(yield* sql`SELECT id FROM process_run WHERE process_id = ${process.id}`)
        assert.strictEqual((yield* raw("GET", `processes/${process.id}`)).status, 404)
        yield* retainIn(0)
        const after = yield* rows
        for (const table of ["process", ...tablesOfRuns]) assert.deepStrictEqual(after[table], before[table], table)
      })
    )

    it.effect("finishes what a killed process was deleting, whose name is free and which is hidden", () =>
      Effect.gen(function* () {
        const { blobs, raw, retainIn, rows } = yield* Service
        const before = yield* rows
        const kept = (yield* blobs).kept.length
        const made = yield* withWorker
        const run = yield* ran(made, "unresolved")
        yield* (yield* ProcessStore).markDeleted(made.process.id)
        for (const [method, path] of [
          ["GET", `processes/${made.process.id}`],
          ["DELETE", `processes/${made.process.id}`],
          ["POST", `processes/${made.process.id}/process-runs`]
        ] as const) {
          assert.strictEqual((yield* raw(method, path)).status, 404, path)
        }
        const retry = { batch_operation: "retry", work_item_ids: [run.item] }
        assert.strictEqual((yield* raw("POST", "work-items/batch", { json: retry })).status, 404)
        assert.notInclude((yield* raw("GET", "processes")).text, made.process.id)
        yield* Processes.create({ name: made.process.name, steps: [] })
        yield* Effect.all([retainIn(0), retainIn(0), retainIn(0)], { concurrency: "unbounded", discard: true })
        const after = yield* rows
        for (const table of tablesOfRuns) assert.deepStrictEqual(after[table], before[table], table)
        assert.strictEqual((yield* blobs).kept.length, kept)
        assert.notInclude(JSON.stringify(after["process"]), made.process.id)
      })
    )
  })

  withLayer(retaining, { excludeTestServices: true, timeout: "4 minutes" })("with a time for runs", (it) => {
    it.effect("deletes what ended before that, with all that was its own", () =>
      Effect.gen(function* () {
        const { blobs, raw, retainIn, rows, workspaceId } = yield* Service
        const empty = yield* rows
        const made = yield* withWorker
        const ended = [yield* ran(made, "completed"), yield* ran(made, "unresolved")]
        const assistants = yield* Assistants
        const taskPackage = (yield* (yield* TaskPackages).create(workspaceId, "p")) ?? assert.fail("taken")
        const assistant = yield* assistants.create(workspaceId, "a", { name: "t", package_id: taskPackage.id })
        const [done, going] = [
          yield* assistants.start(workspaceId, assistant, 1),
          yield* assistants.start(workspaceId, assistant, 1)
        ]
        yield* assistants.complete(workspaceId, done.id, null)
        yield* Workers.createLinkToken()
        const headers = { "idempotency-key": "k" }
        const json = { process: { id: made.process.id }, payload: 1 }
        assert.strictEqual((yield* raw("POST", "work-items", { headers, json })).status, 200)
        const live = yield* ran(made, null)

        yield* retainIn(days(199.9))
        for (const { id } of [...ended, live]) assert.strictEqual((yield* raw("GET", `process-runs/${id}`)).status, 200)
        assert.strictEqual((yield* rows)["assistant_run"]?.length, 2)
        // These have separate times, which have passed.
        assert.deepStrictEqual((yield* rows)["link_token"], [])
        assert.deepStrictEqual((yield* rows)["idempotency_key"], [])

        const ticks = [retainIn(days(200.1)), retainIn(days(200.1)), retainIn(days(200.1))]
        yield* Effect.all(ticks, { concurrency: "unbounded", discard: true })
        for (const { id, item, stepRun } of ended) {
          for (const path of [`process-runs/${id}`, `work-items/${item}`, `step-runs/${stepRun}`]) {
            assert.strictEqual((yield* raw("GET", path)).status, 404, path)
          }
        }
        assert.strictEqual((yield* ProcessRuns.get(live.id)).state, "in_progress")
        assert.strictEqual((yield* detailsOf(live.stepRun)).messages, 1)
        // In the file of the live run, that of its output, and its artifact.
        assert.strictEqual((yield* blobs).kept.length, 3)
        assert.strictEqual((yield* rows)["process_run"]?.length, (empty["process_run"]?.length ?? 0) + 1)
        assert.deepStrictEqual(
          ((yield* rows)["assistant_run"] ?? []).map((row) => (row as { readonly id: string }).id),
          [going.id]
        )
      })
    )

    it.effect(`deletes ${several} runs while others keep working`, () =>
      Effect.gen(function* () {
        const { raw, retainIn, rows } = yield* Service
        const process = yield* Processes.create({ name: "many", steps: [] })
        const before = yield* rows
        yield* manyRuns(process.id, several, "2020-01-01T00:00:00.000Z")
        assert.strictEqual(
          (yield* rows)["console_message"]?.length,
          (before["console_message"]?.length ?? 0) + 3 * several
        )
        let served = 0
        const request = Effect.gen(function* () {
          const made = yield* raw("POST", "work-items", { json: { process: { id: process.id }, payload: 1 } })
          assert.strictEqual(made.status, 200, made.text)
          served++
        })
        const others = yield* Effect.forkChild(Effect.forever(request))
        yield* retainIn(0)
        yield* Fiber.interrupt(others)
        const after = yield* rows
        for (const table of tablesOfRuns.filter((table) => table !== "work_item")) {
          assert.deepStrictEqual(after[table], before[table], table)
        }
        assert.isAtLeast(served, 10)
      })
    )
  })
})
