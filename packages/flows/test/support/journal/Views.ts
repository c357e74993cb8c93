/**
 * The views for reports, read as another program does.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { Process } from "./Held.ts"
import { create, end, entry, found, order, owned, succeeded, write } from "./Bench.ts"

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

/** A time of either database, in milliseconds. */
const millis = (time: unknown) =>
  time === null ? null : new Date(time instanceof Date ? time : String(time)).getTime()
/** SQLite has no type for it. */
const flag = (value: unknown) => value === true || value === 1

export const viewsSuite = (name: string, open: Effect.Effect<Process, never, Scope.Scope>) => {
  const test = (
    title: string,
    body: (
      process: Process,
      read: (statement: string) => Effect.Effect<Rows, SqlError>
    ) => Effect.Effect<void, unknown, Scope.Scope>
  ) =>
    it.live(title, () =>
      Effect.gen(function* () {
        const process = yield* open
        yield* body(process, (statement) => process.sql.unsafe(statement))
      }).pipe(Effect.scoped)
    )

  describe(`the views ${name}`, () => {
    test("flows_executions has each execution that is retained, with its times", ({ journal }, read) =>
      Effect.gen(function* () {
        const key = "k".repeat(2_000)
        yield* create(journal, order("a", { key, tags: ["red"], version: 1.5, input: "\0" }))
        const fence = yield* owned(journal, "b")
        yield* end(journal, fence, 1_700_000_000_123)
        const [a, b, ...others] = yield* read("SELECT * FROM flows_executions ORDER BY id")
        assert.deepStrictEqual(others, [])
        const execution = yield* found(journal, "id-a")
        assert.deepInclude(a, { id: "id-a", flow: "orders", version: 1.5, key, state: "running", parent: null })
        assert.deepInclude(a, { tags: '["red"]', input: String.raw`"\u0000"`, result: null, ended_at: null })
        assert.strictEqual(millis(a?.["started_at"]), execution.startedAt)
        assert.strictEqual(millis(a?.["wake_at"]), execution.wakeAt)
        assert.deepInclude(b, { state: "completed", result: '"done"' })
        assert.strictEqual(millis(b?.["ended_at"]), 1_700_000_000_123)
        yield* journal.expire(["completed"], 1_700_000_000_124, 10)
        assert.lengthOf(yield* read("SELECT id FROM flows_executions"), 1)
      }))

    test("flows_steps has the attempts of steps, and flows_waits what is waited for", ({ journal }, read) =>
      Effect.gen(function* () {
        const fence = yield* owned(journal, "a")
        const path = `charge[${"k".repeat(2_000)}]`
        const entries = [
          succeeded("charge", 1, { path, startedAt: 5, endedAt: 1_500 }),
          entry("child", { kind: "child" }),
          entry("approval", { kind: "signal", subject: "approval", due: Number.MAX_SAFE_INTEGER }),
          entry("nap", { kind: "sleep", due: 9_000 }),
          entry("#cancel", { kind: "cancel" }),
          entry("new way", { kind: "patch" })
        ]
        yield* journal.write(fence, write({ entries }))
        const [charge, child, ...others] = yield* read("SELECT * FROM flows_steps ORDER BY path")
        assert.deepStrictEqual(others, [])
        assert.deepInclude(charge, { execution: "id-a", flow: "orders", version: 1, path, attempt: 1, name: "charge" })
        assert.deepInclude(charge, { kind: "step", state: "succeeded", value: '"charge"', host: "here" })
        assert.deepStrictEqual([millis(charge?.["started_at"]), millis(charge?.["ended_at"])], [5, 1_500])
        assert.isFalse(flag(charge?.["discarded"]))
        assert.deepInclude(child, { kind: "child", state: "running" })
        const [approval, nap, ...more] = yield* read("SELECT * FROM flows_waits ORDER BY path")
        assert.deepStrictEqual(more, [])
        const waiting = { kind: "signal", state: "waiting", subject: "approval", due_at: null, ended_at: null }
        assert.deepInclude(approval, waiting)
        assert.strictEqual(millis(nap?.["due_at"]), 9_000)

        yield* journal.change("id-a", () =>
          Effect.succeed({
            execution: { state: "waiting" },
            aside: [{ path, attempt: 1, redo: 1 }],
            asideUndos: [],
            undos: [],
            taken: []
          })
        )
        const [discarded] = yield* read("SELECT * FROM flows_steps WHERE kind = 'step'")
        assert.isTrue(flag(discarded?.["discarded"]))
      }))

    test("flows_items has the work items that steps created, and with which they started a run", ({ journal }, read) =>
      Effect.gen(function* () {
        const fence = yield* owned(journal, "a")
        const step = (name: string, input: object, value: string | ReadonlyArray<string>) =>
          succeeded(name, 1, { input: { process: "p", ...input }, value, endedAt: 7_000 })
        const entries = [
          step("createWorkItem", { payload: { process: "other" } }, "i1"),
          step("createWorkItems", { payloads: ["x", 1] }, ["i2", "i3"]),
          { ...step("startRun", { workItems: ["i1", "i2"] }, "r1"), path: "startRun" },
          { ...step("startRun", { payloads: [{ a: "b" }] }, "r2"), path: "startRun#2" },
          { ...step("other", {}, "i4"), path: "other" },
          // Whatever a step of this name has returned.
          { ...step("createWorkItem", {}, []), path: "own", value: { id: "i5" }, input: null }
        ]
        yield* journal.write(fence, write({ entries }))
        const rows = yield* read("SELECT * FROM flows_items ORDER BY relation, item")
        assert.deepStrictEqual(
          rows.map(({ item, process, relation, run, step }) => [item, relation, process, run, step]),
          [
            ["i1", "created", "p", null, "createWorkItem"],
            ["i2", "created", "p", null, "createWorkItems"],
            ["i3", "created", "p", null, "createWorkItems"],
            ["i1", "started", "p", "r1", "startRun"],
            ["i2", "started", "p", "r1", "startRun"]
          ]
        )
        assert.deepInclude(rows[0], { execution: "id-a", flow: "orders", version: 1 })
        assert.strictEqual(millis(rows[0]?.["at"]), 7_000)
      }))

    test("flows_schedules has the schedules, their next time and whether they are paused", ({ journal }, read) =>
      Effect.gen(function* () {
        const row = {
          flow: "orders",
          version: 2,
          definition: { name: "nightly", cron: "0 2 * * *" },
          setAt: 1_000,
          wakeAt: 2_000,
          running: [{ at: 1, execution: "id-a" }],
          problem: null
        }
        yield* journal.swap("schedule nightly", null, { ...row, state: { paused: null } })
        const paused = { paused: { note: "why", by: null, at: "x" } }
        const problem = { since: 1, message: "why" }
        yield* journal.swap("schedule paused", null, { ...row, wakeAt: null, problem, state: paused })
        yield* journal.swap("refused id-a", null, ["me"])
        const [nightly, other, ...others] = yield* read("SELECT * FROM flows_schedules ORDER BY name")
        assert.deepStrictEqual(others, [])
        assert.deepInclude(nightly, { name: "nightly", flow: "orders", version: 2, problem: null })
        assert.deepStrictEqual(JSON.parse(String(nightly?.["definition"])), row.definition)
        assert.strictEqual(Number(nightly?.["running"]), 1)
        assert.isFalse(flag(nightly?.["paused"]))
        assert.deepStrictEqual([millis(nightly?.["set_at"]), millis(nightly?.["next_at"])], [1_000, 2_000])
        assert.deepInclude(other, { name: "paused", problem: "why", next_at: null })
        assert.isTrue(flag(other?.["paused"]))
      }))
  })
}
