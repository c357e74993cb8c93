/**
 * Outputs of work items: held until their step run ends, then work items of the next step or outputs of the run. Those
 * of one attempt are the held outputs of its item and step run: those of an earlier attempt were dropped before.
 */
import { ProcessId, ProcessRunId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import { millisPerPoint } from "../../engine/Order.ts"
import type { Change, Run } from "../../engine/State.ts"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { flag, id, integer, nullable, query, queryOne, Row, Table, text } from "@signalbox/sql/Table"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { exceptionText, fileBytes, itemId } from "./StoredItem.ts"

const outputTable = Table("output", {
  id: id(WorkItemId),
  workspace_id: id(WorkspaceId),
  process_id: id(ProcessId),
  process_run_id: id(ProcessRunId),
  step_run_id: id(StepRunId),
  parent_id: id(WorkItemId),
  created_at: text,
  payload: text,
  released: flag
})

/** An output as it is read. */
const outputRow = outputTable.pick(
  "id",
  "workspace_id",
  "process_id",
  "process_run_id",
  "step_run_id",
  "created_at",
  "payload"
)
type OutputRow = typeof outputRow.Type

/** An output as stored. */
export interface StoredOutput {
  readonly id: WorkItemId
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId
  readonly stepRunId: StepRunId
  readonly createdAt: string
  readonly payload: Schema.Json
  /** As in `StoredItem`. */
  readonly mayHaveFiles: boolean
}

/** An output as a page shows it, with its payload as JSON text like that of an item. */
export interface StoredPageOutput extends Omit<StoredOutput, "payload"> {
  readonly payload: string
}

/** An output to create. */
export interface NewOutput {
  readonly item: WorkItemId
  readonly stepRun: StepRunId
  readonly payload: Schema.Json
}

export type ItemForwarded = Extract<Change, { readonly _tag: "ItemForwarded" }>
export type OutputsReleased = Extract<Change, { readonly _tag: "OutputsReleased" }>

const parsePageOutput = (row: OutputRow, mayHaveFiles = true): StoredPageOutput => ({
  id: row.id,
  workspaceId: row.workspace_id,
  processId: row.process_id,
  processRunId: row.process_run_id,
  stepRunId: row.step_run_id,
  createdAt: row.created_at,
  payload: row.payload,
  mayHaveFiles
})

const parseOutput = (row: OutputRow): StoredOutput => ({
  ...parsePageOutput(row),
  payload: ExactJson.parse(row.payload)
})

const outputPage = {
  rows: outputRow.and({ extra_bytes: integer }),
  table: "output",
  long: ["payload"],
  extraBytes: fileBytes("output"),
  as: (row: OutputRow & { readonly extra_bytes: number }) => parsePageOutput(row, row.extra_bytes > 0)
} as const

export class Outputs extends Context.Service<
  Outputs,
  {
    /** Creates outputs of items that are being processed; returns their ids, in the same order. */
    readonly create: (run: Run, outputs: ReadonlyArray<NewOutput>) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** An output that is not released yet. */
    readonly open: (id: string) => Effect.Effect<StoredOutput | null>
    /** Replaces the payload (JSON text) of an unreleased output of the step run; false when it has no such output. */
    readonly setPayload: (stepRun: StepRunId, id: string, payload: string) => Effect.Effect<boolean>
    /** How many outputs a step run has not released: of the item that it processes, and of the others. */
    readonly count: (
      stepRun: StepRunId,
      held: WorkItemId | null
    ) => Effect.Effect<{ readonly held: number; readonly done: number }>
    /**
     * Releases the outputs of a step run: they become work items of a step, or, without one, outputs of the run. Returns the items, which
     * have their ids.
     */
    readonly release: (run: Run, change: OutputsReleased) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** Deletes the outputs of these items that the step run has not released, and returns their ids. */
    readonly drop: (stepRun: StepRunId, items: ReadonlyArray<WorkItemId>) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** Creates an output with the payload of its item, and returns its id. */
    readonly forward: (run: Run, change: ItemForwarded) => Effect.Effect<WorkItemId>
    /** How many outputs of these items were passed on and still exist. */
    readonly countPassedOn: (items: ReadonlyArray<WorkItemId>) => Effect.Effect<number>
    /** The released outputs of a run, the oldest first. */
    readonly list: (run: ProcessRunId, page: PageRequest) => Effect.Effect<Rows<StoredPageOutput>>
    /** Some outputs of these runs, released or not. */
    readonly someOf: (runs: ReadonlyArray<ProcessRunId>, limit: number) => Effect.Effect<ReadonlyArray<WorkItemId>>
    readonly remove: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Outputs") {
  static readonly layer = Layer.effect(
    Outputs,
    Effect.gen(function* () {
      const { newId, now, page, sql } = yield* Database

      /** The unreleased outputs of a step run: of these items, or, with null, of all; a chunk at a time. */
      const eachUnreleased = <B, E>(
        stepRun: StepRunId,
        items: ReadonlyArray<WorkItemId> | null,
        use: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<B, E>
      ) => {
        const ofItems = items === null ? [] : [sql.in("parent_id", items)]
        let parent = ""
        return Chunks.walk((after) =>
          Effect.gen(function* () {
            const rows = yield* query(
              outputTable.pick("id", "parent_id"),
              sql`
                SELECT id, parent_id FROM output
                WHERE ${sql.and([sql`step_run_id = ${stepRun}`, ...ofItems])} AND released = 0
                  AND (parent_id, id) > (${parent}, ${after})
                ORDER BY parent_id, id LIMIT ${Chunks.rowsPerChunk}`
            )
            parent = rows.at(-1)?.parent_id ?? parent
            const ids = rows.map((row) => row.id)
            if (ids.length > 0) yield* use(ids)
            return ids
          })
        )
      }

      /** Items that outputs have become are found by the tags of their parents. */
      const inheritTags = (items: ReadonlyArray<string>) =>
        items.length === 0
          ? Effect.void
          : Effect.asVoid(sql`
              INSERT INTO work_item_tag (workspace_id, tag, id)
              SELECT parent.workspace_id, parent.tag, work_item.id
              FROM work_item JOIN work_item_tag AS parent ON parent.id = work_item.parent_id
              WHERE ${sql.in("work_item.id", items)}`)

      return Outputs.of({
        create: Effect.fnUntraced(function* (run, outputs) {
          const at = yield* now
          return yield* Chunks.flatMap(
            outputs,
            Effect.fnUntraced(function* (some) {
              const rows = yield* Effect.forEach(some, ({ item, payload, stepRun }) =>
                Effect.map(newId, (id) => ({
                  id: WorkItemId.make(id),
                  workspace_id: run.workspaceId,
                  process_id: run.processId,
                  process_run_id: run.id,
                  step_run_id: stepRun,
                  parent_id: item,
                  created_at: at,
                  payload: JSON.stringify(payload),
                  released: false
                }))
              )
              yield* sql`INSERT INTO output ${outputTable.insert(rows)}`
              return rows.map((row) => row.id)
            })
          )
        }),
        open: (id) =>
          queryOne(
            outputRow,
            sql`SELECT ${outputRow.columns} FROM output WHERE id = ${id} AND released = 0`,
            parseOutput
          ),
        setPayload: Effect.fnUntraced(function* (stepRun, id, payload) {
          const rows = yield* sql`
            UPDATE output SET payload = ${payload}
            WHERE id = ${id} AND step_run_id = ${stepRun} AND released = 0 RETURNING id`
          return rows.length === 1
        }),
        count: (stepRun, held) =>
          Effect.map(
            query(
              outputTable.pick("parent_id").and({ n: integer }),
              sql`
                SELECT parent_id, count(*) AS n FROM output
                WHERE step_run_id = ${stepRun} AND released = 0 GROUP BY parent_id`
            ),
            (rows) => {
              const ofHeld = rows.find((row) => row.parent_id === held)?.n ?? 0
              return { held: ofHeld, done: rows.reduce((sum, row) => sum + row.n, 0) - ofHeld }
            }
          ),
        release: Effect.fnUntraced(function* (run, { exception, failure, state, step, stepRun }) {
          const at = yield* now
          const released = yield* eachUnreleased(stepRun, null, (ids) =>
            step === null
              ? sql`UPDATE output SET released = 1 WHERE ${sql.in("id", ids)}`
              : query(
                  itemId.and({ tags: nullable(text) }),
                  sql`
                    INSERT INTO work_item (id, workspace_id, process_id, process_run_id, step, step_id, parent_id, state,
                      state_updated_at, created_at, payload, attempts, exception, failure, priority, sort_key, due_at,
                      at_risk_at, tags)
                    SELECT output.id, output.workspace_id, output.process_id, output.process_run_id, ${step},
                      ${run.steps[step]?.id}, output.parent_id, ${state}, ${at}, output.created_at, output.payload, 0,
                      ${exceptionText(exception)}, ${failure?.fingerprint ?? null}, coalesce(parent.priority, 0),
                      ${Date.parse(at)} - coalesce(parent.priority, 0) * ${sql.literal(String(millisPerPoint))},
                      parent.due_at, parent.at_risk_at, parent.tags
                    FROM output LEFT JOIN work_item AS parent ON parent.id = output.parent_id
                    WHERE ${sql.in("output.id", ids)}
                    RETURNING id, tags`
                ).pipe(
                  Effect.flatMap((rows) => inheritTags(rows.flatMap((row) => (row.tags === null ? [] : [row.id])))),
                  Effect.andThen(sql`DELETE FROM output WHERE ${sql.in("id", ids)}`)
                )
          )
          return step === null ? [] : released
        }),
        drop: (stepRun, items) =>
          Chunks.flatMap(items, (some) =>
            eachUnreleased(stepRun, some, (ids) => sql`DELETE FROM output WHERE ${sql.in("id", ids)}`)
          ),
        forward: Effect.fnUntraced(function* (run, { item, stepRun }) {
          const id = WorkItemId.make(yield* newId)
          yield* sql`
            INSERT INTO output (id, workspace_id, process_id, process_run_id, step_run_id, parent_id, created_at,
              payload, released)
            SELECT ${id}, workspace_id, process_id, process_run_id, ${stepRun}, id, ${yield* now}, payload, 0
            FROM work_item WHERE id = ${item}`
          return id
        }),
        countPassedOn: (items) =>
          Effect.map(
            Chunks.flatMap(items, (some) =>
              query(
                Row({ n: integer }),
                sql`
                  SELECT (SELECT count(*) FROM work_item WHERE ${sql.in("parent_id", some)})
                    + (SELECT count(*) FROM output WHERE ${sql.in("parent_id", some)} AND released = 1) AS n`
              )
            ),
            (rows) => rows.reduce((sum, { n }) => sum + n, 0)
          ),
        list: (run, request) =>
          page(outputPage, [sql`process_run_id = ${run}`, sql`released = 1`], "oldest first", request),
        someOf: (runs, limit) =>
          query(
            itemId,
            sql`SELECT id FROM output WHERE ${sql.in("process_run_id", runs)} LIMIT ${limit}`,
            (row) => row.id
          ),
        remove: (ids) =>
          Effect.asVoid(Chunks.forEach(ids, (some) => sql`DELETE FROM output WHERE ${sql.in("id", some)}`))
      })
    })
  )
}
