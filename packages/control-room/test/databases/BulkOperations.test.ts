/** Bulk operations: one operation on all items or runs that match, in short transactions that any node continues. */
import { assert, layer as withLayer } from "@effect/vitest"
import type { BulkFilter, BulkOperationName } from "@signalbox/api/contract/BulkOperations"
import { type BulkOperationId, ProcessRunId, WorkItemId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { BulkOperations } from "../../src/internal/runs/BulkOperations.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { BulkOperations as Store } from "../../src/internal/store/room/BulkOperations.ts"
import { Database } from "../../src/internal/store/database/Database.ts"
import { Failures } from "../../src/internal/store/items/Failures.ts"
import { Files } from "../../src/internal/store/files/Files.ts"
import { Processes, type StoredProcess } from "../../src/internal/store/processes/Processes.ts"
import { ProcessRuns } from "../../src/internal/store/runs/ProcessRuns.ts"
import { noOrder } from "../../src/internal/store/items/StoredItem.ts"
import { WorkItems } from "../../src/internal/store/items/WorkItems.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import { database, runsOn } from "../support/Storage.ts"

const newProcess = Effect.gen(function* () {
  const workspace = (yield* (yield* Workspaces).create("bulk")).id
  const steps = [{ name: "s", task: { name: "t" }, max_parallel: 2 }]
  const process = yield* (yield* Processes).create(workspace, { name: "p", steps })
  return { workspace, process: process ?? assert.fail("the name is taken") }
})

const stop = { asDone: false, terminate: false, reason: "test" }

const start = Effect.fnUntraced(function* (workspace: WorkspaceId, process: StoredProcess, count: number) {
  const payloads = Array.from({ length: count }, (_, n) => n)
  const run = yield* (yield* Runs).start(workspace, process, { type: "with_payloads", payloads })
  return run ?? assert.fail("not started")
})

/** A run whose items have all failed. */
const failed = Effect.fnUntraced(function* (workspace: WorkspaceId, process: StoredProcess, count: number) {
  const run = yield* start(workspace, process, count)
  yield* (yield* Runs).stop(run, stop)
  return run
})

const create = Effect.fnUntraced(function* (workspace: WorkspaceId, operation: BulkOperationName, filter: BulkFilter) {
  const made = yield* (yield* BulkOperations).create(workspace, operation, filter, false)
  return made.bulk_operation ?? assert.fail("not created")
})

const get = (workspace: WorkspaceId, id: BulkOperationId) =>
  Effect.flatMap(Store, (store) => Effect.map(store.get(workspace, id), (found) => found ?? assert.fail("not found")))

/** Creates a job and carries it out. */
const perform = Effect.fnUntraced(function* (workspace: WorkspaceId, operation: BulkOperationName, filter: BulkFilter) {
  const { id } = yield* create(workspace, operation, filter)
  yield* (yield* BulkOperations).tick
  return yield* get(workspace, id)
})

const itemsOf = (workspace: WorkspaceId, run: ProcessRunId) =>
  Effect.gen(function* () {
    const page = { after: null, limit: 500 }
    const filter = { processId: null, processRunId: run, state: null, order: "oldest first" } as const
    return (yield* (yield* WorkItems).listWhole(workspace, filter, page)).rows
  })

const statesOf = (workspace: WorkspaceId, run: ProcessRunId) =>
  Effect.map(itemsOf(workspace, run), (items) => items.map(({ state }) => state))

const stateOf = (workspace: WorkspaceId, run: ProcessRunId) =>
  Effect.flatMap(ProcessRuns, (runs) => Effect.map(runs.get(workspace, run), (found) => found?.state))

/** From now on the database fails whenever this item changes, as it would for a row that is damaged. */
const failingAt = Effect.fnUntraced(function* (item: string) {
  const { sql } = yield* Database
  if (!Dialect.isPostgres(sql)) {
    yield* sql.unsafe(
      `CREATE TRIGGER failing BEFORE UPDATE ON work_item WHEN OLD.id = '${item}' BEGIN SELECT RAISE(ABORT, 'damaged'); END`
    )
    return
  }
  yield* sql.unsafe(`CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'damaged'; END $$`)
  yield* sql.unsafe(
    `CREATE TRIGGER failing BEFORE UPDATE ON work_item FOR EACH ROW WHEN (OLD.id = '${item}') EXECUTE FUNCTION failing()`
  )
})

const bulk = BulkOperations.layer.pipe(Layer.provideMerge(runsOn(database)))

withLayer(bulk, { excludeTestServices: true, timeout: "4 minutes" })("a bulk operation", (it) => {
  it.effect("counts first, and a dry run changes nothing", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 3)
      const { create } = yield* BulkOperations
      const counted = yield* create(workspace, "retry", { process_run_id: run }, true)
      assert.deepStrictEqual(counted, { total: 3, bulk_operation: null })
      assert.deepStrictEqual((yield* (yield* Store).list(workspace, { after: null, limit: 10 })).rows, [])
      assert.deepStrictEqual(yield* statesOf(workspace, run), ["failed", "failed", "failed"])
    })
  )

  it.effect("retries all that match, over many chunks and runs", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const first = yield* failed(workspace, process, 250)
      const second = yield* failed(workspace, process, 10)
      const other = yield* start(workspace, process, 1)
      const done = yield* perform(workspace, "retry", { process_id: process.view.id })
      assert.strictEqual(done.state, "completed")
      assert.deepStrictEqual([done.total, done.done, done.refused, done.skipped], [260, 260, 0, 0])
      for (const run of [first, second]) {
        assert.isTrue((yield* statesOf(workspace, run)).every((state) => state === "pending"))
        assert.strictEqual(yield* stateOf(workspace, run), "in_progress")
      }
      assert.deepStrictEqual(yield* statesOf(workspace, other), ["pending"])
    })
  )

  it.effect("marks as done and deletes", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 5)
      const [first, second] = yield* itemsOf(workspace, run)
      const ids = [first?.id ?? "", second?.id ?? ""]
      const marked = yield* perform(workspace, "mark_as_done", { ids })
      assert.strictEqual(marked.done, 2)
      assert.deepStrictEqual(yield* statesOf(workspace, run), ["done", "done", "failed", "failed", "failed"])
      const deleted = yield* perform(workspace, "delete", { process_run_id: run, state: "failed" })
      assert.strictEqual(deleted.done, 3)
      assert.deepStrictEqual(yield* statesOf(workspace, run), ["done", "done"])
      assert.strictEqual(yield* stateOf(workspace, run), "completed")
    })
  )

  it.effect("takes a group of failures, or a type and a code", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 2)
      const failures = yield* Failures
      const none = { processId: null, stepId: null, type: null, code: null, state: null }
      const [group] = (yield* failures.list(workspace, none, { after: null, limit: 10 })).rows
      const { create } = yield* BulkOperations
      const countOf = (filter: BulkFilter) => Effect.map(create(workspace, "retry", filter, true), ({ total }) => total)
      assert.strictEqual(yield* countOf({ type: "orchestrator", code: "STOPPED" }), 2)
      assert.strictEqual(yield* countOf({ code: "OTHER" }), 0)
      assert.strictEqual(yield* countOf({ type: "business" }), 0)
      assert.strictEqual(yield* countOf({ state_updated_before: "2020-01-01T00:00:00Z" }), 0)
      assert.strictEqual(yield* countOf({ created_after: "2020-01-01T00:00:00+02:00" }), 2)
      const done = yield* perform(workspace, "mark_as_done", {
        failure_id: group?.failure.id ?? assert.fail("no group")
      })
      assert.strictEqual(done.done, 2)
      assert.strictEqual(yield* stateOf(workspace, run), "completed")
    })
  )

  it.effect("takes items by their reference, or by a tag", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const items = ["a", "b", "c"].map((reference) => ({
        payload: "1",
        order: { ...noOrder, tags: reference === "a" ? ["rush"] : ["rush", "late"] },
        reference
      }))
      yield* (yield* WorkItems).createMany(workspace, process.view.id, items)
      const { create } = yield* BulkOperations
      const countOf = (filter: BulkFilter) =>
        Effect.map(create(workspace, "delete", filter, true), ({ total }) => total)
      assert.strictEqual(yield* countOf({ reference: "b" }), 1)
      assert.strictEqual(yield* countOf({ reference: "d" }), 0)
      assert.strictEqual(yield* countOf({ tag: "rush" }), 3)
      assert.strictEqual(yield* countOf({ tag: "late" }), 2)
      assert.strictEqual(yield* countOf({ tag: "late", reference: "a" }), 0)
      assert.strictEqual((yield* perform(workspace, "delete", { tag: "late" })).done, 2)
      assert.strictEqual(yield* countOf({ tag: "rush" }), 1)
    })
  )

  it.effect("takes nothing of another workspace", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 1)
      const [item] = yield* itemsOf(workspace, run)
      const other = yield* newProcess
      const { create } = yield* BulkOperations
      for (const filter of [{ process_run_id: run }, { process_id: process.view.id }, { ids: [item?.id ?? ""] }]) {
        assert.strictEqual((yield* create(other.workspace, "retry", filter, true)).total, 0)
      }
    })
  )

  it.effect("ends when its items fail again: each is taken once", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 120)
      const { id } = yield* create(workspace, "retry", { process_run_id: run })
      const runs = yield* Runs
      // Whatever is retried fails at once.
      const failing = yield* runs
        .stop(run, stop)
        .pipe(Effect.andThen(Effect.yieldNow), Effect.forever, Effect.forkChild)
      yield* (yield* BulkOperations).tick
      yield* Fiber.interrupt(failing)
      yield* runs.stop(run, stop)
      const done = yield* get(workspace, id)
      assert.strictEqual(done.state, "completed")
      assert.strictEqual(done.done + done.refused, 120)
      assert.isTrue((yield* statesOf(workspace, run)).every((state) => state === "failed"))
    })
  )

  it.effect("leaves what has changed since, and says how many", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 3)
      const [first] = yield* itemsOf(workspace, run)
      const { id } = yield* create(workspace, "retry", { process_run_id: run })
      yield* (yield* Runs).batch(workspace, "mark_as_done", [first?.id ?? assert.fail("no item")])
      yield* failed(workspace, process, 4)
      yield* (yield* BulkOperations).tick
      const done = yield* get(workspace, id)
      assert.deepStrictEqual([done.total, done.done, done.skipped], [3, 2, 1])
    })
  )

  it.effect("groups what is refused by reason, with samples, and carries out the rest", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const ended = yield* failed(workspace, process, 3)
      const stopping = yield* start(workspace, process, 8)
      const { sql } = yield* Database
      // A run that stops while a worker has one of its items.
      yield* sql`
        UPDATE step_run SET state = 'in_progress' WHERE process_run_id = ${stopping}
          AND id = (SELECT max(id) FROM step_run WHERE process_run_id = ${stopping})`
      yield* (yield* Runs).stop(stopping, stop)
      assert.strictEqual(yield* stateOf(workspace, stopping), "stopping")
      const done = yield* perform(workspace, "retry", { process_id: process.view.id })
      assert.strictEqual(done.state, "completed")
      assert.deepStrictEqual([done.total, done.done, done.refused], [10, 3, 7])
      const [refusal, ...others] = done.refusals
      assert.strictEqual(others.length, 0)
      assert.strictEqual(refusal?.code, "CONFLICT")
      assert.strictEqual(refusal?.message, "the run # is stopping; retry its items when it has ended")
      assert.strictEqual(refusal?.count, 7)
      assert.strictEqual(refusal?.ids.length, 5)
      assert.isTrue((yield* statesOf(workspace, ended)).every((state) => state === "pending"))
    })
  )

  it.effect("can be cancelled, and what it has done stays", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 2)
      const { id } = yield* create(workspace, "retry", { process_run_id: run })
      const store = yield* Store
      assert.isTrue(yield* store.cancel(workspace, id))
      assert.isFalse(yield* store.cancel(workspace, id))
      yield* (yield* BulkOperations).tick
      const ended = yield* get(workspace, id)
      assert.strictEqual(ended.state, "cancelled")
      assert.strictEqual(ended.done, 0)
      assert.deepStrictEqual(yield* statesOf(workspace, run), ["failed", "failed"])
    })
  )

  it.effect("is continued where it was by another node, and only by one at a time", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 230)
      const { id } = yield* create(workspace, "retry", { process_run_id: run })
      const store = yield* Store
      const { sql } = yield* Database
      const dead = (yield* store.claim) ?? assert.fail("not claimed")
      assert.isNull(yield* store.claim)
      // A node that has done a chunk and was killed: its claim expires.
      const items = yield* itemsOf(workspace, run)
      const chunk = items.slice(0, 100).map((item) => item.id)
      yield* (yield* Runs).batch(workspace, "retry", chunk)
      const position = chunk.at(-1) ?? null
      yield* store.record(dead, { done: 100, refused: 0, refusals: [], position, singles: 0 })
      yield* (yield* BulkOperations).tick
      assert.strictEqual((yield* get(workspace, id)).done, 100)
      yield* sql`UPDATE bulk_operation SET claimed_until = ${"2020-01-01T00:00:00.000Z"} WHERE id = ${id}`
      yield* (yield* BulkOperations).tick
      const done = yield* get(workspace, id)
      assert.deepStrictEqual([done.state, done.done, done.refused], ["completed", 230, 0])
      assert.isNull(yield* store.lock(dead))
    })
  )

  it.effect("refuses an item that fails unexpectedly at each attempt, and carries out the others", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 130)
      const healthy = yield* create(workspace, "retry", { process_run_id: yield* failed(workspace, process, 2) })
      const bad = (yield* itemsOf(workspace, run))[60]?.id ?? assert.fail("no item")
      yield* failingAt(bad)
      const { id } = yield* create(workspace, "retry", { process_run_id: run })
      const { tick } = yield* BulkOperations
      const { sql } = yield* Database
      const failures: Array<string> = []
      for (let ticks = 0; (yield* get(workspace, id)).state !== "completed"; ticks++) {
        assert.isBelow(ticks, 10)
        const exit = yield* Effect.exit(tick)
        if (Exit.isFailure(exit)) failures.push(String(Cause.squash(exit.cause)))
        // The pause after a failure is over.
        yield* sql`UPDATE bulk_operation SET claimed_until = ${"2020-01-01T00:00:00.000Z"} WHERE claim IS NOT NULL`
        assert.strictEqual((yield* get(workspace, healthy.id)).state, "completed")
      }
      // Three attempts at the chunk, and three at the item.
      assert.lengthOf(failures, 6)
      const ended = yield* get(workspace, id)
      assert.deepStrictEqual([ended.done, ended.refused, ended.skipped], [129, 1, 0])
      assert.deepStrictEqual(
        ended.refusals.map(({ code, ids }) => [code, ids]),
        [["UNEXPECTED_ERROR", [bad]]]
      )
      assert.include(ended.refusals[0]?.message, "each attempt")
      const states = yield* itemsOf(workspace, run)
      assert.deepStrictEqual(
        states.flatMap((item) => (item.state === "failed" ? [item.id] : [])),
        [bad]
      )
    })
  )

  it.effect("refuses an item at which process after process ends, and carries out the others", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 3)
      const [bad] = yield* itemsOf(workspace, run)
      const { id } = yield* create(workspace, "retry", { process_run_id: run })
      const store = yield* Store
      const { tick } = yield* BulkOperations
      /** A node that claims the job and is killed before its chunk ends. */
      const killed = Effect.andThen(store.claim, store.releaseAll)
      for (let kills = 0; kills < 3; kills++) yield* killed
      // The claim after these takes the items one at a time, and is killed at the first.
      const claimed = (yield* store.claim) ?? assert.fail("not claimed")
      yield* store.record(claimed, { done: 0, refused: 0, refusals: [], position: "", singles: 50 })
      yield* store.releaseAll
      for (let kills = 0; kills < 2; kills++) yield* killed
      yield* tick
      const ended = yield* get(workspace, id)
      assert.deepStrictEqual([ended.state, ended.done, ended.refused], ["completed", 2, 1])
      assert.deepStrictEqual(ended.refusals[0]?.ids, [bad?.id ?? assert.fail("no item")])
    })
  )

  it.effect("counts no attempt that its node gave back", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const { id } = yield* create(workspace, "retry", { process_run_id: yield* failed(workspace, process, 2) })
      const store = yield* Store
      for (let n = 0; n < 10; n++) {
        const claimed = (yield* store.claim) ?? assert.fail("not claimed")
        assert.strictEqual(claimed.attempts, 1)
        yield* n % 2 === 0 ? store.release(claimed) : Effect.andThen(store.retry(claimed, false), store.releaseAll)
      }
      yield* (yield* BulkOperations).tick
      assert.deepStrictEqual((yield* get(workspace, id)).done, 2)
    })
  )

  it.effect("takes turns with others", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const long = yield* create(workspace, "retry", {
        process_run_id: yield* failed(workspace, process, 10),
        everything: true
      })
      const short = yield* create(workspace, "retry", { process_run_id: yield* failed(workspace, process, 1) })
      const store = yield* Store
      const first = (yield* store.claim) ?? assert.fail("not claimed")
      assert.strictEqual(first.id, long.id)
      yield* Effect.sleep(2)
      yield* store.release(first)
      const second = (yield* store.claim) ?? assert.fail("not claimed")
      assert.strictEqual(second.id, short.id)
      yield* store.releaseAll
      yield* (yield* BulkOperations).tick
      assert.strictEqual((yield* get(workspace, long.id)).state, "completed")
    })
  )

  it.effect("starts ended runs again, each once, with copies of their inputs and files", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const run = yield* failed(workspace, process, 3)
      const going = yield* start(workspace, process, 1)
      const [first, second] = yield* itemsOf(workspace, run)
      const runs = yield* Runs
      yield* runs.batch(workspace, "delete", [second?.id ?? assert.fail("no item")])
      const { newId, sql } = yield* Database
      yield* sql`INSERT INTO file ${sql.insert({
        id: yield* newId,
        workspace_id: workspace,
        owner_id: first?.id,
        name: "a.txt",
        size: 1,
        blob: yield* newId,
        created_at: "2020-01-01T00:00:00.000Z"
      })}`
      const done = yield* perform(workspace, "start_again", { process_id: process.view.id })
      assert.deepStrictEqual([done.state, done.total, done.done], ["completed", 1, 1])
      const all = (yield* (yield* ProcessRuns).list(
        workspace,
        { processId: process.view.id, state: null },
        { after: null, limit: 10 }
      )).rows
      const again = all.find(({ id }) => id !== run && id !== going) ?? assert.fail("no new run")
      assert.strictEqual(all.length, 3)
      const copies = yield* itemsOf(workspace, ProcessRunId.make(again.id))
      assert.deepStrictEqual(
        copies.map(({ payload, state }) => [payload, state]),
        [
          ["0", "pending"],
          ["2", "pending"]
        ]
      )
      const files = (yield* (yield* Files).list(copies[0]?.id ?? "", { after: null, limit: 10 })).rows
      assert.deepStrictEqual(
        files.map(({ name }) => name),
        ["a.txt"]
      )
      // Its old items are as they were.
      assert.deepStrictEqual(yield* statesOf(workspace, run), ["failed", "failed"])
    })
  )

  it.effect("says why a run cannot be started again", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const runs = yield* Runs
      const going = yield* start(workspace, process, 1)
      assert.include((yield* Effect.flip(runs.startAgain(workspace, going))).message, "wait for its end")
      const emptied = yield* failed(workspace, process, 1)
      const [item] = yield* itemsOf(workspace, emptied)
      yield* runs.batch(workspace, "delete", [WorkItemId.make(item?.id ?? "")])
      assert.include(
        (yield* Effect.flip(runs.startAgain(workspace, emptied))).message,
        "inputs of the run were deleted"
      )
      const other = yield* newProcess
      const alien = yield* Effect.flip(runs.startAgain(other.workspace, emptied))
      assert.strictEqual(alien.code, "NOT_FOUND")
    })
  )

  it.effect("refuses a filter that matches everything, or that cannot match", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      yield* failed(workspace, process, 1)
      const { create } = yield* BulkOperations
      const cases: ReadonlyArray<readonly [BulkOperationName, BulkFilter, string]> = [
        ["retry", {}, "matches everything"],
        ["delete", { state: "done" }, "matches everything"],
        ["retry", { everything: false }, "matches everything"],
        ["retry", { state: "done" }, "filter.state"],
        ["start_again", { state: "failed" }, "filter.state"],
        ["start_again", { code: "LATE" }, "filter.code"],
        ["delete", { state: "done", type: "business" }, "filter.type"],
        ["retry", { created_after: "2026-13-41T00:00:00Z" }, "filter.created_after"]
      ]
      for (const [operation, filter, expected] of cases) {
        const refused = yield* Effect.flip(create(workspace, operation, filter, true))
        assert.strictEqual(refused.code, "INVALID_REQUEST")
        assert.include(refused.message, expected)
      }
      assert.strictEqual((yield* create(workspace, "retry", { everything: true }, true)).total, 1)
    })
  )

  it.effect("is deleted 30 days after its end", () =>
    Effect.gen(function* () {
      const { process, workspace } = yield* newProcess
      const { id } = yield* perform(workspace, "retry", { process_id: process.view.id })
      const store = yield* Store
      yield* store.sweep("2020-01-01T00:00:00.000Z", 500)
      assert.isNotNull(yield* store.get(workspace, id))
      yield* store.sweep("2999-01-01T00:00:00.000Z", 500)
      assert.isNull(yield* store.get(workspace, id))
    })
  )
})
