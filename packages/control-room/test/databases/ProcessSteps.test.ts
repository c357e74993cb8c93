/** The rows of what steps name, filled from a database that is older than them. */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import { ProcessRunId, TaskPackageId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type * as State from "../../src/internal/engine/State.ts"
import { ProcessRuns } from "../../src/internal/store/runs/ProcessRuns.ts"
import { Processes } from "../../src/internal/store/processes/Processes.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import { database } from "../support/Storage.ts"

const packageId = TaskPackageId.make("01900000-0000-7000-8000-000000000001")
const groupId = WorkerGroupId.make("01900000-0000-7000-8000-000000000002")
const runId = (n: number) => ProcessRunId.make(`01900000-0000-7000-8000-00000000001${n}`)

const named = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<object>`
    SELECT process_step.*, process.name FROM process_step JOIN process ON process.id = process_id
    ORDER BY process.name, process_run_id, step_id`).map((row) => ({ ...row }))
})

const steps = [
  { name: "packed \u0000 \\u0000 \\\u0000\u0000\ud800\"'", task: { name: "t", package_id: packageId } },
  { name: "grouped", task: { name: "t" }, worker_group: { id: groupId } },
  { name: "both", task: { name: "t", package_id: packageId }, worker_group: { id: groupId } },
  { name: "neither", task: { name: "t" }, worker_group: null }
]

// In this order: the first test counts all that is there.
describe("processes and their steps", { shuffle: false }, () => {
  withLayer(database, { excludeTestServices: true, timeout: "4 minutes" })("what steps name", (it) => {
    it.effect("is found by their ids, of processes and of runs, but for what has ended", () =>
      Effect.gen(function* () {
        const processes = yield* Processes
        const runs = yield* ProcessRuns
        const workspace = yield* (yield* Workspaces).firstOr("w")
        const process = yield* processes.create(workspace.id, { name: "p", steps })
        const deleted = yield* processes.create(workspace.id, { name: "deleted", steps })
        if (process === null || deleted === null) return assert.fail("not created")
        const run = (n: number, state: State.Run["state"]): State.Run => ({
          id: runId(n),
          workspaceId: workspace.id,
          processId: process.view.id,
          state,
          steps: process.steps,
          counts: [],
          failed: 0,
          stop: null,
          startedAt: null,
          endedAt: null
        })
        yield* runs.insert(run(1, "in_progress"), "p", { priority: 0, source: null, trace: null })
        yield* runs.insert(run(2, "in_progress"), "p", { priority: 0, source: null, trace: null })
        yield* runs.save(run(2, "unresolved"))
        yield* runs.insert(run(3, "in_progress"), "p", { priority: 0, source: null, trace: null })
        yield* runs.save(run(3, "completed"))
        yield* processes.remove(deleted.view.id)
        assert.lengthOf(yield* named, 9)
      })
    )

    it.effect("follows a process when it is changed", () =>
      Effect.gen(function* () {
        const processes = yield* Processes
        const workspace = yield* (yield* Workspaces).firstOr("w")
        const process = yield* processes.create(workspace.id, { name: "changed", steps })
        if (process === null) return assert.fail("not created")
        yield* processes.update(workspace.id, process, { name: "changed", steps: steps.slice(1, 2) })
        const rows = (yield* named).filter((row) => "name" in row && row.name === "changed")
        assert.lengthOf(rows, 1)
        assert.deepInclude(rows[0], { package_id: null, worker_group_id: groupId, process_run_id: null })
      })
    )
  })
})
