/**
 * Step runs, their leases and their events.
 */
import {
  ProcessId,
  ProcessRunId,
  StepId,
  StepRunId,
  type WorkerId,
  WorkItemId,
  WorkspaceId
} from "@signalbox/api/contract/Ids"
import type {
  StepRun as StepRunView,
  StepRunErrorCode,
  StepRunEvent,
  StepRunState
} from "@signalbox/api/contract/StepRuns"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Change, Item, Run, StepRun } from "../engine/State.ts"
import * as Tokens from "../Tokens.ts"
import * as Chunks from "./Chunks.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { secondsBetween } from "./ProcessRuns.ts"

interface Row {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string
  readonly process_run_id: string
  readonly step: number
  readonly step_id: string
  readonly step_name: string
  readonly task_name: string
  readonly timeout_seconds: number | null
  readonly env: string
  readonly state: StepRunState
  readonly state_updated_at: string
  readonly error_code: StepRunErrorCode | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly first_item_id: string
  readonly timeout_at: string | null
  readonly stop_requested: number
  readonly worker_id: string | null
  readonly lease_hash: string | null
  readonly run_token_hash: string | null
  readonly package_id: string | null
}

/** A step run as stored. */
export interface StoredStepRun extends StepRun {
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId
  readonly taskName: string
  readonly timeoutSeconds: number | null
  readonly env: Readonly<Record<string, string>>
  readonly firstItem: WorkItemId
  readonly workerId: string | null
  readonly leaseHash: string | null
  readonly runTokenHash: string | null
  /** Null for a task that workers bring with them. */
  readonly packageId: string | null
}

/** A step run handed to a worker, with the texts of its tokens. */
export interface Leased {
  readonly stepRun: StoredStepRun
  readonly leaseToken: string
  readonly runToken: string
}

const parse = (row: Row): StoredStepRun => ({
  id: StepRunId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  processRunId: ProcessRunId.make(row.process_run_id),
  step: row.step,
  state: row.state,
  taskName: row.task_name,
  timeoutSeconds: row.timeout_seconds,
  env: JSON.parse(row.env),
  firstItem: WorkItemId.make(row.first_item_id),
  workerId: row.worker_id,
  leaseHash: row.lease_hash,
  runTokenHash: row.run_token_hash,
  packageId: row.package_id
})

/** What a step run shows: its environment may be large. */
const viewColumns = [
  "id",
  "state",
  "state_updated_at",
  "error_code",
  "started_at",
  "ended_at",
  "step_id",
  "step_name"
] as const
type ViewRow = Pick<Row, (typeof viewColumns)[number]>

const view = (row: ViewRow): StepRunView => ({
  id: StepRunId.make(row.id),
  state: row.state,
  state_updated_at: row.state_updated_at,
  error: row.error_code === null ? null : { code: row.error_code },
  started_at: row.started_at,
  ended_at: row.ended_at,
  duration: secondsBetween(row.started_at, row.ended_at),
  step: { id: StepId.make(row.step_id), name: row.step_name }
})

/** The changes that concern step runs. */
export type StepRunChange = Extract<
  Change,
  { readonly _tag: "StepRunCreated" | "StepRunsQueued" | "StepRunMoved" | "StopRequested" }
>

/** An event that is still to be written. */
export type NewEvent = Pick<Extract<Change, { readonly _tag: "Event" }>, "stepRun" | "type" | "item">

/** A step run in the hand of a worker, with the item that it has in hand. */
export interface InHand {
  readonly stepRun: StepRun & Pick<StoredStepRun, "workerId" | "leaseHash">
  readonly item: Item | null
}

interface InHandRow extends Pick<Row, "id" | "step" | "state" | "worker_id" | "lease_hash"> {
  readonly item_id: string | null
  readonly item_state: WorkItemState | null
  readonly attempts: number | null
  readonly released_by: string | null
}

const parseInHand = (row: InHandRow): InHand => {
  const stepRun = StepRunId.make(row.id)
  return {
    stepRun: { id: stepRun, step: row.step, state: row.state, workerId: row.worker_id, leaseHash: row.lease_hash },
    item:
      row.item_id === null || row.item_state === null
        ? null
        : {
            id: WorkItemId.make(row.item_id),
            step: row.step,
            state: row.item_state,
            stepRun,
            attempts: row.attempts ?? 0,
            releasedBy: row.released_by === null ? null : StepRunId.make(row.released_by)
          }
  }
}

export class StepRuns extends Context.Service<
  StepRuns,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StepRunView | null>
    readonly find: (id: string) => Effect.Effect<StoredStepRun | null>
    /** As it is now; until the transaction ends, nobody else changes it. For those who have locked its run. */
    readonly lock: (id: StepRunId) => Effect.Effect<StoredStepRun | null>
    readonly list: (run: ProcessRunId, page: PageRequest) => Effect.Effect<Rows<StepRunView>>
    readonly listEvents: (
      stepRun: StepRunId,
      page: PageRequest
    ) => Effect.Effect<Rows<StepRunEvent & { readonly id: string }>>
    readonly lockLive: (run: ProcessRunId) => Effect.Effect<ReadonlyArray<StoredStepRun>>
    /** Of these step runs of a run, those that there are. For those who have locked the run. */
    readonly inHand: (run: ProcessRunId, ids: ReadonlyArray<StepRunId>) => Effect.Effect<ReadonlyMap<StepRunId, InHand>>
    /** Whether a step run has settled this item before. */
    readonly hasSettled: (stepRun: StepRunId, item: WorkItemId) => Effect.Effect<boolean>
    /** Writes a change; answers the events that go with it. */
    readonly apply: (run: Run, change: StepRunChange) => Effect.Effect<ReadonlyArray<NewEvent>>
    /** Writes events in this order. */
    readonly addEvents: (events: ReadonlyArray<NewEvent>) => Effect.Effect<void>
    /**
     * Hands out the oldest step runs that wait for one of these tasks or, with `packages`, for a task of a package, and
     * are not bound to a group without this worker.
     */
    readonly lease: (
      worker: { readonly id: WorkerId; readonly workspaceId: WorkspaceId },
      tasks: ReadonlyArray<string>,
      packages: boolean,
      limit: number,
      expiresAt: string
    ) => Effect.Effect<ReadonlyArray<Leased>>
    /** Takes back leases that were not started in time; answers how many. */
    readonly expireLeases: Effect.Effect<number>
    /**
     * Of the step runs that the worker says it has, what it must stop and what is no longer its own; and what it has
     * `dropped`: started before `cutoff`, and not among them.
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
    /** Started step runs that have run longer than they may. */
    readonly overdue: Effect.Effect<ReadonlyArray<StoredStepRun>>
    /** Some that ended before `cutoff` and have their details still; each is in the hand of one transaction. */
    readonly withOldDetails: (cutoff: string, limit: number) => Effect.Effect<ReadonlyArray<StepRunId>>
    /** Writes down that their details are gone. */
    readonly detailsGone: (ids: ReadonlyArray<StepRunId>) => Effect.Effect<void>
    /** Deletes some events of these; answers how many. */
    readonly removeEvents: (ids: ReadonlyArray<StepRunId>, limit: number) => Effect.Effect<number>
    readonly someOf: (runs: ReadonlyArray<ProcessRunId>, limit: number) => Effect.Effect<ReadonlyArray<StepRunId>>
    /** Deletes step runs without events and console messages. */
    readonly remove: (ids: ReadonlyArray<StepRunId>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/StepRuns") {
  static readonly layer = Layer.effect(
    StepRuns,
    Effect.gen(function* () {
      const { newId, now, page, sql } = yield* Database
      const selectView = sql`SELECT ${sql.literal(viewColumns.join(", "))} FROM step_run`
      const forUpdate = Dialect.forUpdate(sql)
      const forKey = Dialect.forKey(sql)
      const skipLocked = Dialect.skipLocked(sql, "step_run")
      const many = (rows: ReadonlyArray<Row>) => rows.map(parse)
      const identifiers = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => StepRunId.make(id))

      const addEvents = Effect.fnUntraced(function* (events: ReadonlyArray<NewEvent>) {
        const at = yield* now
        yield* Chunks.forEach(
          events,
          Effect.fnUntraced(function* (some) {
            const rows = yield* Effect.forEach(some, (event) =>
              Effect.map(newId, (id) => ({
                id,
                step_run_id: event.stepRun,
                event_type: event.type,
                work_item_id: event.item,
                created_at: at
              }))
            )
            yield* sql`INSERT INTO step_run_event ${sql.insert(rows)}`
          })
        )
      }, Effect.orDie)

      const apply = Effect.fnUntraced(function* (
        run: Run,
        change: StepRunChange
      ): Effect.fn.Return<ReadonlyArray<NewEvent>, SqlError> {
        const at = yield* now
        switch (change._tag) {
          case "StepRunCreated": {
            const step = run.steps[change.step]
            if (step === undefined) return []
            const id = StepRunId.make(yield* newId)
            yield* sql`INSERT INTO step_run ${sql.insert({
              id,
              workspace_id: run.workspaceId,
              process_id: run.processId,
              process_run_id: run.id,
              step: change.step,
              step_id: step.id,
              step_name: step.name,
              task_name: step.task.name,
              worker_group_id: step.worker_group?.id ?? null,
              package_id: step.task.package_id ?? null,
              timeout_seconds: step.timeout_seconds ?? null,
              env: JSON.stringify(step.env ?? {}),
              state: change.state,
              state_updated_at: at,
              first_item_id: change.item
            })}`
            yield* sql`UPDATE work_item SET step_run_id = ${id}, not_before = NULL WHERE id = ${change.item}`
            const created: NewEvent = { stepRun: id, type: "CREATED", item: change.item }
            return change.state === "awaiting_worker"
              ? [created, { stepRun: id, type: "QUEUED", item: null }]
              : [created]
          }
          case "StepRunsQueued": {
            const rows = yield* sql<{ readonly id: string }>`
              UPDATE step_run SET state = 'awaiting_worker', state_updated_at = ${at}
              WHERE process_run_id = ${run.id} AND step = ${change.step} AND state = 'new'
                AND state IN ('new', 'awaiting_worker', 'in_progress') RETURNING id`
            return identifiers(rows).map((id): NewEvent => ({ stepRun: id, type: "QUEUED", item: null }))
          }
          case "StepRunMoved": {
            yield* sql`UPDATE step_run SET ${sql.update({
              state: change.to,
              state_updated_at: at,
              error_code: change.error,
              ...(change.to === "in_progress" ? { started_at: at, timeout_at: change.timeoutAt } : { ended_at: at })
            })} WHERE id = ${change.id}`
            return []
          }
          case "StopRequested":
            yield* sql`UPDATE step_run SET stop_requested = 1 WHERE id = ${change.stepRun}`
            return []
        }
      }, Effect.orDie)

      return StepRuns.of({
        get: (workspace, id) =>
          Effect.orDie(
            Effect.map(sql<Row>`SELECT * FROM step_run WHERE workspace_id = ${workspace} AND id = ${id}`, ([row]) =>
              row === undefined ? null : view(row)
            )
          ),
        find: (id) =>
          Effect.orDie(
            Effect.map(sql<Row>`SELECT * FROM step_run WHERE id = ${id}`, ([row]) =>
              row === undefined ? null : parse(row)
            )
          ),
        lock: (id) =>
          Effect.orDie(
            Effect.map(sql<Row>`SELECT * FROM step_run WHERE id = ${id} ${forUpdate}`, ([row]) =>
              row === undefined ? null : parse(row)
            )
          ),
        list: (run, request) =>
          Effect.map(
            page<ViewRow>(selectView, [sql`process_run_id = ${run}`], "newest first", request),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map(view) })
          ),
        listEvents: (stepRun, request) =>
          page<StepRunEvent & { readonly id: string }>(
            {
              table: "step_run_event",
              columns: "id, created_at AS timestamp, event_type",
              long: ["message"],
              plain: true
            },
            [sql`step_run_id = ${stepRun}`],
            "oldest first",
            request
          ),
        lockLive: (run) =>
          Effect.orDie(
            Effect.map(
              sql<Row>`
                SELECT * FROM step_run
                WHERE process_run_id = ${run} AND state IN ('new', 'awaiting_worker', 'in_progress')
                ORDER BY id ${forUpdate}`,
              many
            )
          ),
        inHand: Effect.fnUntraced(function* (run, ids) {
          const rows = yield* sql<InHandRow>`
            SELECT step_run.id, step_run.step, step_run.state, step_run.worker_id, step_run.lease_hash,
              work_item.id AS item_id, work_item.state AS item_state, work_item.attempts, work_item.released_by
            FROM step_run LEFT JOIN work_item
              ON work_item.step_run_id = step_run.id AND work_item.state IN ('pending', 'in_progress')
            WHERE step_run.process_run_id = ${run} AND ${sql.in("step_run.id", ids)}`
          return new Map(rows.map(parseInHand).map((found) => [found.stepRun.id, found]))
        }, Effect.orDie),
        hasSettled: Effect.fnUntraced(function* (stepRun, item) {
          const rows = yield* sql`
            SELECT id FROM step_run_event
            WHERE step_run_id = ${stepRun} AND work_item_id = ${item}
              AND event_type IN ('ITEM_RELEASED', 'ITEM_FAILED') LIMIT 1`
          return rows.length === 1
        }, Effect.orDie),
        apply,
        addEvents,
        lease: Effect.fnUntraced(function* (worker, tasks, packages, limit, expiresAt) {
          const takes = [
            ...(tasks.length === 0 ? [] : [sql.and([sql.in("task_name", tasks), sql`package_id IS NULL`])]),
            ...(packages ? [sql`package_id IS NOT NULL`] : [])
          ]
          if (takes.length === 0) return []
          // Nobody deletes the worker until it has its leases; one that is deleted gets none.
          const known = yield* sql`SELECT id FROM worker WHERE id = ${worker.id} ${forKey}`
          if (known.length === 0) return []
          const rows = yield* sql<Row>`
            SELECT * FROM step_run
            WHERE workspace_id = ${worker.workspaceId} AND ${sql.or(takes)}
              AND state = 'awaiting_worker' AND worker_id IS NULL
              AND (worker_group_id IS NULL OR worker_group_id IN
                (SELECT member.worker_group_id FROM worker_group_member AS member WHERE member.worker_id = ${worker.id}))
            ORDER BY id LIMIT ${limit} ${skipLocked}`
          const leased: Array<Leased> = []
          for (const row of rows) {
            const lease = Tokens.make("stepRun", row.id)
            const run = Tokens.make("stepRun", row.id)
            const changed = { worker_id: worker.id, lease_hash: lease.hash, run_token_hash: run.hash }
            yield* sql`UPDATE step_run SET ${sql.update({ ...changed, lease_expires_at: expiresAt })} WHERE id = ${row.id}`
            leased.push({ stepRun: parse({ ...row, ...changed }), leaseToken: lease.token, runToken: run.token })
          }
          yield* addEvents(leased.map(({ stepRun }) => ({ stepRun: stepRun.id, type: "LEASED", item: null })))
          return leased
        }, Effect.orDie),
        expireLeases: Effect.gen(function* () {
          const rows = yield* sql`
            UPDATE step_run SET worker_id = NULL, lease_hash = NULL, run_token_hash = NULL, lease_expires_at = NULL,
              wait_told = 0
            WHERE state = 'awaiting_worker' AND worker_id IS NOT NULL AND lease_expires_at < ${yield* now} RETURNING id`
          return rows.length
        }).pipe(Effect.orDie),
        ofWorker: Effect.fnUntraced(function* (worker, ids, cutoff) {
          const rows = yield* sql<Row>`
            SELECT * FROM step_run WHERE worker_id = ${worker} AND state IN ('awaiting_worker', 'in_progress')`
          const mine = new Map(rows.map((row) => [row.id, row.stop_requested === 1]))
          const listed = new Set<string>(ids)
          const dropped = rows.filter(
            ({ id, started_at, state }) =>
              state === "in_progress" && started_at !== null && started_at < cutoff && !listed.has(id)
          )
          return {
            stop: ids.filter((id) => mine.get(id) === true),
            lost: ids.filter((id) => !mine.has(id)),
            dropped: many(dropped)
          }
        }, Effect.orDie),
        withLostWorker: (cutoff) =>
          Effect.orDie(
            Effect.map(
              sql<Row>`
                SELECT step_run.* FROM step_run JOIN worker ON worker.id = step_run.worker_id
                WHERE step_run.state = 'in_progress' AND worker.last_seen_at < ${cutoff}`,
              many
            )
          ),
        overdue: Effect.gen(function* () {
          const rows = yield* sql<Row>`
            SELECT * FROM step_run WHERE state = 'in_progress' AND timeout_at IS NOT NULL AND timeout_at < ${yield* now}`
          return many(rows)
        }).pipe(Effect.orDie),
        withOldDetails: (cutoff, limit) =>
          Effect.orDie(
            Effect.map(
              sql<{ readonly id: string }>`
                SELECT id FROM step_run WHERE ended_at < ${cutoff} AND details_gone = 0
                ORDER BY ended_at LIMIT ${limit} ${skipLocked}`,
              identifiers
            )
          ),
        detailsGone: (ids) => Effect.orDie(sql`UPDATE step_run SET details_gone = 1 WHERE ${sql.in("id", ids)}`),
        removeEvents: (ids, limit) =>
          Effect.orDie(
            Effect.map(
              sql`
                DELETE FROM step_run_event WHERE id IN (
                  SELECT id FROM step_run_event WHERE ${sql.in("step_run_id", ids)} LIMIT ${limit})
                RETURNING id`,
              (rows) => rows.length
            )
          ),
        someOf: (runs, limit) =>
          Effect.orDie(
            Effect.map(
              sql<{ readonly id: string }>`
                SELECT id FROM step_run WHERE ${sql.in("process_run_id", runs)} LIMIT ${limit}`,
              identifiers
            )
          ),
        remove: (ids) => Effect.orDie(sql`DELETE FROM step_run WHERE ${sql.in("id", ids)}`)
      })
    })
  )
}
