/** Work items, alone and in pages. `RunItems` has how runs process them, `Outputs` their outputs. */
import {
  type ProcessId,
  ProcessRunId,
  type StepId,
  type WorkItemId,
  type WorkspaceId
} from "@signalbox/api/contract/Ids"
import type { DueState } from "@signalbox/api/contract/Order"
import { type WorkItemState, workItemStates } from "@signalbox/api/contract/WorkItems"
import * as Dialect from "@signalbox/sql/Dialect"
import { type Columns, id, integer, query, queryOne, Row, text, word } from "@signalbox/sql/Table"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows, type Wide } from "../database/Database.ts"
import { firstIdOf } from "../database/IdsByTime.ts"
import {
  fileBytes,
  hasFiles,
  itemId,
  itemRow,
  type NewOrder,
  newRow,
  noOrder,
  parseItem,
  parsePageItem,
  parseState,
  parseSummary,
  stateRow,
  type StoredItem,
  type StoredPageItem,
  type StoredState,
  type StoredSummary,
  summaryRow,
  withFiles,
  workItemTable
} from "./StoredItem.ts"

export interface ItemFilter {
  readonly processId: ProcessId | null
  readonly processRunId: ProcessRunId | null
  readonly state: WorkItemState | null
  readonly stepId?: StepId | undefined
  readonly reference?: string | undefined
  readonly tag?: string | undefined
  /** Only open items that have a time. */
  readonly due?: DueState | undefined
  /** Default: the newest first. */
  readonly order?: "oldest first" | undefined
}

/** An item to create in the queue of a process. */
export interface NewItem {
  /** JSON text. */
  readonly payload: string
  readonly order: NewOrder
  readonly reference: string | null
}

const wholePage = {
  rows: itemRow.and({ extra_bytes: integer }),
  table: "work_item",
  long: ["payload", "exception"],
  extraBytes: fileBytes("work_item"),
  as: (row: typeof itemRow.Type & { readonly extra_bytes: number }) => parsePageItem(row, row.extra_bytes > 0)
} as const

const summaryPage = { rows: summaryRow, table: "work_item", long: ["exception"], as: parseSummary } as const

const wholeRow = itemRow.and(withFiles)

export class WorkItems extends Context.Service<
  WorkItems,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredItem | null>
    /** Like `get`, as it is shown: its payload is neither parsed nor stringified. */
    readonly getWhole: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredPageItem | null>
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
    readonly create: (workspace: WorkspaceId, process: ProcessId, payload: string) => Effect.Effect<StoredPageItem>
    /** Creates a `new` item. `created` is false when an open item of the process has its reference: that one is returned. */
    readonly createOrFind: (
      workspace: WorkspaceId,
      process: ProcessId,
      item: NewItem
    ) => Effect.Effect<{ readonly item: StoredPageItem; readonly created: boolean }>
    /** Creates `new` items, and returns their ids in that order; or, as `createOrFind` does, those of items that there are. */
    readonly createMany: (
      workspace: WorkspaceId,
      process: ProcessId,
      items: ReadonlyArray<NewItem>
    ) => Effect.Effect<ReadonlyArray<{ readonly id: WorkItemId; readonly created: boolean }>>
    /** How many open items have exceeded their time, and how many may, in all workspaces. */
    readonly countDue: Effect.Effect<{ readonly late: number; readonly atRisk: number }>
    /** The run of an item that waits for limits of its step; null: it does not. */
    readonly runOfLane: (workspace: WorkspaceId, id: string) => Effect.Effect<ProcessRunId | null>
    /** Changes the payload (JSON text) of an item that no step run processes; false when it is in another state. */
    readonly updatePayload: (id: WorkItemId, payload: string) => Effect.Effect<boolean>
    /** Deletes these items, whatever run they are in. */
    readonly remove: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<void>
    /** How many items of each state were created from each of these times to the next, the last of which is the end. */
    readonly createdBetween: (
      workspace: WorkspaceId,
      times: ReadonlyArray<number>
    ) => Effect.Effect<ReadonlyArray<Readonly<Record<WorkItemState, number>>>>
    /** Some items of these runs. */
    readonly someOf: (runs: ReadonlyArray<ProcessRunId>, limit: number) => Effect.Effect<ReadonlyArray<WorkItemId>>
  }
>()("@signalbox/control-room/store/WorkItems") {
  static readonly layer = Layer.effect(
    WorkItems,
    Effect.gen(function* () {
      const { below, belowProcess, newId, now, page, sql } = yield* Database
      const select = sql`SELECT ${itemRow.columns}, ${sql.literal(hasFiles)} FROM work_item`
      const selectOne = sql.fixed`${select} WHERE workspace_id = ${null} AND id = ${null}`
      const forUpdate = Dialect.forUpdate(sql)
      // SQLite has no statistics by which it would begin with the tag; it takes the tables of a cross join in their order.
      const join = Dialect.isPostgres(sql) ? "JOIN" : "CROSS JOIN"
      const tagged = `work_item_tag ${join} work_item USING (workspace_id, id)`
      const dueConditions: Readonly<Record<DueState, (at: string) => Fragment>> = {
        late: (at) => sql`due_at <= ${at}`,
        at_risk: (at) => sql`at_risk_at <= ${at} AND due_at > ${at}`,
        on_time: (at) => sql`at_risk_at > ${at}`
      }
      const dueCondition = (due: DueState, at: string) =>
        sql`due_at IS NOT NULL AND state IN ('new', 'pending', 'in_progress') AND ${dueConditions[due](at)}`

      const listed =
        <C extends Columns, A>(from: Wide<C, A>) =>
        (workspace: WorkspaceId, filter: ItemFilter, request: PageRequest): Effect.Effect<Rows<A>> => {
          const { order = "newest first", due, processId, processRunId, reference, state, stepId, tag } = filter
          const ofState = state === null ? [] : [sql`state = ${state}`]
          // Expressions, so that no index of theirs is chosen in place of the one for the other filters.
          const elsewhere = {
            process: processId === null ? [] : [sql`process_id || '' = ${processId}`],
            run: processRunId === null ? [] : [sql`process_run_id || '' = ${processRunId}`],
            state: state === null ? [] : [sql`state || '' = ${state}`],
            step: stepId === undefined ? [] : [sql`step_id || '' = ${stepId}`]
          }
          const walk = (conditions: ReadonlyArray<Fragment>, table = from.table) =>
            page({ ...from, table }, conditions, order, request)
          const items = (conditions: ReadonlyArray<Fragment>) => walk([...conditions, ...ofState, ...elsewhere.step])
          if (reference !== undefined || tag !== undefined || due !== undefined) {
            return Effect.flatMap(now, (at) =>
              walk(
                [
                  sql`workspace_id = ${workspace}`,
                  ...(tag === undefined ? [] : [sql`tag = ${tag}`]),
                  ...(reference === undefined ? [] : [sql`reference = ${reference}`]),
                  ...(due === undefined ? [] : [dueCondition(due, at)]),
                  ...elsewhere.step,
                  ...elsewhere.process,
                  ...elsewhere.run,
                  ...elsewhere.state
                ],
                tag === undefined ? from.table : tagged
              )
            )
          }
          if (processRunId !== null) {
            const ofProcess = processId === null ? [] : [sql`process_id = ${processId}`]
            const run = sql.and([sql`id = ${processRunId}`, sql`workspace_id = ${workspace}`, ...ofProcess])
            return below(
              sql`SELECT id FROM process_run WHERE ${run} AND deleted_at IS NULL`,
              items([sql`process_run_id = ${processRunId}`])
            )
          }
          if (processId !== null) {
            // Most items of a step are done in the end; those of the other states are few, and have an index of theirs.
            const byStep = stepId !== undefined && (state === null || state === "done")
            const rows = byStep
              ? walk([sql`step_id = ${stepId}`, ...elsewhere.process, ...elsewhere.state])
              : items([sql`process_id = ${processId}`])
            return belowProcess(workspace, processId, rows)
          }
          return items([sql`workspace_id = ${workspace}`])
        }

      /** The open items of a process with these references. */
      const byReference = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        process: ProcessId,
        references: ReadonlyArray<string>
      ) {
        return yield* Chunks.flatMap(references, (some) =>
          query(
            workItemTable.pick("id").and({ reference: text }),
            sql`
              SELECT id, reference FROM work_item
              WHERE workspace_id = ${workspace} AND process_id = ${process} AND ${sql.in("reference", some)}
                AND reference IS NOT NULL AND state IN ('new', 'pending', 'in_progress', 'failed')`
          )
        )
      })

      /** Creates items; returns their rows, or those of the open items that have their references. */
      const createOrFindMany = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        process: ProcessId,
        items: ReadonlyArray<NewItem>
      ) {
        const at = yield* now
        const wanted = yield* Effect.forEach(items, (item) =>
          Effect.map(newId, (id) => ({ ...item, row: newRow({ at, id, workspace, process, run: null, ...item }) }))
        )
        const plain = wanted.filter(({ reference }) => reference === null)
        yield* Chunks.forEach(
          plain,
          (some) => sql`INSERT INTO work_item ${workItemTable.insert(Arr.map(some, ({ row }) => row))}`
        )
        const known = new Map<string, WorkItemId>()
        const created = new Set<string>(plain.map(({ row }) => row.id))
        // Another transaction may settle the item that is in the way before it is read: then there is room for a new one.
        for (;;) {
          const left = wanted.filter(({ reference }) => reference !== null && !known.has(reference))
          if (left.length === 0) break
          const made = yield* Chunks.flatMap(left, (some) =>
            query(
              itemId,
              sql`INSERT INTO work_item ${workItemTable.insert(Arr.map(some, ({ row }) => row))} ON CONFLICT DO NOTHING RETURNING id`
            )
          )
          for (const { id } of made) created.add(id)
          const references = left.flatMap(({ reference }) => reference ?? [])
          for (const row of yield* byReference(workspace, process, references)) known.set(row.reference, row.id)
        }
        const tags = wanted.flatMap(({ order, row: { id } }) =>
          created.has(id) ? order.tags.map((tag) => ({ workspace_id: workspace, tag, id })) : []
        )
        yield* Chunks.forEach(tags, (some) => sql`INSERT INTO work_item_tag ${sql.insert(some)}`)
        return wanted.map(({ reference, row }) => {
          const isCreated = created.has(row.id)
          return {
            row,
            created: isCreated,
            id: isCreated || reference === null ? row.id : (known.get(reference) ?? row.id)
          }
        })
      })

      const createOrFind = Effect.fnUntraced(function* (workspace: WorkspaceId, process: ProcessId, item: NewItem) {
        const [made] = yield* createOrFindMany(workspace, process, [item])
        if (made?.created === true) {
          const row = { ...made.row, step_run_id: null, exception: null, released_by: null }
          return { item: parsePageItem(row, false), created: true }
        }
        const row = yield* queryOne(wholeRow, sql`${select} WHERE id = ${made?.id ?? null}`)
        // No lock protects it from deletion; then the caller may ask again.
        if (row === null) return yield* Effect.die(new Error("the work item with the reference was just deleted"))
        return { item: parsePageItem(row, row.has_files), created: false }
      })

      return WorkItems.of({
        get: (workspace, id) => queryOne(wholeRow, selectOne(workspace, id), (row) => parseItem(row, row.has_files)),
        getWhole: (workspace, id) =>
          queryOne(wholeRow, selectOne(workspace, id), (row) => parsePageItem(row, row.has_files)),
        runsOf: Effect.fnUntraced(function* (ids) {
          const rows = yield* Chunks.flatMap(ids, (some) =>
            query(
              Row({ process_run_id: id(ProcessRunId) }),
              sql`
                SELECT DISTINCT process_run_id FROM work_item
                WHERE ${sql.in("id", some)} AND process_run_id IS NOT NULL`
            )
          )
          return new Set(rows.map((row) => row.process_run_id))
        }),
        // Sorted, because all transactions lock items in this order.
        lockMany: (ids) =>
          Chunks.flatMap(ids.toSorted(), (some) =>
            query(
              stateRow,
              sql`SELECT ${stateRow.columns} FROM work_item WHERE ${sql.in("id", some)} ORDER BY id ${forUpdate}`,
              parseState
            )
          ),
        lock: (workspace, id) =>
          queryOne(
            itemRow,
            sql`SELECT ${itemRow.columns} FROM work_item WHERE workspace_id = ${workspace} AND id = ${id} ${forUpdate}`,
            (row) => parseItem(row)
          ),
        list: listed(summaryPage),
        listWhole: listed(wholePage),
        create: (workspace, process, payload) =>
          Effect.map(
            createOrFind(workspace, process, { payload, order: noOrder, reference: null }),
            ({ item }) => item
          ),
        createOrFind,
        createMany: (workspace, process, items) =>
          Effect.map(createOrFindMany(workspace, process, items), (all) =>
            all.map(({ created, id }) => ({ id, created }))
          ),
        countDue: Effect.gen(function* () {
          const at = yield* now
          const count = (due: "late" | "at_risk") =>
            Effect.map(
              queryOne(Row({ n: integer }), sql`SELECT count(*) AS n FROM work_item WHERE ${dueCondition(due, at)}`),
              (row) => row?.n ?? 0
            )
          return { late: yield* count("late"), atRisk: yield* count("at_risk") }
        }),
        // By an index alone: ids begin with the time at which they were made.
        createdBetween: Effect.fnUntraced(function* (workspace, times) {
          const starts = times.map(firstIdOf)
          const spans = starts.slice(1).map((to, n) => sql`(${starts[n] ?? to}, ${to})`)
          const states = workItemStates.map((state) => sql`(${state})`)
          const rows = yield* query(
            Row({ from: text, state: word<WorkItemState>(), n: integer }),
            sql`
              SELECT span.column1 AS "from", kind.column1 AS state, (
                SELECT count(*) FROM work_item
                WHERE workspace_id = ${workspace} AND state = kind.column1 AND id >= span.column1 AND id < span.column2
              ) AS n
              FROM (VALUES ${sql.csv(spans)}) AS span CROSS JOIN (VALUES ${sql.csv(states)}) AS kind`
          )
          const counts = new Map(rows.map(({ from, n, state }) => [`${from} ${state}`, n]))
          return starts.slice(0, -1).map((from) => {
            const of = (state: WorkItemState) => counts.get(`${from} ${state}`) ?? 0
            return {
              new: of("new"),
              pending: of("pending"),
              in_progress: of("in_progress"),
              done: of("done"),
              failed: of("failed")
            }
          })
        }),
        runOfLane: (workspace, id) =>
          queryOne(
            workItemTable.pick("process_run_id"),
            sql`
              SELECT process_run_id FROM work_item
              WHERE workspace_id = ${workspace} AND id = ${id} AND state = 'pending' AND lane IS NOT NULL`,
            (row) => row.process_run_id
          ),
        updatePayload: Effect.fnUntraced(function* (id, payload) {
          const rows = yield* sql`
            UPDATE work_item SET payload = ${payload}
            WHERE id = ${id} AND (state IN ('new', 'failed') OR (state = 'pending' AND step_run_id IS NULL))
            RETURNING id`
          return rows.length === 1
        }),
        remove: (ids) =>
          Effect.asVoid(Chunks.forEach(ids, (some) => sql`DELETE FROM work_item WHERE ${sql.in("id", some)}`)),
        someOf: (runs, limit) =>
          query(
            itemId,
            sql`SELECT id FROM work_item WHERE ${sql.in("process_run_id", runs)} LIMIT ${limit}`,
            (row) => row.id
          )
      })
    })
  )
}
