/**
 * Work items, and the outputs that become work items or outputs of a run.
 */
import { ProcessId, ProcessRunId, StepId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import type { Change, Exception, Item, Run, RunStep } from "../engine/Engine.ts"
import * as Chunks from "./Chunks.ts"
import { Database, type PageRequest, type Rows, type Wide } from "./Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"

interface SummaryRow {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string
  readonly process_run_id: string | null
  readonly step_id: string | null
  readonly step_run_id: string | null
  readonly state: WorkItemState
  readonly state_updated_at: string | null
  readonly created_at: string
  readonly exception: string | null
}

interface StateRow extends Pick<
  SummaryRow,
  "id" | "workspace_id" | "process_id" | "process_run_id" | "step_run_id" | "state"
> {
  readonly step: number | null
  readonly attempts: number
  readonly released_by: string | null
}

interface ItemRow extends SummaryRow, StateRow {
  readonly payload: string
  /** Only where it is selected: whether a file names the item as its owner. */
  readonly has_files?: unknown
  /** Only in pages: what its files take in its view. */
  readonly extra_bytes?: number
}

interface OutputRow {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string
  readonly process_run_id: string
  readonly step_run_id: string
  readonly parent_id: string
  readonly created_at: string
  readonly payload: string
  /** As above. */
  readonly extra_bytes?: number
}

/** A work item as stored, without its payload and without what only runs need to know. */
export interface StoredSummary {
  readonly id: WorkItemId
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId | null
  readonly stepId: StepId | null
  readonly stepRun: StepRunId | null
  readonly state: WorkItemState
  readonly stateUpdatedAt: string | null
  readonly createdAt: string
  readonly exception: Exception | null
}

/** A work item without its payload, as commands on runs need it. */
export interface StoredState extends Item {
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId | null
}

/** A work item as stored. */
export interface StoredItem extends Item, StoredSummary {
  readonly id: WorkItemId
  readonly stepRun: StepRunId | null
  readonly state: WorkItemState
  readonly payload: Schema.Json
  /** False when it is certain that the item has no files, so that nobody needs to ask. */
  readonly mayHaveFiles: boolean
}

/** A work item as a page shows it; its payload is JSON text, so that megabytes of it are neither parsed nor written again. */
export interface StoredPageItem extends StoredSummary {
  readonly payload: string
  readonly mayHaveFiles: boolean
}

/** An output as a page shows it, with its payload like that of an item. */
export interface StoredPageOutput extends Omit<StoredOutput, "payload"> {
  readonly payload: string
}

/** An output as stored; `released`: it belongs to the outputs of its run. */
export interface StoredOutput {
  readonly id: WorkItemId
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId
  readonly stepRunId: StepRunId
  readonly createdAt: string
  readonly payload: Schema.Json
  /** As of a work item. */
  readonly mayHaveFiles: boolean
}

export interface ItemFilter {
  readonly processId: ProcessId | null
  readonly processRunId: ProcessRunId | null
  readonly state: WorkItemState | null
}

const parseSummary = (row: SummaryRow): StoredSummary => ({
  id: WorkItemId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  processRunId: row.process_run_id === null ? null : ProcessRunId.make(row.process_run_id),
  stepId: row.step_id === null ? null : StepId.make(row.step_id),
  stepRun: row.step_run_id === null ? null : StepRunId.make(row.step_run_id),
  state: row.state,
  stateUpdatedAt: row.state_updated_at,
  createdAt: row.created_at,
  exception: row.exception === null ? null : JSON.parse(row.exception)
})

/** Where nothing was selected that says so, it may. */
const mayHaveFiles = (selected: unknown) => selected === undefined || Boolean(selected)

const parseState = (row: StateRow): StoredState => ({
  id: WorkItemId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  processRunId: row.process_run_id === null ? null : ProcessRunId.make(row.process_run_id),
  step: row.step ?? 0,
  stepRun: row.step_run_id === null ? null : StepRunId.make(row.step_run_id),
  state: row.state,
  attempts: row.attempts,
  releasedBy: row.released_by === null ? null : StepRunId.make(row.released_by)
})

const parseItem = (row: ItemRow): StoredItem => ({
  ...parseSummary(row),
  step: row.step ?? 0,
  payload: JSON.parse(row.payload),
  attempts: row.attempts,
  releasedBy: row.released_by === null ? null : StepRunId.make(row.released_by),
  mayHaveFiles: mayHaveFiles(row.has_files ?? row.extra_bytes)
})

const parsePageItem = (row: ItemRow): StoredPageItem => ({
  ...parseSummary(row),
  payload: row.payload,
  mayHaveFiles: mayHaveFiles(row.extra_bytes)
})

const parsePageOutput = (row: OutputRow): StoredPageOutput => ({
  id: WorkItemId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  processRunId: ProcessRunId.make(row.process_run_id),
  stepRunId: StepRunId.make(row.step_run_id),
  createdAt: row.created_at,
  payload: row.payload,
  mayHaveFiles: mayHaveFiles(row.extra_bytes)
})

const parseOutput = (row: OutputRow): StoredOutput => ({ ...parsePageOutput(row), payload: JSON.parse(row.payload) })

/** What a file takes in a view: its name, also encoded in its address, and a signature. */
const fileBytes = (owner: string) => {
  const files = `FROM file WHERE file.owner_id = ${owner}.id`
  // Most have none, and a sum costs more than to see that.
  return `CASE WHEN EXISTS (SELECT 1 ${files}) THEN (SELECT sum(640 + 4 * octet_length(file.name)) ${files}) ELSE 0 END`
}

const wholePage: Wide = {
  table: "work_item",
  columns:
    "id, workspace_id, process_id, process_run_id, step, step_id, step_run_id, state, state_updated_at, created_at, attempts, released_by",
  long: ["payload", "exception"],
  extraBytes: fileBytes("work_item")
}

const summaryPage: Wide = {
  table: "work_item",
  columns: "id, workspace_id, process_id, process_run_id, step_id, step_run_id, state, state_updated_at, created_at",
  long: ["exception"]
}

const outputPage: Wide = {
  table: "output",
  columns: "id, workspace_id, process_id, process_run_id, step_run_id, parent_id, created_at",
  long: ["payload"],
  extraBytes: fileBytes("output")
}

const json = (value: Exception | null) => (value === null ? null : JSON.stringify(value))

export class WorkItems extends Context.Service<
  WorkItems,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredItem | null>
    readonly getMany: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredItem>>
    /** The runs that these are in. */
    readonly runsOf: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<ProcessRunId>>
    /** Locks these until the transaction ends, and returns them as they are then. */
    readonly lockMany: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredState>>
    /** As `get`; until the transaction ends, nobody else changes it. For those who have locked its run. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredItem | null>
    readonly list: (workspace: WorkspaceId, filter: ItemFilter, page: PageRequest) => Effect.Effect<Rows<StoredSummary>>
    /** The same with payloads, which may be large. */
    readonly listWhole: (
      workspace: WorkspaceId,
      filter: ItemFilter,
      page: PageRequest
    ) => Effect.Effect<Rows<StoredPageItem>>
    readonly create: (workspace: WorkspaceId, process: ProcessId, payload: Schema.Json) => Effect.Effect<StoredItem>
    /** Pending items in the first step of a run. */
    readonly createInRun: (run: Run, payloads: ReadonlyArray<Schema.Json>) => Effect.Effect<void>
    /** Moves these `new` items of the process into the first step of a run; answers how many there were. */
    readonly takeIntoRun: (run: Run, items: ReadonlyArray<WorkItemId>) => Effect.Effect<number>
    /** Ids of the `new` items of a process, oldest first; until the transaction ends, nobody else takes them. */
    readonly queued: (process: ProcessId) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** Changes the payload of an item that no run works on; false when it is in another state. */
    readonly updatePayload: (id: WorkItemId, payload: Schema.Json) => Effect.Effect<boolean>
    /** Deletes these, whatever they are in. */
    readonly remove: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<void>
    /**
     * Items of a step that wait and are due, locked until the transaction ends: first those whose retry is due, in the
     * order of that time, then the others, the oldest first. For those who have locked the run.
     */
    readonly due: (run: ProcessRunId, step: number, limit: number) => Effect.Effect<ReadonlyArray<StoredItem>>
    /** The ids of the same items: payloads may be large. */
    readonly dueIds: (run: ProcessRunId, step: number, limit: number) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** The item that a step run processes. */
    readonly held: (stepRun: StepRunId) => Effect.Effect<StoredState | null>
    /** Runs with items whose delay is over. */
    readonly runsWithDelayOver: Effect.Effect<ReadonlyArray<ProcessRunId>>
    readonly apply: (run: Run, change: ItemChange) => Effect.Effect<void>
    /** Writes moves of different items. */
    readonly move: (moves: ReadonlyArray<ItemMove>) => Effect.Effect<void>
    /** Makes outputs of items that are in hand; answers their ids, in the same order. */
    readonly createOutputs: (run: Run, outputs: ReadonlyArray<NewOutput>) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** An output that is not released yet, of a step run that lives. */
    readonly openOutput: (id: string) => Effect.Effect<StoredOutput | null>
    /** Deletes the outputs of an item that its step run has not released, and returns their ids. */
    readonly dropOutputs: (stepRun: StepRunId, item: WorkItemId) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** How many outputs of a step run wait for its end: of the item in hand, and of the others. */
    readonly countOutputs: (
      stepRun: StepRunId,
      held: WorkItemId | null
    ) => Effect.Effect<{ readonly held: number; readonly done: number }>
    readonly listOutputs: (run: ProcessRunId, page: PageRequest) => Effect.Effect<Rows<StoredPageOutput>>
    /** Replaces the payload of the item in hand of a step run, or of an output of it; false when it is neither. */
    readonly setPayload: (stepRun: StepRunId, id: string, payload: Schema.Json) => Effect.Effect<boolean>
    /** Some items of these runs. */
    readonly someOf: (runs: ReadonlyArray<ProcessRunId>, limit: number) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** Some outputs of these runs, released or not. */
    readonly someOutputsOf: (
      runs: ReadonlyArray<ProcessRunId>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WorkItemId>>
    readonly removeOutputs: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/WorkItems") {
  static readonly layer = Layer.effect(
    WorkItems,
    Effect.gen(function* () {
      const { below, newId, now, page, sql } = yield* Database
      const select = sql.literal(
        "SELECT id, workspace_id, process_id, process_run_id, step, step_id, step_run_id, state, state_updated_at, created_at, payload, attempts, released_by, exception, EXISTS (SELECT 1 FROM file WHERE file.owner_id = work_item.id) AS has_files FROM work_item"
      )
      const forUpdate = Dialect.forUpdate(sql)
      // Where several write at once, all lock items in one order.
      const lockNew = (process: ProcessId, items: ReadonlyArray<WorkItemId>) =>
        sql`SELECT id FROM work_item WHERE ${sql.in("id", items)} AND process_id = ${process} ORDER BY id ${forUpdate}`
      const listed =
        <Row extends object, A>(from: Wide, parse: (row: Row) => A) =>
        (workspace: WorkspaceId, filter: ItemFilter, request: PageRequest): Effect.Effect<Rows<A>> => {
          const { processId, processRunId, state } = filter
          const ofState = state === null ? [] : [sql`state = ${state}`]
          const items = (condition: Fragment) =>
            Effect.map(page<Row>(from, [condition, ...ofState], "newest first", request), ({ hasMore, rows }) => ({
              hasMore,
              rows: rows.map(parse)
            }))
          if (processRunId !== null) {
            const ofProcess = processId === null ? [] : [sql`process_id = ${processId}`]
            const run = sql.and([sql`id = ${processRunId}`, sql`workspace_id = ${workspace}`, ...ofProcess])
            return below(
              sql`SELECT id FROM process_run WHERE ${run} AND deleted_at IS NULL`,
              items(sql`process_run_id = ${processRunId}`)
            )
          }
          if (processId !== null) {
            const process = sql`SELECT id FROM process WHERE id = ${processId} AND workspace_id = ${workspace} AND deleted_at IS NULL`
            return below(process, items(sql`process_id = ${processId}`))
          }
          return items(sql`workspace_id = ${workspace}`)
        }
      const selectState = sql.literal(
        "SELECT id, workspace_id, process_id, process_run_id, step, step_run_id, state, attempts, released_by FROM work_item"
      )
      const many = (rows: ReadonlyArray<ItemRow>) => rows.map(parseItem)
      const identifiers = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => WorkItemId.make(id))
      const first = (rows: ReadonlyArray<ItemRow>) => (rows[0] === undefined ? null : parseItem(rows[0]))
      const newRow = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        process: ProcessId,
        payload: Schema.Json,
        run: { readonly id: ProcessRunId; readonly step: RunStep } | null
      ) {
        const at = yield* now
        return {
          id: yield* newId,
          workspace_id: workspace,
          process_id: process,
          process_run_id: run?.id ?? null,
          step: run === null ? null : 0,
          step_id: run?.step.id ?? null,
          state: run === null ? "new" : "pending",
          state_updated_at: run === null ? null : at,
          created_at: at,
          payload: JSON.stringify(payload),
          attempts: 0
        } as const
      })

      const due = Effect.fnUntraced(function* <Row extends object>(
        columns: Fragment,
        run: ProcessRunId,
        step: number,
        limit: number
      ) {
        const at = yield* now
        const waiting = sql`process_run_id = ${run} AND step = ${step} AND state = 'pending' AND step_run_id IS NULL`
        return yield* sql<Row>`
          ${columns}
          WHERE id IN (
            SELECT id FROM (
              SELECT id FROM work_item WHERE ${waiting} AND not_before IS NOT NULL AND not_before <= ${at}
              ORDER BY not_before, id LIMIT ${limit}) AS delayed
            UNION ALL
            SELECT id FROM (
              SELECT id FROM work_item WHERE ${waiting} AND not_before IS NULL ORDER BY id LIMIT ${limit}) AS ready)
          ORDER BY not_before IS NULL, not_before, id LIMIT ${limit} ${forUpdate}`
      })

      const remove = (ids: ReadonlyArray<WorkItemId>) =>
        Chunks.forEach(ids, (some) => sql`DELETE FROM work_item WHERE ${sql.in("id", some)}`)

      /** The unreleased outputs of a step run: of one item, or, with `item` null, of all; a chunk at a time. */
      const eachUnreleased = <B, E>(
        stepRun: StepRunId,
        item: WorkItemId | null,
        use: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<B, E>
      ) => {
        const ofItem = item === null ? [] : [sql`parent_id = ${item}`]
        let parent = ""
        return Chunks.walk((after) =>
          Effect.gen(function* () {
            const rows = yield* sql<{ readonly id: string; readonly parent_id: string }>`
              SELECT id, parent_id FROM output
              WHERE ${sql.and([sql`step_run_id = ${stepRun}`, ...ofItem])} AND released = 0
                AND (parent_id, id) > (${parent}, ${after})
              ORDER BY parent_id, id LIMIT ${Chunks.rowsPerChunk}`
            parent = rows.at(-1)?.parent_id ?? parent
            const ids = identifiers(rows)
            if (ids.length > 0) yield* use(ids)
            return ids
          })
        )
      }

      const apply = Effect.fnUntraced(function* (run: Run, change: ItemChange) {
        const at = yield* now
        if (change._tag === "WaitingSettled") {
          const settled = sql.update({
            state: change.to,
            state_updated_at: at,
            not_before: null,
            ...(change.exception === null ? {} : { exception: json(change.exception) })
          })
          yield* Chunks.walk((after) =>
            Effect.map(
              sql<{ readonly id: string }>`
                UPDATE work_item SET ${settled} WHERE id IN (
                  SELECT id FROM work_item
                  WHERE process_run_id = ${run.id} AND state = 'pending' AND step_run_id IS NULL AND id > ${after}
                  ORDER BY id LIMIT ${Chunks.rowsPerChunk})
                RETURNING id`,
              (rows) => identifiers(rows).sort()
            )
          )
          return
        }
        const { exception, state, step, stepRun } = change
        if (step === null) {
          yield* eachUnreleased(stepRun, null, (ids) => sql`UPDATE output SET released = 1 WHERE ${sql.in("id", ids)}`)
          return
        }
        yield* eachUnreleased(stepRun, null, (ids) =>
          Effect.andThen(
            sql`
              INSERT INTO work_item (id, workspace_id, process_id, process_run_id, step, step_id, parent_id, state,
                state_updated_at, created_at, payload, attempts, exception)
              SELECT id, workspace_id, process_id, process_run_id, ${step}, ${run.steps[step]?.id},
                parent_id, ${state}, ${at}, created_at, payload, 0, ${json(exception)}
              FROM output WHERE ${sql.in("id", ids)}`,
            sql`DELETE FROM output WHERE ${sql.in("id", ids)}`
          )
        )
      }, Effect.orDie)

      const move = Effect.fnUntraced(function* (moves: ReadonlyArray<ItemMove>) {
        const at = yield* now
        const of = Map.groupBy(moves, kindOf)
        yield* Chunks.forEach(
          of.get("completed") ?? [],
          (some) => sql`
            UPDATE work_item
            SET state = 'done', state_updated_at = ${at}, released_by = step_run_id, not_before = NULL, exception = NULL
            WHERE ${sql.in(
              "id",
              some.map(({ id }) => id)
            )}`
        )
        yield* Chunks.forEach(of.get("taken") ?? [], (some) => {
          const pairs = sql.csv(some.map(({ id, stepRun }) => sql`(${id}, ${stepRun})`))
          // One more attempt: that is what taking an item is.
          return sql`
            UPDATE work_item
            SET state = 'in_progress', state_updated_at = ${at}, attempts = attempts + 1, not_before = NULL,
              step_run_id = taken.column2
            FROM (VALUES ${pairs}) AS taken
            WHERE work_item.id = taken.column1`
        })
        for (const change of of.get("other") ?? []) {
          yield* sql`UPDATE work_item SET ${sql.update({
            state: change.to,
            state_updated_at: at,
            step_run_id: change.stepRun,
            attempts: change.attempts,
            released_by: change.releasedBy,
            not_before: change.notBefore,
            ...(change.exception === undefined ? {} : { exception: json(change.exception) })
          })} WHERE id = ${change.id}`
        }
      }, Effect.orDie)

      return WorkItems.of({
        get: (workspace, id) =>
          Effect.orDie(Effect.map(sql<ItemRow>`${select} WHERE workspace_id = ${workspace} AND id = ${id}`, first)),
        getMany: (ids) => Effect.orDie(Effect.map(sql<ItemRow>`${select} WHERE ${sql.in("id", ids)}`, many)),
        runsOf: Effect.fnUntraced(function* (ids) {
          const rows = yield* Chunks.flatMap(
            ids,
            (some) => sql<{ readonly process_run_id: string }>`
              SELECT DISTINCT process_run_id FROM work_item
              WHERE ${sql.in("id", some)} AND process_run_id IS NOT NULL`
          )
          return new Set(rows.map((row) => ProcessRunId.make(row.process_run_id)))
        }, Effect.orDie),
        // Sorted, because all lock items in one order.
        lockMany: (ids) =>
          Effect.orDie(
            Chunks.flatMap(ids.toSorted(), (some) =>
              Effect.map(sql<StateRow>`${selectState} WHERE ${sql.in("id", some)} ORDER BY id ${forUpdate}`, (rows) =>
                rows.map(parseState)
              )
            )
          ),
        lock: (workspace, id) =>
          Effect.orDie(
            Effect.map(
              sql<ItemRow>`SELECT * FROM work_item WHERE workspace_id = ${workspace} AND id = ${id} ${forUpdate}`,
              first
            )
          ),
        list: listed<SummaryRow, StoredSummary>(summaryPage, parseSummary),
        listWhole: listed<ItemRow, StoredPageItem>(wholePage, parsePageItem),
        create: Effect.fnUntraced(function* (workspace, process, payload) {
          const row = yield* newRow(workspace, process, payload, null)
          yield* Effect.orDie(sql`INSERT INTO work_item ${sql.insert(row)}`)
          return parseItem({ ...row, step_run_id: null, released_by: null, exception: null })
        }),
        createInRun: Effect.fnUntraced(function* (run, payloads) {
          const [step] = run.steps
          if (step === undefined) return
          yield* Chunks.forEach(payloads, (some) =>
            Effect.flatMap(
              Effect.forEach(some, (payload) => newRow(run.workspaceId, run.processId, payload, { id: run.id, step })),
              (rows) => sql`INSERT INTO work_item ${sql.insert(rows)}`
            )
          )
        }, Effect.orDie),
        takeIntoRun: Effect.fnUntraced(function* (run, items) {
          const taken = {
            process_run_id: run.id,
            step: 0,
            step_id: run.steps[0]?.id ?? null,
            state: "pending",
            state_updated_at: yield* now
          }
          const rows = yield* Chunks.flatMap(
            // Sorted, because all lock items in one order.
            items.toSorted(),
            Effect.fnUntraced(function* (some) {
              if (Dialect.isPostgres(sql)) yield* lockNew(run.processId, some)
              return yield* sql`
                UPDATE work_item SET ${sql.update(taken)}
                WHERE ${sql.in("id", some)} AND process_id = ${run.processId} AND state = 'new' RETURNING id`
            })
          )
          return rows.length
        }, Effect.orDie),
        queued: (process) =>
          Effect.orDie(
            Chunks.walk((after) =>
              Effect.map(
                sql<{ readonly id: string }>`
                  SELECT id FROM work_item WHERE process_id = ${process} AND state = 'new' AND id > ${after}
                  ORDER BY id LIMIT ${Chunks.rowsPerChunk} ${forUpdate}`,
                identifiers
              )
            )
          ),
        updatePayload: Effect.fnUntraced(function* (id, payload) {
          const rows = yield* sql`
            UPDATE work_item SET payload = ${JSON.stringify(payload)}
            WHERE id = ${id} AND (state IN ('new', 'failed') OR (state = 'pending' AND step_run_id IS NULL))
            RETURNING id`
          return rows.length === 1
        }, Effect.orDie),
        remove: (ids) => Effect.orDie(Effect.asVoid(remove(ids))),
        due: (run, step, limit) => Effect.orDie(Effect.map(due<ItemRow>(select, run, step, limit), many)),
        dueIds: (run, step, limit) =>
          Effect.orDie(
            Effect.map(
              due<{ readonly id: string }>(sql.literal("SELECT id FROM work_item"), run, step, limit),
              identifiers
            )
          ),
        held: (stepRun) =>
          Effect.orDie(
            Effect.map(
              sql<StateRow>`
                ${selectState} WHERE step_run_id = ${stepRun} AND state IN ('pending', 'in_progress')`,
              ([row]) => (row === undefined ? null : parseState(row))
            )
          ),
        runsWithDelayOver: Effect.gen(function* () {
          const delayed = sql.literal("state = 'pending' AND step_run_id IS NULL AND not_before IS NOT NULL")
          // One step in the index for each run that has delayed items, however many.
          const rows = yield* sql<{ readonly run: string }>`
            WITH RECURSIVE delayed (run) AS (
              SELECT min(process_run_id) FROM work_item WHERE ${delayed}
              UNION ALL
              SELECT (SELECT min(process_run_id) FROM work_item WHERE ${delayed} AND process_run_id > delayed.run)
              FROM delayed WHERE delayed.run IS NOT NULL
            )
            SELECT run FROM delayed
            WHERE EXISTS (
              SELECT 1 FROM work_item WHERE process_run_id = delayed.run AND ${delayed} AND not_before <= ${yield* now})`
          return rows.map((row) => ProcessRunId.make(row.run))
        }).pipe(Effect.orDie),
        apply,
        move,
        createOutputs: Effect.fnUntraced(function* (run, outputs) {
          const at = yield* now
          return yield* Chunks.flatMap(
            outputs,
            Effect.fnUntraced(function* (some) {
              const rows = yield* Effect.forEach(some, ({ item, payload, stepRun }) =>
                Effect.map(newId, (id) => ({
                  id,
                  workspace_id: run.workspaceId,
                  process_id: run.processId,
                  process_run_id: run.id,
                  step_run_id: stepRun,
                  parent_id: item,
                  created_at: at,
                  payload: JSON.stringify(payload),
                  released: 0
                }))
              )
              yield* sql`INSERT INTO output ${sql.insert(rows)}`
              return identifiers(rows)
            })
          )
        }, Effect.orDie),
        setPayload: Effect.fnUntraced(function* (stepRun, id, payload) {
          const json = JSON.stringify(payload)
          const items = yield* sql`
            UPDATE work_item SET payload = ${json}
            WHERE id = ${id} AND step_run_id = ${stepRun} AND state = 'in_progress' RETURNING id`
          if (items.length === 1) return true
          const outputs = yield* sql`
            UPDATE output SET payload = ${json}
            WHERE id = ${id} AND step_run_id = ${stepRun} AND released = 0 RETURNING id`
          return outputs.length === 1
        }, Effect.orDie),
        openOutput: (id) =>
          Effect.orDie(
            Effect.map(sql<OutputRow>`SELECT * FROM output WHERE id = ${id} AND released = 0`, ([row]) =>
              row === undefined ? null : parseOutput(row)
            )
          ),
        dropOutputs: (stepRun, item) =>
          Effect.orDie(eachUnreleased(stepRun, item, (ids) => sql`DELETE FROM output WHERE ${sql.in("id", ids)}`)),
        countOutputs: (stepRun, held) =>
          Effect.orDie(
            Effect.map(
              sql<{ readonly parent_id: string; readonly n: number }>`
                SELECT parent_id, count(*) AS n FROM output
                WHERE step_run_id = ${stepRun} AND released = 0 GROUP BY parent_id`,
              (rows) => {
                const ofHeld = rows.find((row) => row.parent_id === held)?.n ?? 0
                return { held: ofHeld, done: rows.reduce((sum, row) => sum + row.n, 0) - ofHeld }
              }
            )
          ),
        listOutputs: (run, request) =>
          Effect.map(
            page<OutputRow>(outputPage, [sql`process_run_id = ${run}`, sql`released = 1`], "oldest first", request),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map(parsePageOutput) })
          ),
        someOf: (runs, limit) =>
          Effect.orDie(
            Effect.map(
              sql<{ readonly id: string }>`
                SELECT id FROM work_item WHERE ${sql.in("process_run_id", runs)} LIMIT ${limit}`,
              identifiers
            )
          ),
        someOutputsOf: (runs, limit) =>
          Effect.orDie(
            Effect.map(
              sql<{ readonly id: string }>`
                SELECT id FROM output WHERE ${sql.in("process_run_id", runs)} LIMIT ${limit}`,
              identifiers
            )
          ),
        removeOutputs: (ids) =>
          Effect.orDie(
            Effect.asVoid(Chunks.forEach(ids, (some) => sql`DELETE FROM output WHERE ${sql.in("id", some)}`))
          )
      })
    })
  )
}

/** The changes that concern work items and outputs, and nothing else; but for moves. */
export type ItemChange = Extract<Change, { readonly _tag: "WaitingSettled" | "OutputsReleased" }>

export type ItemMove = Extract<Change, { readonly _tag: "ItemMoved" }>

/** An output that is still to be made. */
export interface NewOutput {
  readonly item: WorkItemId
  readonly stepRun: StepRunId
  readonly payload: Schema.Json
}

/** Nearly all moves are of two kinds, of which many are written at once. */
const kindOf = ({ attempts: _, exception, notBefore, releasedBy, stepRun, to }: ItemMove) =>
  stepRun === null || notBefore !== null
    ? "other"
    : to === "done" && exception === null && releasedBy === stepRun
      ? "completed"
      : to === "in_progress" && exception === undefined
        ? "taken"
        : "other"
