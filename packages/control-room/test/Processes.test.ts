import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { Runs } from "../src/internal/runs/Runs.ts"
import { Processes as ProcessStore } from "../src/internal/store/processes/Processes.ts"
import { assertError, bodyAs } from "./support/Http.ts"
import { layer, linkWorker, onPostgres, Service } from "./support/Service.ts"

const Started = Schema.Struct({ started: Schema.Boolean, id: Schema.optionalKey(Schema.String) })

const exception = { type: "APPLICATION", code: "E", message: "m" } as const

/** A process with one step for a separate task. */
const newProcess = Effect.suspend(() => {
  const task = `task ${crypto.randomUUID()}`
  const definition = { name: `process of ${task}`, steps: [{ name: "s", task: { name: task } }] }
  return Effect.map(Processes.create(definition), (process) => ({ process, task }))
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the end of a process", (it) => {
  it.effect("waits for its live runs and waiting items, and takes all that was its own", () =>
    Effect.gen(function* () {
      const { blobs, raw, rows } = yield* Service
      const empty = yield* rows
      const { process, task } = yield* newProcess
      const other = yield* newProcess
      const kept = yield* WorkItems.create({ process: other.process.id, payload: 1 })
      yield* WorkItems.attachFile(kept.id, { name: "kept.txt", bytes: new TextEncoder().encode("kept") })
      const worker = yield* linkWorker([task])
      const path = `processes/${process.id}`

      const item = yield* WorkItems.create({ process: process.id, payload: { a: 1 } })
      yield* WorkItems.attachFile(item.id, { name: "in.txt", bytes: new TextEncoder().encode("in") })
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", /1 waiting work items/)
      const run = yield* ProcessRuns.start(process.id, { workItems: [item.id] })
      if (!run.started) return assert.fail("not started")
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", /1 live runs/)
      const { lease, session } = yield* worker.take
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", /1 live runs/)
      const output = yield* session.createOutput(item.id, { out: 1 })
      yield* session.attachFile(output, { name: "out.txt", size: 2, stream: Stream.make(new Uint8Array([79, 75])) })
      yield* worker.protocol.finish(lease, null)
      // A second run, which ends unresolved.
      const again = yield* ProcessRuns.start(process.id)
      if (!again.started) return assert.fail("not started")
      const failed = again.id
      const second = yield* worker.take
      yield* second.session.release(second.lease.work_item_id, { state: "FAILED", exception })
      yield* worker.protocol.finish(second.lease, null)
      assert.strictEqual((yield* ProcessRuns.get(failed)).state, "unresolved")
      assert.strictEqual((yield* blobs).kept.length, 3)

      assert.deepStrictEqual(yield* Processes.remove(process.id), { id: process.id, deleted: true })
      assert.strictEqual((yield* raw("DELETE", path)).status, 404)
      assert.strictEqual((yield* raw("GET", path)).status, 404)
      for (const id of [run.id, failed]) assert.strictEqual((yield* raw("GET", `process-runs/${id}`)).status, 404)
      assert.strictEqual((yield* raw("GET", `step-runs/${lease.step_run_id}`)).status, 404)
      assert.strictEqual((yield* raw("POST", `${path}/process-runs`)).status, 404)
      assert.strictEqual((yield* raw("POST", "work-items", { json: { process: { id: process.id } } })).status, 404)
      // Other processes are unchanged, and nothing else is left.
      assert.strictEqual((yield* blobs).kept.length, 1)
      assert.deepStrictEqual(
        (yield* WorkItems.get(kept.id)).files.map(({ name }) => name),
        ["kept.txt"]
      )
      const left = yield* rows
      for (const table of ["process_run", "step_run", "step_run_event", "output"]) {
        assert.deepStrictEqual(left[table], empty[table], table)
      }
      // Its name can be used again.
      yield* Processes.create({ name: process.name, steps: [] })
    })
  )

  // More than SQLite has parameters for; Postgres has more of them.
  it.effect.skipIf(onPostgres && !soak)("takes runs of any size", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { process, task } = yield* newProcess
      const worker = yield* linkWorker([task])
      const run = yield* ProcessRuns.start(process.id)
      const { lease } = yield* worker.take
      yield* worker.protocol.finish(lease, null)
      if (!run.started) return assert.fail("not started")
      // More items than a statement has parameters.
      yield* sql`
        INSERT INTO work_item (id, workspace_id, process_id, process_run_id, state, created_at, payload, attempts)
        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 40000)
        SELECT ${run.id} || '-' || n, workspace_id, process_id, ${run.id}, 'done', created_at, 'null', 0
        FROM counter, work_item WHERE process_run_id = ${run.id}`
      yield* Processes.remove(process.id)
      assert.deepStrictEqual(yield* sql`SELECT id FROM work_item WHERE process_run_id = ${run.id}`, [])
    })
  )

  it.effect("adds all waiting items, however many, to a run that starts with them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { raw } = yield* Service
      const { process } = yield* newProcess
      yield* WorkItems.create({ process: process.id, payload: 1 })
      // More than a batch takes.
      yield* sql`
        INSERT INTO work_item (id, workspace_id, process_id, state, created_at, payload, attempts)
        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 10049)
        SELECT id || '-' || n, workspace_id, process_id, 'new', created_at, 'null', 0
        FROM counter, work_item WHERE process_id = ${process.id}`
      const start = { json: { type: "with_inputs" } }
      const path = `processes/${process.id}/process-runs`
      const started = bodyAs(Started, yield* raw("POST", path, start))
      const taken = yield* sql`
        SELECT id FROM work_item WHERE process_run_id = ${started.id ?? ""} AND state IN ('pending', 'in_progress')`
      assert.strictEqual(taken.length, 10_050)
      assert.isFalse(bodyAs(Started, yield* raw("POST", path, start)).started)
    })
  )

  it.effect("comes between no start and its run", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      // A start that looked the process up just before its deletion.
      const { process: gone } = yield* newProcess
      const known = yield* (yield* ProcessStore).get(workspaceId, gone.id)
      if (known === null) return assert.fail("no process")
      yield* Processes.remove(gone.id)
      assert.strictEqual((yield* Effect.flip((yield* Runs).start(workspaceId, known, {}))).code, "NOT_FOUND")
      for (let round = 0; round < 10; round++) {
        const { process } = yield* newProcess
        const path = `processes/${process.id}`
        const [run, item, removed] = yield* Effect.all(
          [
            raw("POST", `${path}/process-runs`),
            raw("POST", "work-items", { json: { process: { id: process.id } } }),
            raw("DELETE", path)
          ],
          { concurrency: "unbounded" }
        )
        const gone = removed.status === 200
        assert.include(gone ? [404] : [200], run.status, run.text)
        assert.include(gone ? [404] : [200], item.status, item.text)
        if (!gone) assert.strictEqual(removed.status, 409)
      }
    })
  )
})
