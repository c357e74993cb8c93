/**
 * Which step runs wait that a worker can take, process by process, and what each process has of the workers: what is needed
 * to say whose turn it is (`engine/Turns.ts`).
 */
import { ProcessId, type StepRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, integer, json, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import { inTurn, placeOf, type Running, type Share, type Waiting } from "../../engine/Turns.ts"
import { Database } from "../database/Database.ts"
import { noneIsPaused, somethingIsPaused } from "../processes/Pauses.ts"
import * as Labels from "./Labels.ts"
import * as Lanes from "./Lanes.ts"
import { stepRunTable } from "./StoredStepRun.ts"

/** How many step runs other transactions may be leasing on Postgres before a worker finds none although there are more. */
const spareOnPostgres = 100

/** How many lanes are read for one lease, those with the first places, in one union. */
const lanesAtOnce = 100

interface Worker {
  readonly id: string
  readonly workspaceId: WorkspaceId
}

/** The step runs of one process that wait for one task, or for packages: a lane. They are ordered by their sort keys. */
interface Lane extends Omit<Waiting, "id"> {
  /** Null: packages. */
  readonly task: string | null
}

/** What a worker may take, whether or not it waits. */
interface Able extends Lanes.Takes {
  /** The condition that a row of `step_run` waits, and that the worker can take it for what it is besides its task. */
  readonly awaiting: Fragment
  /** The first and the last id of the processes that wait for one of its tasks, or for packages; null: none does. */
  readonly processes: readonly [first: string, last: string] | null
}

/** What a worker can take. */
interface Offer extends Pick<Able, "awaiting"> {
  readonly lanes: ReadonlyArray<Lane>
  readonly shares: ReadonlyMap<string, Share>
}

const none: Offer["lanes"] = []

const workerRow = Row({
  labels: text,
  draining: flag,
  anything_paused: flag,
  tasks: json<ReadonlyArray<string>>(),
  packages: flag,
  first_process: nullable(text),
  last_process: nullable(text)
})
/** Of a lane without a step run that the worker can take, the sort key is null. */
const laneRow = Row({
  task: nullable(text),
  process_id: id(ProcessId),
  sort_key: nullable(integer),
  priority: nullable(integer),
  held: integer,
  ended_at: nullable(integer)
})
const waitingRow = stepRunTable.pick("id", "process_id", "sort_key", "priority")
const runningRow = stepRunTable.pick("id", "process_id", "priority", "started_at")
const processRow = Row({ workspace_id: id(WorkspaceId), process_id: id(ProcessId) })

export class Turns extends Context.Service<
  Turns,
  {
    /**
     * What follows `FROM step_run` to find the step runs that a worker is given next, in their order; null: nothing waits
     * that it can take. More than `limit`, as others may be locked.
     */
    readonly next: (worker: Worker, takes: Lanes.Takes, limit: number) => Effect.Effect<Fragment | null>
    /** Whether a step run waits for one of these, whatever else it needs of a worker. */
    readonly somethingWaits: (workspace: WorkspaceId, takes: Lanes.Takes) => Effect.Effect<boolean>
    /** What waits that the worker of these step runs could take, the first of each lane, and who has what. */
    readonly around: (
      worker: Worker,
      stepRuns: ReadonlyArray<StepRunId>
    ) => Effect.Effect<{
      readonly running: ReadonlyArray<Running>
      readonly waiting: ReadonlyArray<Omit<Waiting, "id">>
      readonly shares: ReadonlyMap<string, Share>
    }>
    /** Records that a step run of the process has ended while another process waited. */
    readonly ended: (process: ProcessId) => Effect.Effect<void>
    /** The processes of all workspaces that wait for a worker. */
    readonly waiting: Effect.Effect<ReadonlyArray<typeof processRow.Type>>
  }
>()("@signalbox/control-room/store/Turns") {
  static readonly layer = Layer.effect(
    Turns,
    Effect.gen(function* () {
      const { millis, sql } = yield* Database
      const forKey = Dialect.forKey(sql)
      const subjects = sql.literal("step_run.process_id, step_run.step_id, step_run.worker_group_id")
      const nothing = sql.literal("")
      const unassigned = Lanes.unassigned(sql)
      const spare = Dialect.isPostgres(sql) ? spareOnPostgres : 0
      /** Without `takes`: what the worker has said that it takes, and null for `processes`. */
      const ableOf = Effect.fnUntraced(function* (
        { id, workspaceId: workspace }: Worker,
        takes?: Lanes.Takes | undefined
      ) {
        const ends = (which: "min" | "max") =>
          takes === undefined ? sql`NULL` : Lanes.processOf(sql, which, workspace, takes)
        // Locks a worker that asks against deletion until it has its leases; a deleted one gets none. A pause that is made
        // from here on comes after these leases.
        const known = yield* queryOne(
          workerRow,
          sql`
            SELECT labels, draining, tasks, packages, ${somethingIsPaused(sql, workspace)} AS anything_paused,
              ${ends("min")} AS first_process, ${ends("max")} AS last_process
            FROM worker WHERE id = ${id} ${takes === undefined ? nothing : forKey}`
        )
        if (known === null || known.draining) return null
        const labelled = yield* Labels.wantedAndHad(sql, workspace, Labels.decode(known.labels))
        const hasLabels = [sql`labels IS NULL`, ...(labelled.length === 0 ? [] : [sql.in("labels", labelled)])]
        const awaiting = sql`
          workspace_id = ${workspace} AND ${unassigned}
            AND ${sql.or(hasLabels)}
            AND (worker_group_id IS NULL OR worker_group_id IN
              (SELECT member.worker_group_id FROM worker_group_member AS member WHERE member.worker_id = ${id}))
            ${known.anything_paused ? sql`AND ${noneIsPaused(sql, workspace, sql`${subjects}, ${id}`)}` : nothing}`
        const { first_process: first, last_process: last } = known
        const { packages, tasks } = takes ?? known
        const able: Able = {
          tasks,
          packages,
          awaiting,
          processes: first === null || last === null ? null : [first, last]
        }
        return able
      })

      const offerOf = Effect.fnUntraced(function* (workspace: WorkspaceId, able: Able) {
        const { awaiting } = able
        const rows = yield* query(laneRow, Lanes.lanesOf(sql, workspace, awaiting, able))
        const shares = new Map<string, Share>(
          rows.map(({ ended_at, held, process_id }) => [process_id, { held, endedAt: ended_at }])
        )
        const lanes = rows.flatMap(({ priority, process_id, sort_key, task }): ReadonlyArray<Lane> =>
          sort_key === null ? [] : [{ task, process: process_id, sortKey: sort_key, priority: priority ?? 0 }]
        )
        const offer: Offer = { awaiting, lanes, shares }
        return offer
      })

      /** The first step runs of one process, when no other waits: of each task, by an index that has them in this order. */
      const ofOne = ({ awaiting, packages, tasks }: Able, process: string, limit: number) => {
        const lanes = [...tasks.map((task) => ({ process, task })), ...(packages ? [{ process, task: null }] : [])]
        const [lane] = lanes
        if (lanes.length === 1 && lane !== undefined) return sql`${awaiting} AND ${Lanes.ofLane(sql, lane)}`
        const firsts = lanes.map(
          (lane) => sql`
            SELECT id FROM (
              SELECT id FROM step_run WHERE ${awaiting} AND ${Lanes.ofLane(sql, lane)}
              ORDER BY sort_key, id LIMIT ${limit + spare}) AS firsts`
        )
        return sql`${unassigned} AND id IN (${sql.join(" UNION ALL ", false)(firsts)})`
      }

      /** The lane whose first step run is the first of all. */
      const firstLane = Effect.fnUntraced(function* ({ lanes, shares }: Offer) {
        const heads = lanes.map((lane, index): Waiting => ({ ...lane, id: String(index) }))
        const [first] = inTurn(heads, shares, yield* millis)
        return lanes[Number(first)] ?? null
      })

      /** The first of all lanes in their order, by the values of their rows. */
      const inOrder = Effect.fnUntraced(function* ({ awaiting, lanes, shares }: Offer, limit: number) {
        const now = yield* millis
        const place = (lane: Lane) => placeOf(lane, shares.get(lane.process) ?? { held: 0, endedAt: null }, now)
        const firstLanes = lanes.toSorted((a, b) => place(a) - place(b)).slice(0, lanesAtOnce)
        const ofEach = limit + Math.ceil(spare / firstLanes.length)
        const heads = firstLanes.map(
          (lane) => sql`
            SELECT ${waitingRow.columns} FROM (
              SELECT ${waitingRow.columns} FROM step_run WHERE ${awaiting} AND ${Lanes.ofLane(sql, lane)}
              ORDER BY sort_key, id LIMIT ${ofEach}) AS heads`
        )
        const rows = yield* query(waitingRow, sql`${sql.join(" UNION ALL ", false)(heads)}`)
        const waiting = rows.map(({ id, priority, process_id, sort_key }): Waiting => ({
          id,
          process: process_id,
          sortKey: sort_key,
          priority
        }))
        return inTurn(waiting, shares, now).slice(0, limit + spare)
      })

      return Turns.of({
        next: Effect.fnUntraced(function* (worker, takes, limit) {
          if (takes.tasks.length === 0 && !takes.packages) return null
          const able = yield* ableOf(worker, takes)
          if (able === null || able.processes === null) return null
          const [first, last] = able.processes
          if (first === last && takes.tasks.length < lanesAtOnce)
            return sql`WHERE ${ofOne(able, first, limit)} ORDER BY sort_key, id`
          const offer = yield* offerOf(worker.workspaceId, able)
          if (limit + spare === 1) {
            const lane = yield* firstLane(offer)
            return lane === null
              ? null
              : sql`WHERE ${offer.awaiting} AND ${Lanes.ofLane(sql, lane)} ORDER BY sort_key, id`
          }
          if (offer.lanes.length === 0) return null
          const ids = yield* inOrder(offer, limit)
          if (ids.length === 0) return null
          const places = sql.csv(ids.map((id, place) => sql`(${id}, ${sql.literal(String(place))})`))
          return sql`
            JOIN (VALUES ${places}) AS place ON place.column1 = step_run.id
            WHERE ${unassigned} ORDER BY place.column2`
        }),
        somethingWaits: (workspace, takes) =>
          takes.tasks.length === 0 && !takes.packages
            ? Effect.succeed(false)
            : Effect.map(
                queryOne(
                  Row({ process_id: nullable(text) }),
                  sql`SELECT ${Lanes.processOf(sql, "min", workspace, takes)} AS process_id`
                ),
                (row) => row !== null && row.process_id !== null
              ),
        around: Effect.fnUntraced(function* (worker, stepRuns) {
          const able = yield* ableOf(worker)
          const offer =
            able === null || (able.tasks.length === 0 && !able.packages)
              ? null
              : yield* offerOf(worker.workspaceId, able)
          const rows =
            offer === null || offer.lanes.length === 0
              ? []
              : yield* query(
                  runningRow.and({ held: integer, ended_at: nullable(integer) }),
                  sql`
                    SELECT ${runningRow.of("held_run")}, turn.ended_at, ${Lanes.heldBy(sql, sql.literal("held_run.process_id"))} AS held
                    FROM step_run AS held_run LEFT JOIN turn ON turn.process_id = held_run.process_id
                    WHERE ${sql.in("held_run.id", stepRuns)}`
                )
          const shares = new Map(offer?.shares)
          for (const row of rows) shares.set(row.process_id, { held: row.held, endedAt: row.ended_at })
          const running = rows.flatMap(({ id, priority, process_id, started_at }): ReadonlyArray<Running> =>
            started_at === null ? [] : [{ id, process: process_id, priority, startedAt: Date.parse(started_at) }]
          )
          return { running, waiting: offer?.lanes ?? none, shares }
        }),
        ended: Effect.fnUntraced(function* (process) {
          const at = yield* millis
          // One that another transaction writes is not waited for: it gets nearly the same time.
          const written = yield* sql`
            UPDATE turn SET ended_at = ${at} WHERE process_id IN (
              SELECT process_id FROM turn WHERE process_id = ${process} ${Dialect.skipLocked(sql, "turn")})
            RETURNING process_id`
          if (written.length > 0) return
          const row = { process_id: process, ended_at: at }
          yield* sql`INSERT INTO turn ${sql.insert(row)} ON CONFLICT (process_id) DO NOTHING`
        }),
        waiting: query(
          processRow,
          // From workspace to workspace in the index of those that wait, from task to task, from process to process.
          sql`
            WITH RECURSIVE workspaces (workspace) AS (
              SELECT (SELECT min(workspace_id) FROM step_run WHERE ${unassigned})
              UNION ALL
              SELECT (SELECT min(workspace_id) FROM step_run WHERE ${unassigned} AND workspace_id > workspaces.workspace)
              FROM workspaces WHERE workspace IS NOT NULL
            ), tasks (workspace, task) AS (
              SELECT workspace, (SELECT min(task_name) FROM step_run WHERE ${unassigned} AND workspace_id = workspaces.workspace)
              FROM workspaces WHERE workspace IS NOT NULL
              UNION ALL
              SELECT workspace, (
                SELECT min(task_name) FROM step_run
                WHERE ${unassigned} AND workspace_id = tasks.workspace AND task_name > tasks.task)
              FROM tasks WHERE task IS NOT NULL
            ), lanes (workspace, task, process) AS (
              SELECT workspace, task, (
                SELECT min(process_id) FROM step_run
                WHERE ${unassigned} AND workspace_id = tasks.workspace AND task_name = tasks.task)
              FROM tasks WHERE task IS NOT NULL
              UNION ALL
              SELECT workspace, task, (
                SELECT min(process_id) FROM step_run
                WHERE ${unassigned} AND workspace_id = lanes.workspace AND task_name = lanes.task AND process_id > lanes.process)
              FROM lanes WHERE process IS NOT NULL
            )
            SELECT DISTINCT workspace AS workspace_id, process AS process_id FROM lanes WHERE process IS NOT NULL`
        )
      })
    })
  )
}
