/** Work items, alone and in pages. `RunItems` has how runs process them, `Outputs` their outputs. */
import { type ProcessId, ProcessRunId, WorkItemId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import * as Dialect from "@signalbox/sql/Dialect"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import * as Chunks from "./Chunks.ts"
import { Database, type PageRequest, type Rows, type Wide } from "./Database.ts"
import {
  fileBytes,
  type ItemRow,
  newRow,
  parseIds,
  parseItem,
  parsePageItem,
  parseState,
  parseSummary,
  selectItem,
  selectState,
  type StateRow,
  type StoredItem,
  type StoredPageItem,
  type StoredState,
  type StoredSummary,
  type SummaryRow
} from "./StoredItem.ts"

export interface ItemFilter {
  readonly processId: ProcessId | null
  readonly processRunId: ProcessRunId | null
  readonly state: WorkItemState | null
  /** Default: the newest first. */
  readonly order?: "oldest first"
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

const first = (rows: ReadonlyArray<ItemRow>) => (rows[0] === undefined ? null : parseItem(rows[0]))

export class WorkItems extends Context.Service<
  WorkItems,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredItem | null>
    readonly getMany: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredItem>>
    /** The runs of these items. */
    readonly runsOf: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<ProcessRunId>>
    /** Locks these items until the transaction ends, and returns them. */
    readonly lockMany: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredState>>
    /** Like `get`, and locks the row until the transaction ends. For callers that have locked its run. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredItem | null>
    readonly list: (workspace: WorkspaceId, filter: ItemFilter, page: PageRequest) => Effect.Effect<Rows<StoredSummary>>
    /** Like `list`, with payloads, which may be large. */
    readonly listWhole: (
      workspace: WorkspaceId,
      filter: ItemFilter,
      page: PageRequest
    ) => Effect.Effect<Rows<StoredPageItem>>
    /** Creates a `new` item; `payload` is JSON text. */
    readonly create: (workspace: WorkspaceId, process: ProcessId, payload: string) => Effect.Effect<StoredSummary>
    /** Creates a `new` item for each payload (JSON text); returns their ids in that order. */
    readonly createMany: (
      workspace: WorkspaceId,
      process: ProcessId,
      payloads: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** Changes the payload (JSON text) of an item that no step run processes; false when it is in another state. */
    readonly updatePayload: (id: WorkItemId, payload: string) => Effect.Effect<boolean>
    /** Deletes these items, whatever run they are in. */
    readonly remove: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<void>
    /** Some items of these runs. */
    readonly someOf: (runs: ReadonlyArray<ProcessRunId>, limit: number) => Effect.Effect<ReadonlyArray<WorkItemId>>
  }
>()("@signalbox/control-room/store/WorkItems") {
  static readonly layer = Layer.effect(
    WorkItems,
    Effect.gen(function* () {
      const { below, newId, now, page, sql } = yield* Database
      const select = sql.literal(selectItem)
      const forUpdate = Dialect.forUpdate(sql)
      const listed =
        <Row extends object, A>(from: Wide, parse: (row: Row) => A) =>
        (workspace: WorkspaceId, filter: ItemFilter, request: PageRequest): Effect.Effect<Rows<A>> => {
          const { order = "newest first", processId, processRunId, state } = filter
          const ofState = state === null ? [] : [sql`state = ${state}`]
          const items = (condition: Fragment) =>
            Effect.map(page<Row>(from, [condition, ...ofState], order, request), ({ hasMore, rows }) => ({
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

      return WorkItems.of({
        get: (workspace, id) =>
          Effect.orDie(Effect.map(sql<ItemRow>`${select} WHERE workspace_id = ${workspace} AND id = ${id}`, first)),
        getMany: (ids) =>
          Effect.orDie(Effect.map(sql<ItemRow>`${select} WHERE ${sql.in("id", ids)}`, (rows) => rows.map(parseItem))),
        runsOf: Effect.fnUntraced(function* (ids) {
          const rows = yield* Chunks.flatMap(
            ids,
            (some) => sql<{ readonly process_run_id: string }>`
              SELECT DISTINCT process_run_id FROM work_item
              WHERE ${sql.in("id", some)} AND process_run_id IS NOT NULL`
          )
          return new Set(rows.map((row) => ProcessRunId.make(row.process_run_id)))
        }, Effect.orDie),
        // Sorted, because all transactions lock items in this order.
        lockMany: (ids) =>
          Effect.orDie(
            Chunks.flatMap(ids.toSorted(), (some) =>
              Effect.map(
                sql<StateRow>`${sql.literal(selectState)} WHERE ${sql.in("id", some)} ORDER BY id ${forUpdate}`,
                (rows) => rows.map(parseState)
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
          const row = newRow({ at: yield* now, id: yield* newId, workspace, process, payload, run: null })
          yield* Effect.orDie(sql`INSERT INTO work_item ${sql.insert(row)}`)
          return parseSummary({ ...row, step_run_id: null, exception: null })
        }),
        createMany: Effect.fnUntraced(function* (workspace, process, payloads) {
          const at = yield* now
          const rows = yield* Effect.forEach(payloads, (payload) =>
            Effect.map(newId, (id) => newRow({ at, id, workspace, process, payload, run: null }))
          )
          yield* Chunks.forEach(rows, (some) => sql`INSERT INTO work_item ${sql.insert(some)}`)
          return rows.map(({ id }) => WorkItemId.make(id))
        }, Effect.orDie),
        updatePayload: Effect.fnUntraced(function* (id, payload) {
          const rows = yield* sql`
            UPDATE work_item SET payload = ${payload}
            WHERE id = ${id} AND (state IN ('new', 'failed') OR (state = 'pending' AND step_run_id IS NULL))
            RETURNING id`
          return rows.length === 1
        }, Effect.orDie),
        remove: (ids) =>
          Effect.orDie(
            Effect.asVoid(Chunks.forEach(ids, (some) => sql`DELETE FROM work_item WHERE ${sql.in("id", some)}`))
          ),
        someOf: (runs, limit) =>
          Effect.orDie(
            Effect.map(
              sql<{ readonly id: string }>`
                SELECT id FROM work_item WHERE ${sql.in("process_run_id", runs)} LIMIT ${limit}`,
              parseIds
            )
          )
      })
    })
  )
}
