/** Which worker has leased which step run: leases are created, expire, and are lost with their worker. */
import type { StepRunId, WorkerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { StepDefinition } from "@signalbox/api/contract/Processes"
import * as Dialect from "@signalbox/sql/Dialect"
import { json, nullable, query, Row, text } from "@signalbox/sql/Table"
import { defined } from "@signalbox/transport/Defined"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tokens from "../../vault/Tokens.ts"
import * as Traces from "../../telemetry/Traces.ts"
import { Database } from "../database/Database.ts"
import { Limits } from "../items/Limits.ts"
import { PackageUses } from "../packages/PackageUses.ts"
import type { Takes } from "./Lanes.ts"
import { StepRuns } from "./StepRuns.ts"
import { parseStepRun, type StepRunRow, stepRunTable, type StoredStepRun } from "./StoredStepRun.ts"
import { Turns } from "./Turns.ts"

type Worker = { readonly id: WorkerId; readonly workspaceId: WorkspaceId }
type Steps = ReadonlyArray<Pick<StepDefinition, "environment" | "task_package_version">>

/** A step run leased to a worker, with the texts of its tokens. */
export interface Leased {
  readonly stepRun: StoredStepRun
  readonly leaseToken: string
  readonly runToken: string
  /** What its step says of it. */
  readonly environment: StepDefinition["environment"] | null
  /** The `traceparent` of its run; null: none, or this process collects no spans. */
  readonly trace: string | null
}

export class Leases extends Context.Service<
  Leases,
  {
    /**
     * Leases the next step runs, by turns between their processes, that wait for one of these tasks or, with `packages`, for
     * a task of a package, and are not bound to a group without this worker, and ask for no label that it lacks. A worker
     * that drains gets none.
     */
    readonly lease: (
      worker: Worker,
      tasks: ReadonlyArray<string>,
      packages: boolean,
      limit: number,
      expiresAt: string
    ) => Effect.Effect<ReadonlyArray<Leased>>
    /** Expires leases that were not started in time, and returns how many. */
    readonly expire: Effect.Effect<number>
    /**
     * Compares the step runs that the worker names with its leases: those it must stop, those it no longer owns, and
     * those it has `dropped`: started before `cutoff`, and not named.
     */
    readonly ofWorker: (
      worker: WorkerId,
      ids: ReadonlyArray<StepRunId>,
      cutoff: string
    ) => Effect.Effect<{
      readonly stop: ReadonlyArray<StepRunId>
      readonly lost: ReadonlyArray<StepRunId>
      readonly dropped: ReadonlyArray<StoredStepRun>
    }>
    /** Started step runs whose worker was last seen before `cutoff`. */
    readonly withLostWorker: (cutoff: string) => Effect.Effect<ReadonlyArray<StoredStepRun>>
    /** Started step runs that have exceeded their time limit. */
    readonly overdue: Effect.Effect<ReadonlyArray<StoredStepRun>>
  }
>()("@signalbox/control-room/store/Leases") {
  static readonly layer = Layer.effect(
    Leases,
    Effect.gen(function* () {
      const { now, sql, transaction } = yield* Database
      const { addEvents } = yield* StepRuns
      const turns = yield* Turns
      const uses = yield* PackageUses
      const limits = yield* Limits
      const skipLocked = Dialect.skipLocked(sql, "step_run")
      // The condition of an index that has only the step runs that workers have.
      const held = sql.literal(
        "step_run.worker_id IS NOT NULL AND step_run.state IN ('awaiting_worker', 'in_progress')"
      )

      /** The steps of runs, for what only tasks of packages need of them. */
      const stepsOf = Effect.fnUntraced(function* (runs: ReadonlyArray<string>) {
        if (runs.length === 0) return new Map<string, Steps>()
        const found = yield* query(
          Row({ id: text, steps: json<Steps>() }),
          sql`SELECT id, steps FROM process_run WHERE ${sql.in("id", runs)}`
        )
        return new Map<string, Steps>(found.map(({ id, steps }) => [id, steps]))
      })

      /** The traces of runs. Read only where spans are collected, so that they cost nothing elsewhere. */
      const tracesOf = Effect.fnUntraced(function* (rows: ReadonlyArray<StepRunRow>) {
        const none: ReadonlyMap<string, string | null> = new Map()
        if (rows.length === 0 || !(yield* Traces.enabled)) return none
        const ids = [...new Set(rows.map((row) => row.process_run_id))]
        const found = yield* query(
          Row({ id: text, trace: nullable(text) }),
          sql`SELECT id, trace FROM process_run WHERE ${sql.in("id", ids)}`
        )
        return new Map(found.map(({ id, trace }) => [id, trace]))
      })

      /** The next ones that have no worker, locked; of those under limits, those that have room, which are counted as given. */
      const free = Effect.fnUntraced(function* (worker: Worker, takes: Takes, limit: number) {
        const given: Array<StepRunRow> = []
        for (;;) {
          const next = yield* turns.next(worker, takes, limit)
          if (next === null) return given
          const others = sql`SELECT ${stepRunTable.columns} FROM step_run ${next}`
          const rows = yield* query(stepRunTable, sql`${others} LIMIT ${limit} ${skipLocked}`)
          let blocked = 0
          for (const row of rows) {
            const full = row.limited ? yield* limits.lease(row.process_id, row.first_item_id) : null
            if (full === null) given.push(row)
            else {
              blocked++
              yield* sql`UPDATE step_run SET blocked_by = ${full.name} WHERE id = ${row.id}`
            }
          }
          // Those that are blocked are found no more.
          if (blocked === 0 || given.length > 0) return given
        }
      })

      return Leases.of({
        lease: Effect.fnUntraced(function* (worker, tasks, packages, limit, expiresAt) {
          const rows = yield* free(worker, { tasks, packages }, limit)
          if (rows.length === 0) return []
          const runs = [...new Set(rows.flatMap((row) => (row.package_id === null ? [] : [row.process_run_id])))]
          const definitions = yield* stepsOf(runs)
          const traces = yield* tracesOf(rows)
          const stepOf = (row: StepRunRow) => definitions.get(row.process_run_id)?.[row.step]
          const pinOf = (row: StepRunRow) => stepOf(row)?.task_package_version ?? null
          const versionOf = yield* uses.given(
            worker.workspaceId,
            rows.flatMap((row) => (row.package_id === null ? [] : [{ id: row.package_id, pin: pinOf(row) }]))
          )
          const leased: Array<Leased> = []
          for (const row of rows) {
            const lease = Tokens.make("stepRun", row.id)
            const run = Tokens.make("stepRun", row.id)
            const given = row.package_id === null ? null : versionOf(row.package_id, pinOf(row))
            const changed = {
              worker_id: worker.id,
              lease_hash: lease.hash,
              run_token_hash: run.hash,
              ...defined({ package_version: given?.version, package_digest: given?.digest })
            }
            yield* sql`UPDATE step_run SET ${stepRunTable.update({ ...changed, lease_expires_at: expiresAt })} WHERE id = ${row.id}`
            leased.push({
              stepRun: parseStepRun({ ...row, ...changed }),
              leaseToken: lease.token,
              runToken: run.token,
              environment: stepOf(row)?.environment ?? null,
              trace: traces.get(row.process_run_id) ?? null
            })
          }
          yield* addEvents(leased.map(({ stepRun }) => ({ stepRun: stepRun.id, type: "LEASED", item: null })))
          return leased
        }),
        expire: Effect.gen(function* () {
          const rows = yield* query(
            stepRunTable.pick("first_item_id", "limited"),
            sql`
            UPDATE step_run SET worker_id = NULL, lease_hash = NULL, run_token_hash = NULL, lease_expires_at = NULL,
              package_version = NULL, package_digest = NULL, wait_told = 0
            WHERE state = 'awaiting_worker' AND worker_id IS NOT NULL AND lease_expires_at < ${yield* now}
            RETURNING first_item_id, limited`
          )
          yield* limits.expire(rows.flatMap((row) => (row.limited ? row.first_item_id : [])))
          return rows.length
        }).pipe(transaction),
        ofWorker: Effect.fnUntraced(function* (worker, ids, cutoff) {
          const rows = yield* query(
            stepRunTable,
            sql`SELECT ${stepRunTable.columns} FROM step_run WHERE worker_id = ${worker} AND state IN ('awaiting_worker', 'in_progress')`
          )
          const mine = new Map(rows.map((row) => [row.id, row.stop_requested]))
          const listed = new Set<string>(ids)
          const dropped = rows.filter(
            ({ id, started_at, state }) =>
              state === "in_progress" && started_at !== null && started_at < cutoff && !listed.has(id)
          )
          return {
            stop: ids.filter((id) => mine.get(id) === true),
            lost: ids.filter((id) => !mine.has(id)),
            dropped: dropped.map(parseStepRun)
          }
        }),
        withLostWorker: (cutoff) =>
          query(
            stepRunTable,
            sql`
              SELECT ${stepRunTable.of("step_run")} FROM step_run JOIN worker ON worker.id = step_run.worker_id
              WHERE step_run.state = 'in_progress' AND ${held} AND worker.last_seen_at < ${cutoff}`,
            parseStepRun
          ),
        overdue: Effect.gen(function* () {
          const rows = yield* query(
            stepRunTable,
            sql`SELECT ${stepRunTable.columns} FROM step_run WHERE state = 'in_progress' AND timeout_at IS NOT NULL AND timeout_at < ${yield* now}`
          )
          return rows.map(parseStepRun)
        })
      })
    })
  ).pipe(Layer.provide([Limits.layer, StepRuns.layer, PackageUses.layer, Turns.layer]))
}
