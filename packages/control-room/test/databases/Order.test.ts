/** In which order items and step runs are given, among very many; and by what items are found. */
import { assert, describe, it as plain, layer as withLayer } from "@effect/vitest"
import type { ProcessRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Dialect from "@signalbox/sql/Dialect"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import { sized } from "@signalbox/testkit/Soak"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import { atRiskAt, dueStateOf, millisPerPoint, sortKey } from "../../src/internal/engine/Order.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { Database } from "../../src/internal/store/database/Database.ts"
import { Leases } from "../../src/internal/store/runs/Leases.ts"
import { Processes as ProcessStore } from "../../src/internal/store/processes/Processes.ts"
import { RunItems } from "../../src/internal/store/items/RunItems.ts"
import { Workers } from "../../src/internal/store/workers/Workers.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import * as Tokens from "../../src/internal/vault/Tokens.ts"
import { assertError } from "../support/Http.ts"
import { layer, linkWorker, movedBy, Service } from "../support/Service.ts"
import { database, runsOn } from "../support/Storage.ts"

describe("the sort key", () => {
  plain("is overtaken by ten minutes of waiting for each point of priority", () => {
    const at = Date.parse("2026-01-01T00:00:00.000Z")
    assert.isBelow(sortKey(at, 1), sortKey(at, 0))
    assert.isBelow(sortKey(at, 0), sortKey(at + millisPerPoint + 1, 1))
    assert.isBelow(sortKey(at, -100), sortKey(at + 200 * millisPerPoint + 1, 100))
  })

  const item = { state: "new", dueAt: "2026-01-01T10:00:00.000Z", atRiskAt: "2026-01-01T08:00:00.000Z" } as const
  for (const [state, now] of [
    ["on_time", "2026-01-01T07:59:59.999Z"],
    ["at_risk", "2026-01-01T08:00:00.000Z"],
    ["late", "2026-01-01T10:00:00.000Z"]
  ] as const) {
    plain(`of an item that is ${state} does not say so, its due time does`, () => {
      assert.strictEqual(atRiskAt("2026-01-01T00:00:00.000Z", item.dueAt), item.atRiskAt)
      assert.strictEqual(dueStateOf(item, now), state)
      assert.isNull(dueStateOf({ ...item, state: "done" }, now))
    })
  }
})

interface Recorded {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

const many = sized(20_000, 100_000)

const statements: Array<Recorded> = []

/** Records every statement. */
const recording = Layer.succeed(Statement.CurrentTransformer, (statement) =>
  Effect.sync(() => {
    const [text, values] = statement.compile()
    statements.push({ text, values })
    return statement
  })
)

/** The plans of the statements of an effect that read or write this table. */
const plansOf = Effect.fnUntraced(function* (table: string, effect: Effect.Effect<unknown>) {
  const sql = yield* SqlClient.SqlClient
  statements.length = 0
  yield* effect
  const of = statements.splice(0).filter(({ text }) => text.includes(table))
  const explain = Dialect.isPostgres(sql) ? "EXPLAIN" : "EXPLAIN QUERY PLAN"
  return yield* Effect.forEach(of, ({ text, values }) =>
    Effect.map(sql.unsafe<Record<string, string>>(`${explain} ${text}`, values), (rows) =>
      rows.map((row) => row["QUERY PLAN"] ?? row["detail"]).join("\n")
    )
  )
})

/** A process with a run. */
const makeRun = Effect.gen(function* () {
  const workspace = (yield* (yield* Workspaces).create("order")).id
  const definition = { name: "p", steps: [{ name: "s", task: { name: "t" } }] }
  const process = (yield* (yield* ProcessStore).create(workspace, definition)) ?? assert.fail("taken")
  const run = (yield* (yield* Runs).start(workspace, process, {})) ?? assert.fail("not started")
  return { workspace, process, run }
})

/** Copies of the first row of a table, as long waiting as it. */
const copies = Effect.fnUntraced(function* (
  table: "work_item" | "step_run",
  run: ProcessRunId,
  count: number,
  set: Readonly<Record<string, string>>
) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Record<string, unknown>>`SELECT * FROM ${sql(table)} WHERE process_run_id = ${run} LIMIT 1`
  const columns = Object.keys(row ?? assert.fail("no row"))
  const values = columns.map((column) => (column === "id" ? "'copy ' || (1000000 + n)" : (set[column] ?? column)))
  yield* sql.unsafe(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO ${table} (${columns.join(", ")})
    SELECT ${values.join(", ")} FROM numbers,
      (SELECT * FROM ${table} WHERE process_run_id = '${run}' LIMIT 1) AS first`)
  yield* sql.unsafe("ANALYZE")
}, unhurried)

const workerOf = Effect.fnUntraced(function* (workspace: WorkspaceId, tasks: ReadonlyArray<string>) {
  const workers = yield* Workers
  const { link_token } = yield* workers.createLinkToken(workspace, "2999-01-01T00:00:00.000Z")
  const token = Tokens.parse(link_token) ?? assert.fail("no token")
  return ((yield* workers.link(token, "w", tasks)) ?? assert.fail("not linked")).worker.id
})

withLayer(Layer.provideMerge(runsOn(database), recording), { excludeTestServices: true, timeout: "4 minutes" })(
  `among ${many} items that wait`,
  (it) => {
    it.effect("one of priority 100 is the next, one of −100 is given in the end, and plans use the index", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { process, run, workspace } = yield* makeRun
        const runItems = yield* RunItems
        yield* copies("work_item", run, many, { state: "'pending'", step_run_id: "NULL" })
        const waiting = { process_run_id: run, step: 0, state: "pending", step_run_id: null }
        const add = Effect.fnUntraced(function* (priority: number, millis: number) {
          const clock = movedBy(yield* Clock.Clock, millis)
          const input = { type: "with_payloads", payloads: [priority] } as const
          const start = (yield* Runs).start(workspace, process, input, { priority })
          const other = (yield* Effect.provideService(start, Clock.Clock, clock)) ?? assert.fail("not started")
          const [item = assert.fail("no item")] = yield* sql<{ readonly id: WorkItemId }>`
            SELECT id FROM work_item WHERE process_run_id = ${other}`
          yield* sql`UPDATE work_item SET ${sql.update(waiting)} WHERE id = ${item.id}`
          return item.id
        })
        const low = yield* add(-100, 0)
        const high = yield* add(100, 1000)
        assert.deepStrictEqual(yield* runItems.dueIds(run, 0, 1), [high])
        const [plan = "", ...others] = yield* plansOf("work_item", runItems.dueIds(run, 0, 1))
        assert.deepStrictEqual(others, [])
        assert.include(plan, "work_item_ready")
        assert.notMatch(plan, /Seq Scan on work_item|SCAN work_item/)
        // Whatever comes later than sixteen hours and forty minutes after it is given after it.
        yield* unhurried(sql`DELETE FROM work_item WHERE process_run_id = ${run} AND id LIKE ${"copy %"}`)
        yield* sql`UPDATE work_item SET step_run_id = ${run} WHERE id = ${high}`
        const later = yield* add(0, 101 * millisPerPoint)
        assert.deepStrictEqual(yield* runItems.dueIds(run, 0, 3), [low, later])
      })
    )

    it.effect("one whose retry is due is given in its own place, however many retries are due", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { run } = yield* makeRun
        const runItems = yield* RunItems
        yield* copies("work_item", run, 2000, {
          state: "'pending'",
          step_run_id: "NULL",
          not_before: "CASE WHEN n <= 300 THEN '2020-01-01T00:00:00.000Z' ELSE '2999-01-01T00:00:00.000Z' END",
          sort_key: "1000 - n"
        })
        const [first] = yield* runItems.dueIds(run, 0, 1)
        assert.strictEqual(first, "copy 1000300")
        const delayed = yield* sql`SELECT id FROM work_item WHERE process_run_id = ${run} AND not_before IS NOT NULL`
        assert.lengthOf(delayed, 2000 - 300)
        yield* unhurried(sql`DELETE FROM work_item WHERE process_run_id = ${run} AND id LIKE ${"copy %"}`)
      })
    )
  }
)

withLayer(Layer.provideMerge(runsOn(database), recording), { excludeTestServices: true, timeout: "4 minutes" })(
  "among 10,000 step runs that wait",
  (it) => {
    it.effect("a worker leases the most urgent of all its tasks, and plans use the indexes", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { millis } = yield* Database
        const { process, run, workspace } = yield* makeRun
        const worker = { id: yield* workerOf(workspace, ["t"]), workspaceId: workspace }
        yield* copies("step_run", run, 10_000, {})
        const urgent =
          (yield* (yield* Runs).start(workspace, process, {}, { priority: 5 })) ?? assert.fail("not started")
        const { lease } = yield* Leases
        const expires = new Date((yield* millis) + 30_000).toISOString()
        const leaseOne = lease(worker, ["other", "t"], true, 1, expires)
        const [first] = yield* leaseOne
        assert.strictEqual(first?.stepRun.processRunId, urgent)
        const plans = yield* plansOf("FROM step_run", leaseOne)
        const plan = plans.find((text) => text.includes("step_run_awaiting")) ?? assert.fail(plans.join("\n"))
        assert.include(plan, "step_run_awaiting_package")
        assert.notMatch(plan, /Seq Scan on step_run|SCAN step_run/)
        // What is sorted are the first of each task, not all that wait.
        const [{ n } = assert.fail("no count")] = yield* sql<{ readonly n: number }>`
          SELECT count(*) AS n FROM step_run WHERE state = 'awaiting_worker' AND worker_id IS NULL`
        assert.isAtLeast(n, 9999)
      })
    )
  }
)

const newProcess = (steps: number = 1) =>
  Effect.suspend(() => {
    const name = `order ${crypto.randomUUID()}`
    const names = Array.from({ length: steps }, (_, step) => `${name} ${step}`)
    return Processes.create({ name, steps: names.map((name) => ({ name, task: { name } })) })
  })

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a work item", (it) => {
  it.effect("shows its order, keeps it in a run, and has no say over one that another run takes", () =>
    Effect.gen(function* () {
      const { id } = yield* newProcess()
      const dueAt = "2999-01-01T01:00:00+01:00"
      const own = yield* WorkItems.create({ process: id, payload: 1, priority: 7, dueAt, tags: ["a", "b", "a"] })
      assert.deepStrictEqual(
        [own.priority, own.due_at, own.due_state, own.reference, own.tags],
        [7, "2999-01-01T00:00:00.000Z", "on_time", null, ["a", "b"]]
      )
      const other = yield* WorkItems.create({ process: id, payload: 2 })
      const run = yield* ProcessRuns.start(id, { inputs: true }, { priority: 30 })
      if (!run.started) return assert.fail("not started")
      assert.strictEqual((yield* ProcessRuns.get(run.id)).priority, 30)
      assert.strictEqual((yield* WorkItems.get(own.id)).priority, 7)
      assert.strictEqual((yield* WorkItems.get(other.id)).priority, 30)
      const { session, lease } = yield* (yield* linkWorker([(yield* Processes.get(id)).steps[0]?.name ?? ""])).take
      assert.strictEqual(lease.work_item_id, other.id)
      assert.isDefined(session)
    })
  )

  it.effect("is late after its time, and is found so until it is settled", () =>
    Effect.gen(function* () {
      const { id } = yield* newProcess()
      const tag = crypto.randomUUID()
      const make = (dueAt: string) => WorkItems.create({ process: id, dueAt, tags: [tag] })
      const late = yield* make("2020-01-01T00:00:00Z")
      const onTime = yield* make("2999-01-01T00:00:00Z")
      const found = (filter: WorkItems.Filter) =>
        Effect.map(Stream.runCollect(WorkItems.stream({ tag, ...filter })), (items) => items.map((item) => item.id))
      assert.strictEqual(late.due_state, "late")
      assert.deepStrictEqual(yield* found({ dueState: "late" }), [late.id])
      assert.deepStrictEqual(yield* found({ dueState: "on_time" }), [onTime.id])
      assert.deepStrictEqual(yield* found({ dueState: "at_risk" }), [])
      assert.deepStrictEqual(yield* found({ process: id, state: "new", includeData: true }), [onTime.id, late.id])
    })
  )

  it.effect("has its reference alone among the open ones of its process: others are refused, or join it", () =>
    Effect.gen(function* () {
      const { id } = yield* newProcess()
      const other = yield* newProcess()
      const reference = "order-4711"
      const first = yield* WorkItems.create({ process: id, payload: 1, reference })
      const refused = yield* Effect.flip(WorkItems.create({ process: id, payload: 2, reference }))
      assert.strictEqual(refused._tag, "Conflict")
      assert.include(refused.message, first.id)
      const joined = yield* WorkItems.create({ process: id, payload: 3, reference, whenReferenceExists: "join" })
      assert.deepStrictEqual([joined.id, joined.payload], [first.id, 1])
      const elsewhere = yield* WorkItems.create({ process: other.id, payload: 4, reference })
      const found = yield* WorkItems.list({ reference })
      assert.sameMembers(
        found.data.map((item) => item.id),
        [first.id, elsewhere.id]
      )
      yield* WorkItems.remove([first.id])
      const next = yield* WorkItems.create({ process: id, payload: 5, reference })
      assert.notStrictEqual(next.id, first.id)
    })
  )

  it.effect("of many with references is made once, also when two requests name it at once", () =>
    Effect.gen(function* () {
      const { id } = yield* newProcess()
      const [there] = [yield* WorkItems.create({ process: id, payload: 0, reference: "b" })]
      const input = { process: id, payloads: [1, 2, 3, 4], references: ["a", "b", null, "a"] }
      const refused = yield* Effect.flip(WorkItems.createMany(input))
      assert.strictEqual(refused._tag, "Conflict")
      assert.lengthOf((yield* WorkItems.list({ process: id })).data, 1)
      const join = WorkItems.createMany({ ...input, whenReferenceExists: "join" })
      const [one = [], two = []] = yield* Effect.all([join, join], { concurrency: 2 })
      assert.deepStrictEqual([one[0], one[1]], [one[3], there.id])
      assert.deepStrictEqual([one[0], one[1], one[3]], [two[0], two[1], two[3]])
      assert.notStrictEqual(one[2], two[2])
    })
  )

  it.effect("passes priority, time and tags on to its outputs, and not its reference", () =>
    Effect.gen(function* () {
      const { id } = yield* newProcess(2)
      const tag = crypto.randomUUID()
      const dueAt = "2999-01-01T00:00:00.000Z"
      yield* WorkItems.create({ process: id, payload: 1, priority: 9, dueAt, tags: [tag], reference: tag })
      const run = yield* ProcessRuns.start(id, { inputs: true })
      if (!run.started) return assert.fail("not started")
      const { steps } = yield* Processes.get(id)
      const { protocol, take } = yield* linkWorker([steps[0]?.name ?? ""])
      const { lease, session } = yield* take
      yield* session.createOutput((yield* session.reserveNext) ?? assert.fail("no item"), 2)
      yield* protocol.finish(lease, null)
      const items = (yield* WorkItems.list({ tag })).data.filter(({ step }) => step?.id === steps[1]?.id)
      assert.deepStrictEqual(
        items.map((item) => [item.priority, item.due_at, item.reference, item.tags]),
        [[9, dueAt, null, [tag]]]
      )
    })
  )

  it.effect("with an order that makes no sense is not made, and the message names the field", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id } = yield* newProcess()
      const cases = [
        [{ priority: 101 }, /priority/],
        [{ priority: 1.5 }, /priority/],
        [{ due_at: "tomorrow" }, /due_at/],
        [{ due_at: "2026-13-45T00:00:00Z" }, /due_at: is not a valid time/],
        [{ reference: "" }, /reference/],
        [{ tags: ["x".repeat(65)] }, /tags/],
        [{ when_reference_exists: "replace" }, /when_reference_exists/]
      ] as const
      for (const [order, says] of cases) {
        const answer = yield* raw("POST", "work-items", { json: { process: { id }, payload: null, ...order } })
        assertError(answer, 400, "INVALID_REQUEST", says)
      }
      const body = { process: { id }, payloads: [1, 2], references: ["a"] }
      const answer = yield* raw("POST", "work-items/bulk", { json: body })
      assertError(answer, 400, "INVALID_REQUEST", /references: has 1 entries/)
      assert.lengthOf((yield* WorkItems.list({ process: id })).data, 0)
    })
  )
})
