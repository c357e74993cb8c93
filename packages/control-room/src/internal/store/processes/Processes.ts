/**
 * Processes and their definitions.
 */
import { ProcessId, StepId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Process, ProcessDefinition, ProcessSummary } from "@signalbox/api/contract/Processes"
import { defined } from "@signalbox/transport/Defined"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ProcessLimits } from "../../engine/Limits.ts"
import type { RunStep } from "../../engine/State.ts"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { pausedColumn, selectPaused } from "./Pauses.ts"
import * as ProcessSteps from "./ProcessSteps.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { converted, flag, id, integer, json, nullable, query, queryOne, Row, Table, text } from "@signalbox/sql/Table"
import { createHash } from "node:crypto"

/** Only what the contract has decoded is stored. */
const defaultWorkItemOf = (text: string) => ExactJson.parse(text) as NonNullable<ProcessDefinition["default_work_item"]>

const processTable = Table("process", {
  id: id(ProcessId),
  workspace_id: id(WorkspaceId),
  name: text,
  description: nullable(text),
  created_at: text,
  steps: json<ReadonlyArray<RunStep>>(),
  default_work_item: nullable(converted(defaultWorkItemOf, JSON.stringify)),
  input_schema: nullable(text),
  check_payloads: flag,
  forward_done_items: flag,
  pause_after_failures: nullable(integer),
  limits: nullable(json<ProcessLimits>()),
  sensitive: nullable(json<ReadonlyArray<string>>()),
  sensitive_files: flag
})
type ProcessRow = typeof processTable.Type

const secrecyRow = processTable.pick("id", "input_schema", "sensitive", "sensitive_files")
const summaryRow = processTable.pick("id", "name", "created_at").and(pausedColumn)

/** What a process says of secret fields. */
export interface StoredSecrecy {
  /** As text, by which what follows from it is cached. */
  readonly inputSchema: string | null
  readonly sensitive: ReadonlyArray<string>
  /** Whether files, console lines and artifacts are secret too, if a field is. */
  readonly sensitiveFiles: boolean
}

/** A process as stored. */
export interface StoredProcess extends StoredSecrecy {
  readonly view: Process
  readonly steps: ReadonlyArray<RunStep>
  readonly defaultWorkItem: ProcessDefinition["default_work_item"] | null
  readonly checkPayloads: boolean
  /** For steps that do not say otherwise. */
  readonly forwardDoneItems: boolean
  readonly pauseAfterFailures: number | null
  /** Of all its steps together; null: none. */
  readonly limits: ProcessLimits | null
}

/** A digest of the definition: another one after a change, the same again when that is taken back. */
export const revisionOf = (process: StoredProcess): string => {
  const { checkPayloads, defaultWorkItem, forwardDoneItems, inputSchema, steps, view } = process
  const { description, name } = view
  const definition: Array<unknown> = [name, description, steps, defaultWorkItem ?? null]
  definition.push(inputSchema, checkPayloads, forwardDoneItems)
  // Definitions from before keep their revision.
  if (process.pauseAfterFailures !== null) definition.push(process.pauseAfterFailures)
  if (process.limits !== null) definition.push(process.limits)
  if (process.sensitive.length > 0) definition.push({ sensitive: process.sensitive })
  if (!process.sensitiveFiles) definition.push({ sensitive_files: false })
  return createHash("sha256").update(JSON.stringify(definition)).digest("hex")
}

const parse = ({ steps, ...row }: ProcessRow): StoredProcess => ({
  view: {
    id: row.id,
    name: row.name,
    description: row.description,
    created_at: row.created_at,
    steps: steps.map(({ id, name }) => ({ id, name, paused: null })),
    paused: null
  },
  steps,
  defaultWorkItem: row.default_work_item,
  inputSchema: row.input_schema,
  checkPayloads: row.check_payloads,
  forwardDoneItems: row.forward_done_items,
  pauseAfterFailures: row.pause_after_failures,
  limits: row.limits,
  sensitive: row.sensitive ?? [],
  sensitiveFiles: row.sensitive_files
})

/** What a definition says of its payloads, as it is stored. */
export const inputOf = ({ check_payloads, input_schema, sensitive = [], sensitive_files }: ProcessDefinition) => ({
  inputSchema: input_schema === undefined || input_schema === null ? null : JSON.stringify(input_schema),
  checkPayloads: check_payloads === true,
  sensitive: [...new Set(sensitive)],
  sensitiveFiles: sensitive_files !== false
})

const limitsOf = ({ concurrency, rate }: ProcessDefinition): ProcessLimits | null =>
  concurrency === undefined && rate === undefined ? null : defined({ concurrency, rate })

export class Processes extends Context.Service<
  Processes,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredProcess | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<ProcessSummary>>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, definition: ProcessDefinition) => Effect.Effect<StoredProcess | null>
    /** Null when the name is in use. A step whose name does not change keeps its id. */
    readonly update: (
      workspace: WorkspaceId,
      existing: StoredProcess,
      definition: ProcessDefinition
    ) => Effect.Effect<StoredProcess | null>
    /** Like `get`; until the transaction ends, no other transaction deletes it or, with `update`, uses it. */
    readonly lock: (workspace: WorkspaceId, id: string, how: "share" | "update") => Effect.Effect<StoredProcess | null>
    /** What those of these processes say of secret fields that may have any, also deleted ones. */
    readonly secrecyOf: (ids: ReadonlyArray<ProcessId>) => Effect.Effect<ReadonlyMap<ProcessId, StoredSecrecy>>
    /** The processes of a workspace that may have secret fields, also deleted ones. */
    readonly maybeSecret: (workspace: WorkspaceId) => Effect.Effect<ReadonlyArray<ProcessId>>
    /** How many live runs and waiting items it has. */
    readonly inUse: (id: ProcessId) => Effect.Effect<{ readonly live: number; readonly waiting: number }>
    /** Marks it as deleted: for readers it no longer exists, and its name can be used again. */
    readonly markDeleted: (id: ProcessId) => Effect.Effect<void>
    /** Processes marked as deleted that still have their row. */
    readonly deleted: Effect.Effect<ReadonlyArray<ProcessId>>
    /** Deletes a process, unless it still has runs. */
    readonly remove: (id: ProcessId) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Processes") {
  static readonly layer = Layer.effect(
    Processes,
    Effect.gen(function* () {
      const { newId, now, nullWhenTaken, page, sql } = yield* Database
      const columns = Effect.fnUntraced(function* (definition: ProcessDefinition, known: ReadonlyArray<RunStep>) {
        const steps: Array<RunStep> = []
        for (const step of definition.steps) {
          const id = known.find((other) => other.name === step.name)?.id ?? StepId.make(yield* newId)
          steps.push({ ...step, id })
        }
        const { checkPayloads, inputSchema, sensitive, sensitiveFiles } = inputOf(definition)
        return {
          name: definition.name,
          description: definition.description ?? null,
          steps,
          default_work_item: definition.default_work_item ?? null,
          input_schema: inputSchema,
          check_payloads: checkPayloads,
          forward_done_items: definition.forward_done_items === true,
          pause_after_failures: definition.pause_after_failures ?? null,
          limits: limitsOf(definition),
          sensitive: sensitive.length === 0 ? null : sensitive,
          sensitive_files: sensitiveFiles
        }
      })
      const select = sql`SELECT ${processTable.columns} FROM process`
      // As `JSON.stringify` writes it.
      const mayBeSecret = sql.literal(
        `(sensitive IS NOT NULL OR input_schema LIKE '%"x-secret":true%' OR input_schema LIKE '%"writeOnly":true%')`
      )
      const locks = { share: Dialect.forShare(sql), update: Dialect.forUpdate(sql) }
      return Processes.of({
        get: (workspace, id) =>
          queryOne(
            processTable,
            sql`${select} WHERE workspace_id = ${workspace} AND id = ${id} AND deleted_at IS NULL`,
            parse
          ),
        list: (workspace, request) =>
          page(
            {
              rows: summaryRow,
              select: sql`SELECT id, name, created_at, ${sql.literal(selectPaused("process"))} FROM process`
            },
            [sql`workspace_id = ${workspace}`, sql`deleted_at IS NULL`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (workspace, definition) {
          const row: ProcessRow = {
            id: ProcessId.make(yield* newId),
            workspace_id: workspace,
            created_at: yield* now,
            ...(yield* columns(definition, []))
          }
          yield* sql`INSERT INTO process ${processTable.insert(row)}`
          const created = parse(row)
          yield* ProcessSteps.insert(sql, created.view.id, null, created.steps)
          return created
        }, nullWhenTaken),
        update: Effect.fnUntraced(function* (workspace, existing, definition) {
          const changed = yield* columns(definition, existing.steps)
          const { created_at, id } = existing.view
          yield* sql`UPDATE process SET ${processTable.update(changed)} WHERE id = ${id}`
          const updated = parse({ id, workspace_id: workspace, created_at, ...changed })
          yield* ProcessSteps.replace(sql, updated.view.id, updated.steps)
          return updated
        }, nullWhenTaken),
        lock: (workspace, id, how) =>
          queryOne(
            processTable,
            sql`${select} WHERE workspace_id = ${workspace} AND id = ${id} AND deleted_at IS NULL
              ${locks[how]}`,
            parse
          ),
        secrecyOf: Effect.fnUntraced(function* (ids) {
          const rows = yield* Chunks.flatMap(ids, (some) =>
            query(
              secrecyRow,
              sql`
                SELECT ${secrecyRow.columns} FROM process
                WHERE ${sql.in("id", some)} AND ${mayBeSecret}`
            )
          )
          return new Map(
            rows.map(({ id, input_schema, sensitive, sensitive_files }): readonly [ProcessId, StoredSecrecy] => [
              id,
              { inputSchema: input_schema, sensitive: sensitive ?? [], sensitiveFiles: sensitive_files }
            ])
          )
        }),
        maybeSecret: (workspace) =>
          query(
            processTable.pick("id"),
            sql`SELECT id FROM process WHERE workspace_id = ${workspace} AND ${mayBeSecret}`,
            (row) => row.id
          ),
        inUse: Effect.fnUntraced(function* (id) {
          const runs = yield* queryOne(
            Row({ n: integer }),
            sql`
              SELECT count(*) AS n FROM process_run
              WHERE process_id = ${id} AND state IN ('new', 'in_progress', 'stopping')`
          )
          const items = yield* queryOne(
            Row({ n: integer }),
            sql`SELECT count(*) AS n FROM work_item WHERE process_id = ${id} AND state = 'new'`
          )
          return { live: runs?.n ?? 0, waiting: items?.n ?? 0 }
        }),
        markDeleted: Effect.fnUntraced(function* (id) {
          yield* sql`UPDATE process SET ${sql.update({ deleted_at: yield* now, name: `deleted ${id}` })} WHERE id = ${id}`
          for (const table of ["pause", "failure_streak"]) {
            yield* sql`
              DELETE FROM ${sql(table)} WHERE subject_id = ${id}
                AND workspace_id = (SELECT workspace_id FROM process WHERE id = ${id})`
          }
        }),
        deleted: query(
          processTable.pick("id"),
          sql`SELECT id FROM process WHERE deleted_at IS NOT NULL ORDER BY deleted_at`,
          (row) => row.id
        ),
        remove: (id) =>
          sql`
            DELETE FROM process WHERE id = ${id}
              AND NOT EXISTS (SELECT 1 FROM process_run WHERE process_run.process_id = process.id)`
      })
    })
  )
}
