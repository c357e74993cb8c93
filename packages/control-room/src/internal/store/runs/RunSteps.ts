/** The steps of a run as a person looks at them: how many items wait, are in progress, done and failed, and since when. */
import { ProcessId, StepId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { RunStep as RunStepView } from "@signalbox/api/contract/ProcessRuns"
import { id, integer, json, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RunStep, StepCounts } from "../../engine/State.ts"
import { bucketOf, roomless } from "../../engine/Limits.ts"
import { Database } from "../database/Database.ts"

const runRow = Row({
  process_id: id(ProcessId),
  steps: json<ReadonlyArray<RunStep>>(),
  counts: json<ReadonlyArray<StepCounts>>()
})

const countRow = Row({
  step: integer,
  state: text,
  n: integer
})

const timeRow = Row({
  step: integer,
  started_at: nullable(text),
  ended_at: nullable(text)
})

export class RunSteps extends Context.Service<
  RunSteps,
  {
    /** In their order; null when the workspace has no such run. `hides`: whether the value at a pointer of payloads is not shown. */
    readonly of: <R>(
      workspace: WorkspaceId,
      run: string,
      hides: (process: ProcessId) => Effect.Effect<(pointer: string) => boolean, never, R>
    ) => Effect.Effect<ReadonlyArray<RunStepView> | null, never, R>
  }
>()("@signalbox/control-room/store/RunSteps") {
  static readonly layer = Layer.effect(
    RunSteps,
    Effect.gen(function* () {
      const { sql } = yield* Database

      /** Why the first step run that waits in a step does so, where it was told. */
      const waits = Effect.fnUntraced(function* (run: string, isHidden: (pointer: string) => boolean) {
        const waiting = yield* query(
          Row({ id: text, step: integer, blocked_by: nullable(text) }),
          sql`
            SELECT id, step, blocked_by FROM step_run
            WHERE process_run_id = ${run} AND state IN ('new', 'awaiting_worker', 'in_progress')
              AND state = 'awaiting_worker' AND worker_id IS NULL
            ORDER BY id LIMIT 100`
        )
        const messages = new Map<number, string>()
        for (const { blocked_by, id, step } of waiting) {
          if (messages.has(step)) continue
          if (blocked_by !== null) {
            const bucket = bucketOf(blocked_by)
            messages.set(step, roomless(bucket, bucket.key !== null && isHidden(bucket.key)))
            continue
          }
          const told = yield* queryOne(
            Row({ message: nullable(text) }),
            sql`
              SELECT message FROM step_run_event
              WHERE step_run_id = ${id} AND event_type IN ('NO_WORKER', 'PAUSED') ORDER BY id DESC LIMIT 1`
          )
          messages.set(step, told?.message ?? "a worker that is free has not taken it yet")
        }
        return messages
      })

      return RunSteps.of({
        of: Effect.fnUntraced(function* (workspace, run, hides) {
          const row = yield* queryOne(
            runRow,
            sql`
              SELECT process_id, steps, counts FROM process_run
              WHERE workspace_id = ${workspace} AND id = ${run} AND deleted_at IS NULL`
          )
          if (row === null) return null
          const { counts, process_id, steps } = row
          const settled = yield* query(
            countRow,
            sql`
              SELECT step, state, count(*) AS n FROM work_item
              WHERE process_run_id = ${run} AND state IN ('done', 'failed') GROUP BY state, step`
          )
          // As many as step runs at most.
          const busy = yield* query(
            countRow,
            sql`
              SELECT step, state, count(*) AS n FROM work_item
              WHERE process_run_id = ${run} AND state = 'in_progress' GROUP BY state, step`
          )
          const times = yield* query(
            timeRow,
            sql`
              SELECT step, min(started_at) AS started_at, max(ended_at) AS ended_at FROM step_run
              WHERE process_run_id = ${run} AND started_at IS NOT NULL GROUP BY step`
          )
          const why = counts.some(({ live }) => live > 0)
            ? yield* waits(run, yield* hides(process_id))
            : new Map<number, string>()
          const number = (rows: ReadonlyArray<typeof countRow.Type>, step: number, state: string) =>
            Number(rows.find((one) => one.step === step && one.state === state)?.n ?? 0)
          return steps.map(({ id, name }, step): RunStepView => {
            const known = counts[step]
            const inProgress = number(busy, step, "in_progress")
            const waiting = Math.max(0, (known?.open ?? 0) - inProgress)
            const time = times.find((one) => one.step === step)
            return {
              id: StepId.make(id),
              name,
              items: {
                waiting,
                in_progress: inProgress,
                done: number(settled, step, "done"),
                failed: number(settled, step, "failed")
              },
              started_at: time?.started_at ?? null,
              ended_at: (known?.live ?? 0) > 0 || waiting > 0 ? null : (time?.ended_at ?? null),
              waits_for: waiting > 0 && inProgress === 0 ? (why.get(step) ?? null) : null
            }
          })
        })
      })
    })
  )
}
