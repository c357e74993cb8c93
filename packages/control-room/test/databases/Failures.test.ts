/** Failures: failed items in groups, and what people say of a group. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Failures from "@signalbox/api/Failures"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { FailureId, type ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { failureOf } from "../../src/internal/engine/Failures.ts"
import type { Exception } from "../../src/internal/engine/State.ts"
import * as Chunks from "../../src/internal/store/database/Chunks.ts"
import { Failures as Store } from "../../src/internal/store/items/Failures.ts"
import { analysed, planOf, recorded } from "../support/Plans.ts"
import { layer, linkWorker, Service } from "../support/Service.ts"

const newProcess = (steps = 1) =>
  Effect.suspend(() => {
    const name = `failures ${crypto.randomUUID()}`
    const tasks = Array.from({ length: steps }, (_, n) => `${name} ${n}`)
    return Effect.map(
      Processes.create({ name, steps: tasks.map((task, n) => ({ name: `step ${n}`, task: { name: task } })) }),
      (process) => ({ process, tasks })
    )
  })

const startedWith = Effect.fnUntraced(function* (process: ProcessId, payloads: ReadonlyArray<string>) {
  const run = yield* ProcessRuns.start(process, { payloads })
  return run.started ? run.id : assert.fail("not started")
})

/** Items that fail with these messages, by a worker. */
const failing = Effect.fnUntraced(function* (messages: ReadonlyArray<string>, code = "LATE") {
  const { process, tasks } = yield* newProcess()
  const worker = yield* linkWorker(tasks)
  const run = yield* startedWith(process.id, messages)
  const { lease, session } = yield* worker.take
  for (let item: WorkItemId | null = lease.work_item_id; item !== null; item = yield* session.reserveNext) {
    const message = String(yield* session.payload(item))
    yield* session.release(item, { state: "FAILED", exception: { code, type: "BUSINESS", message } })
  }
  yield* worker.protocol.finish(lease, null)
  return { process, run }
})

const groupsOf = (process: ProcessId, filter: Failures.Filter = {}) =>
  Effect.map(Stream.runCollect(Failures.stream({ ...filter, process })), (found) =>
    found.toSorted((a, b) => b.count - a.count)
  )

const theOnly = Effect.fnUntraced(function* (process: ProcessId) {
  const [group, ...others] = yield* groupsOf(process)
  assert.strictEqual(others.length, 0)
  return group ?? assert.fail("no group")
})

const itemsOf = (run: Effect.Success<ReturnType<typeof startedWith>>) =>
  Effect.map(Stream.runCollect(WorkItems.stream({ processRun: run })), (items) => items.map(({ id }) => id))

/** Items in 40 shapes that have failed, and their groups. */
const shaped = Effect.fnUntraced(function* (count: number) {
  const { process } = yield* newProcess()
  const { workspaceId } = yield* Service
  const sql = yield* SqlClient.SqlClient
  const step = process.steps[0]?.id ?? null
  const exceptionOf = (n: number): Exception => ({
    code: n % 2 === 0 ? "LATE" : "LOST",
    type: n % 4 < 2 ? "application" : "business",
    message: `${"abcdefghij"[Math.floor(n / 4) % 10]} of order ${n} at '/in/${n}.xlsx'`
  })
  const kinds = Array.from({ length: count }, (_, n) => failureOf(process.id, step, exceptionOf(n)))
  const row = (n: number) => ({
    id: `01900000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`,
    workspace_id: workspaceId,
    process_id: process.id,
    step: 0,
    step_id: step,
    state: "failed",
    state_updated_at: new Date(1_600_000_000_000 + n).toISOString(),
    created_at: "2020-01-01T00:00:00.000Z",
    payload: "1",
    attempts: 1,
    exception: JSON.stringify(exceptionOf(n)),
    failure: kinds[n]?.fingerprint ?? null
  })
  yield* Chunks.forEach(
    Array.from({ length: count }, (_, n) => row(n)),
    (rows) => sql`INSERT INTO work_item ${sql.insert(rows)}`
  )
  yield* (yield* Store).occurred({ workspaceId, processId: process.id }, kinds)
  return process
})

const many = sized(4_000, 100_000)

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("failures", (it) => {
  it.effect("are groups of items that failed alike, with how many, since when and which", () =>
    Effect.gen(function* () {
      const { process, run } = yield* failing(["order 1 is late", "order 22 is late", "no access"])
      const [late, access, ...others] = yield* groupsOf(process.id)
      assert.strictEqual(others.length, 0)
      const items = yield* itemsOf(run)
      const {
        created_at: _at,
        first_failed_at,
        id: _id,
        last_failed_at,
        work_items,
        ...rest
      } = late ?? assert.fail("no group")
      assert.deepStrictEqual(rest, {
        process: { id: process.id, name: process.name },
        step: process.steps.map(({ id, name }) => ({ id, name }))[0] ?? null,
        type: "business",
        code: "LATE",
        message: "order # is late",
        state: "open",
        muted_until: null,
        note: null,
        assignee: null,
        count: 2
      })
      assert.isTrue((first_failed_at ?? "") <= (last_failed_at ?? ""))
      assert.sameMembers(
        work_items.map(({ id }) => id),
        items.slice(-2)
      )
      assert.deepStrictEqual(
        work_items.map(({ process_run }) => process_run?.id),
        [run, run]
      )
      assert.strictEqual(access?.count, 1)
      assert.deepStrictEqual(yield* Failures.get(access?.id ?? assert.fail("no group")), access)
      const pages = yield* groupsOf(process.id, { limit: 1 })
      assert.strictEqual(pages.length, 2)
      assert.strictEqual((yield* groupsOf(process.id, { code: "OTHER" })).length, 0)
      assert.strictEqual((yield* groupsOf(process.id, { type: "business", state: "open" })).length, 2)
    })
  )

  it.effect("are listed by their last failure, the newest first, a page at a time", () =>
    Effect.gen(function* () {
      const { process } = yield* failing(["first", "second", "third"])
      const sql = yield* SqlClient.SqlClient
      const seen = ["10", "30", "20"].map((second) => `2026-11-20T08:15:${second}.000Z`)
      for (const [index, message] of ["first", "second", "third"].entries()) {
        yield* sql`UPDATE failure_group SET last_seen_at = ${seen[index]} WHERE process_id = ${process.id} AND message = ${message}`
      }
      const messages = Effect.map(Stream.runCollect(Failures.stream({ process: process.id, limit: 1 })), (groups) =>
        groups.map(({ message }) => message)
      )
      assert.deepStrictEqual(yield* messages, ["second", "third", "first"])
      // The oldest fails again, and is the newest.
      const { workspaceId } = yield* Service
      const store = yield* Store
      const [failure = assert.fail("no group")] = (yield* groupsOf(process.id)).filter(
        ({ message }) => message === "first"
      )
      const kind = {
        fingerprint: failure.id,
        step: failure.step?.id ?? null,
        type: "business",
        code: "LATE",
        message: "first"
      } as const
      const { statements } = yield* recorded(
        store.occurred({ workspaceId: workspaceId, processId: process.id }, [kind])
      )
      assert.lengthOf(statements, 3)
      assert.deepStrictEqual(yield* messages, ["first", "second", "third"])
      const [{ last_seen_at: written } = { last_seen_at: "" }] = yield* sql<{ readonly last_seen_at: string }>`
        SELECT last_seen_at FROM failure_group WHERE id = ${failure.id}`
      yield* store.occurred({ workspaceId: workspaceId, processId: process.id }, [kind])
      const [{ last_seen_at: again } = { last_seen_at: "" }] = yield* sql<{ readonly last_seen_at: string }>`
        SELECT last_seen_at FROM failure_group WHERE id = ${failure.id}`
      // Within some seconds nothing is written.
      assert.strictEqual(again, written)
    })
  )

  it.effect("are groups of each step when a stop fails what waits", () =>
    Effect.gen(function* () {
      const { process } = yield* newProcess()
      const run = yield* startedWith(process.id, ["a", "b"])
      yield* ProcessRuns.stop(run)
      const group = yield* theOnly(process.id)
      assert.strictEqual(group.code, "STOPPED")
      assert.strictEqual(group.type, "orchestrator")
      assert.strictEqual(group.count, 2)
    })
  )

  it.effect("lose an item that is retried, marked as done or deleted", () =>
    Effect.gen(function* () {
      const { process, run } = yield* failing(["a", "a", "a", "a"])
      const [first, second, third] = yield* itemsOf(run)
      yield* WorkItems.retry([first ?? assert.fail("no item")])
      yield* WorkItems.markAsDone([second ?? assert.fail("no item")])
      yield* WorkItems.remove([third ?? assert.fail("no item")])
      assert.strictEqual((yield* theOnly(process.id)).count, 1)
      const sql = yield* SqlClient.SqlClient
      const named = yield* sql`SELECT id FROM work_item WHERE process_id = ${process.id} AND failure IS NOT NULL`
      assert.strictEqual(named.length, 1)
    })
  )

  it.effect("can be muted for a time, and stay listed", () =>
    Effect.gen(function* () {
      const { process } = yield* failing(["a"])
      const { id } = yield* theOnly(process.id)
      const until = new Date(Date.now() + 3_600_000)
      const muted = yield* Failures.mute(id, { until })
      assert.strictEqual(muted.state, "muted")
      assert.strictEqual(muted.muted_until, until.toISOString())
      assert.deepStrictEqual(yield* groupsOf(process.id, { state: "muted" }), [muted])
      assert.deepStrictEqual(yield* groupsOf(process.id, { state: "open" }), [])
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE failure_group SET muted_until = ${"2020-01-01T00:00:00.000Z"} WHERE id = ${id}`
      const over = yield* theOnly(process.id)
      assert.strictEqual(over.state, "open")
      assert.strictEqual(over.muted_until, null)
      const past = yield* Effect.flip(Failures.mute(id, { until: new Date(0) }))
      assert.include(String(past.message), "muted_until")
      assert.strictEqual((yield* Failures.mute(id)).muted_until, null)
      assert.strictEqual((yield* Failures.reopen(id)).state, "open")
    })
  )

  it.effect("keep a note and an assignee", () =>
    Effect.gen(function* () {
      const { process } = yield* failing(["a"])
      const { id } = yield* theOnly(process.id)
      yield* Failures.update(id, { note: "the supplier knows", assignee: "Ada" })
      const kept = yield* Failures.update(id, { assignee: null })
      assert.strictEqual(kept.note, "the supplier knows")
      assert.strictEqual(kept.assignee, null)
    })
  )

  it.effect("are resolved when no failed items are left, and open again when one fails like them", () =>
    Effect.gen(function* () {
      const { process } = yield* newProcess()
      const run = yield* startedWith(process.id, ["a"])
      yield* ProcessRuns.stop(run)
      const { id } = yield* theOnly(process.id)
      const early = yield* Effect.flip(Failures.resolve(id))
      assert.strictEqual(early._tag, "Conflict")
      assert.include(String(early.message), "1 failed work items")
      yield* WorkItems.markAsDone(yield* itemsOf(run))
      const resolved = yield* Failures.resolve(id)
      assert.strictEqual(resolved.state, "resolved")
      assert.strictEqual(resolved.count, 0)
      assert.deepStrictEqual(yield* groupsOf(process.id), [])
      assert.deepStrictEqual(yield* groupsOf(process.id, { state: "resolved" }), [resolved])
      const refused = yield* Effect.flip(Failures.mute(id))
      assert.strictEqual(refused._tag, "Conflict")
      const again = yield* startedWith(process.id, ["b"])
      yield* ProcessRuns.stop(again)
      assert.strictEqual((yield* theOnly(process.id)).state, "open")
      // It stays open when the item is no longer failed.
      yield* WorkItems.markAsDone(yield* itemsOf(again))
      assert.strictEqual((yield* Failures.get(id)).state, "open")
    })
  )

  it.effect("that are not known are a 404", () =>
    Effect.gen(function* () {
      const nobody = FailureId.make("0".repeat(32))
      assert.strictEqual((yield* Effect.flip(Failures.get(nobody)))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(Failures.mute(nobody)))._tag, "NotFound")
    })
  )

  it.effect(`are few however many items: ${many} in 40 shapes are 40 groups, by an index`, () =>
    Effect.gen(function* () {
      const process = yield* shaped(many)
      const groups = yield* groupsOf(process.id)
      assert.strictEqual(groups.length, 40)
      assert.isTrue(groups.every(({ count }) => count === many / 40))
      assert.strictEqual((yield* groupsOf(process.id, { type: "business", code: "LOST" })).length, 10)
      const [group = assert.fail("no group")] = groups
      assert.strictEqual(group.work_items.length, 5)
      const { workspaceId } = yield* Service
      const sql = yield* SqlClient.SqlClient
      // Without failed items: they are passed over.
      const others = Array.from({ length: 2_000 }, (_, n) => ({
        workspace_id: workspaceId,
        id: `other${n}`,
        process_id: process.id,
        type: "business",
        code: "C",
        message: "m",
        state: n % 2 === 0 ? "open" : "resolved",
        created_at: "2026-11-20",
        updated_at: "2026-11-20",
        last_seen_at: new Date(n).toISOString()
      }))
      yield* Chunks.forEach(others, (rows) => sql`INSERT INTO failure_group ${sql.insert(rows)}`)
      yield* analysed
      const { list } = yield* Store
      const none = { processId: null, stepId: null, type: null, code: null, state: null }
      const after = `2999-01-01T00:00:00.000Z ${group.id}`
      for (const filter of [{}, { processId: process.id }, { state: "open" }, { state: "resolved" }] as const) {
        for (const [page, limit] of [
          [null, 1],
          [after, 500]
        ] as const) {
          const { statements } = yield* recorded(list(workspaceId, { ...none, ...filter }, { after: page, limit }))
          assert.isAtMost(statements.length, 2, JSON.stringify(filter))
          const plan = yield* planOf(statements[0] ?? assert.fail("nothing was read"))
          const walked = "processId" in filter ? "failure_group_by_process" : "failure_group_by_"
          assert.include(plan, walked, plan)
          assert.include(plan, "work_item_by_failure", plan)
          assert.notMatch(plan, /SCAN (?!newest)|TEMP B-TREE|Seq Scan on (work_item|failure_group)/, plan)
          // Postgres may sort what it takes for a few groups.
          if (!("state" in filter && filter.state === "resolved")) assert.notMatch(plan, /Sort|Bitmap/, plan)
        }
      }
    })
  )
})
