/**
 * Lists beside many executions that have ended.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { activeStates, type Page, unendedStates } from "../../../src/internal/model/Execution.ts"
import type { Process } from "./Held.ts"
import { statementsOf } from "./LongQueue.ts"

const ended = 5_000

/** What is asked for, and the indexes that may answer it. */
const lists: ReadonlyArray<readonly [Omit<Page, "limit">, RegExp]> = [
  [{ states: ["halted"] }, /flow_run_shown/],
  [{ states: ["halted"], flow: "orders" }, /flow_run_shown/],
  [{ states: ["failed"], flow: "absent" }, /flow_run_shown_of_flow/],
  [{ states: ["waiting"] }, /flow_run_unended/],
  [{ states: activeStates }, /flow_run_(unended|shown)/],
  [{ states: unendedStates }, /flow_run_(unended|shown)/],
  [{ flow: "absent" }, /flow_run_(unended|shown_of_flow)/],
  [{ key: "absent" }, /flow_run_by_key/],
  [{}, /flow_run_by_start/]
]

/** Thousands of executions that have ended, and some that have not. */
const fill = Effect.fnUntraced(function* ({ sql }: Process) {
  yield* sql.unsafe(`
    WITH RECURSIVE all_of(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM all_of WHERE n < ${ended})
    INSERT INTO flow_run (
      id, flow, version, flow_key, state, chapter, round, tags, epoch, mail, seen, asides, token, started_at, changed_at,
      ended_at, expired
    ) SELECT
      'id-' || n, 'orders', 1, 'key-' || n,
      CASE WHEN n % 500 = 0 THEN 'halted' WHEN n % 501 = 0 THEN 'waiting' WHEN n % 2 = 0 THEN 'failed' ELSE 'completed' END,
      0, 0, '[]', 1, 0, 0, 0, '', n, n, CASE WHEN n % 500 = 0 OR n % 501 = 0 THEN NULL ELSE n END, 0
    FROM all_of`)
  // As the database does by itself, sooner or later.
  yield* sql`ANALYZE`
})

/** `explain` returns the plan of a statement whose parameters are not known. */
export const longList = (
  open: Effect.Effect<Process, never, Scope.Scope>,
  explain: (process: Process, statement: string) => Effect.Effect<ReadonlyArray<string>>
) =>
  it.live("each list has an index with its order", () =>
    Effect.gen(function* () {
      const process = yield* open
      const { journal } = process
      yield* fill(process)
      for (const [page, index] of lists) {
        const { texts } = yield* statementsOf(journal.list({ ...page, limit: 100 }))
        assert.isAbove(texts.length, 0)
        for (const text of texts) {
          const plan = yield* explain(process, text)
          assert.notMatch(plan.join("\n"), /Seq Scan on flow_run|SCAN (r|flow_run)$/m)
          assert.match(plan.join("\n"), index, text)
        }
      }
    }).pipe(Effect.orDie, Effect.scoped)
  )

/** Like `longList`. */
export const longCounts = (...[open, explain]: Parameters<typeof longList>) =>
  it.live("what has not ended is counted by an index, whatever has ended", () =>
    Effect.gen(function* () {
      const process = yield* open
      yield* fill(process)
      const { texts } = yield* statementsOf(process.journal.unendedCounts())
      assert.strictEqual(texts.length, 1)
      for (const text of texts) assert.match((yield* explain(process, text)).join("\n"), /flow_run_unended/)
    }).pipe(Effect.orDie, Effect.scoped)
  )
