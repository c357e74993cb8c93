/**
 * Assistants and their runs.
 */
import type { AssistantRun, AssistantRunErrorCode, AssistantRunState } from "@signalbox/api/contract/AssistantRuns"
import type { Assistant } from "@signalbox/api/contract/Assistants"
import { AssistantId, AssistantRunId, TaskPackageId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import * as Tokens from "../../vault/Tokens.ts"
import { Refused } from "../../engine/Refused.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, nullable, queryOne, Table, text, word } from "@signalbox/sql/Table"
import { secondsBetween } from "../runs/ProcessRuns.ts"

/** The interval of heartbeats of the machine that runs an assistant, in seconds. */
export const heartbeatSeconds = 10
/** After this many milliseconds without a heartbeat, three intervals, its run has failed. */
export const silentAfter = 3 * heartbeatSeconds * 1000

const assistantTable = Table("assistant", {
  id: id(AssistantId),
  workspace_id: id(WorkspaceId),
  name: text,
  task_name: text,
  package_id: id(TaskPackageId),
  created_at: text
})
const assistantRow = assistantTable.pick("id", "name", "task_name", "package_id", "created_at")

const runTable = Table("assistant_run", {
  id: id(AssistantRunId),
  workspace_id: id(WorkspaceId),
  assistant_id: id(AssistantId),
  assistant_name: text,
  package_version: nullable(integer),
  state: word<AssistantRunState>(),
  error_code: nullable(word<AssistantRunErrorCode>()),
  started_at: text,
  ended_at: nullable(text),
  last_seen_at: text,
  run_token_hash: text
})
type RunRow = typeof runTable.Type

/** A run with what authentication of its token needs. */
export interface StoredAssistantRun {
  readonly id: AssistantRunId
  readonly workspaceId: WorkspaceId
  readonly state: AssistantRunState
  readonly runTokenHash: string
}

const view = (row: typeof assistantRow.Type): Assistant => ({
  id: row.id,
  name: row.name,
  task: { name: row.task_name, package_id: row.package_id },
  created_at: row.created_at
})

const viewRun = (row: RunRow): AssistantRun => ({
  id: row.id,
  state: row.state,
  error: row.error_code === null ? null : { code: row.error_code },
  started_at: row.started_at,
  ended_at: row.ended_at,
  duration: secondsBetween(row.started_at, row.ended_at),
  assistant: { id: row.assistant_id, name: row.assistant_name }
})

const ended = (row: RunRow) =>
  new Refused({
    code: "CONFLICT",
    message: `the assistant run is ${row.state}${row.error_code === null ? "" : ` (${row.error_code})`}; stop its task`
  })

export class Assistants extends Context.Service<
  Assistants,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<Assistant | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<Assistant>>
    /** Refused when the package does not exist, or the name is in use. */
    readonly create: (
      workspace: WorkspaceId,
      name: string,
      task: Assistant["task"]
    ) => Effect.Effect<Assistant, Refused>
    readonly getRun: (workspace: WorkspaceId, id: string) => Effect.Effect<AssistantRun | null>
    readonly listRuns: (
      workspace: WorkspaceId,
      assistant: string | null,
      page: PageRequest
    ) => Effect.Effect<Rows<AssistantRun>>
    /** Creates a run in progress with a version of the package; the text of its token is returned only here. */
    readonly start: (
      workspace: WorkspaceId,
      assistant: Assistant,
      version: number
    ) => Effect.Effect<{ readonly id: AssistantRunId; readonly token: string }>
    readonly findRun: (id: string) => Effect.Effect<StoredAssistantRun | null>
    /** Records a heartbeat. Null when the run does not exist; refused when it has ended. */
    readonly seen: (workspace: WorkspaceId, id: string) => Effect.Effect<AssistantRun | null, Refused>
    /** Ends a run; null when it does not exist, refused when it has ended differently. */
    readonly complete: (
      workspace: WorkspaceId,
      id: string,
      error: AssistantRunErrorCode | null
    ) => Effect.Effect<AssistantRun | null, Refused>
    /** Deletes some runs that ended before `cutoff`, the oldest first, and returns how many. */
    readonly removeEndedBefore: (cutoff: string, limit: number) => Effect.Effect<number>
    /** Fails the runs whose last heartbeat was before `cutoff`. */
    readonly failSilent: (cutoff: string) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Assistants") {
  static readonly layer = Layer.effect(
    Assistants,
    Effect.gen(function* () {
      const { below, newId, now, nullWhenTaken, page, sql, transaction } = yield* Database
      const select = sql`SELECT ${assistantRow.columns} FROM assistant`
      const selectRun = sql`SELECT ${runTable.columns} FROM assistant_run`
      const find = (workspace: WorkspaceId, id: string) =>
        queryOne(runTable, sql`${selectRun} WHERE workspace_id = ${workspace} AND id = ${id}`)
      const insert = Effect.fnUntraced(function* (workspace: WorkspaceId, name: string, task: Assistant["task"]) {
        const row = {
          id: AssistantId.make(yield* newId),
          workspace_id: workspace,
          name,
          task_name: task.name,
          package_id: task.package_id,
          created_at: yield* now
        }
        yield* sql`INSERT INTO assistant ${assistantTable.insert(row)}`
        return view(row)
      }, nullWhenTaken)
      return Assistants.of({
        get: (workspace, id) =>
          queryOne(assistantRow, sql`${select} WHERE workspace_id = ${workspace} AND id = ${id}`, view),
        list: (workspace, request) =>
          page({ rows: assistantRow, select, as: view }, [sql`workspace_id = ${workspace}`], "newest first", request),
        create: Effect.fnUntraced(function* (workspace, name, task) {
          const found =
            yield* sql`SELECT id FROM task_package WHERE workspace_id = ${workspace} AND id = ${task.package_id}`
          if (found.length === 0) {
            return yield* new Refused({
              code: "NOT_FOUND",
              message: `task.package_id: this workspace has no task package ${task.package_id}`
            })
          }
          const created = yield* insert(workspace, name, task)
          return (
            created ??
            (yield* new Refused({
              code: "CONFLICT",
              message: `name: an assistant "${name}" already exists; choose another name`
            }))
          )
        }, transaction),
        getRun: (workspace, id) => Effect.map(find(workspace, id), (row) => (row === null ? null : viewRun(row))),
        listRuns: (workspace, assistant, request) => {
          const runs = (condition: Fragment) =>
            page({ rows: runTable, select: selectRun, as: viewRun }, [condition], "newest first", request)
          if (assistant === null) return runs(sql`workspace_id = ${workspace}`)
          const known = sql`SELECT id FROM assistant WHERE id = ${assistant} AND workspace_id = ${workspace}`
          return below(known, runs(sql`assistant_id = ${assistant}`))
        },
        start: Effect.fnUntraced(function* (workspace, assistant, version) {
          const id = AssistantRunId.make(yield* newId)
          const at = yield* now
          const { hash, token } = Tokens.make("assistantRun", id)
          yield* sql`INSERT INTO assistant_run ${runTable.insert({
            id,
            workspace_id: workspace,
            assistant_id: assistant.id,
            assistant_name: assistant.name,
            package_version: version,
            state: "in_progress",
            started_at: at,
            last_seen_at: at,
            run_token_hash: hash
          })}`
          return { id, token }
        }),
        findRun: (id) =>
          queryOne(runTable, sql`${selectRun} WHERE id = ${id}`, (row) => ({
            id: row.id,
            workspaceId: row.workspace_id,
            state: row.state,
            runTokenHash: row.run_token_hash
          })),
        seen: Effect.fnUntraced(function* (workspace, id) {
          yield* sql`UPDATE assistant_run SET last_seen_at = ${yield* now}
              WHERE workspace_id = ${workspace} AND id = ${id} AND state = 'in_progress'`
          const row = yield* find(workspace, id)
          if (row === null) return null
          return row.state === "in_progress" ? viewRun(row) : yield* ended(row)
        }, transaction),
        complete: Effect.fnUntraced(function* (workspace, id, error) {
          const state = error === null ? "completed" : "failed"
          yield* sql`UPDATE assistant_run SET ${sql.update({ state, error_code: error, ended_at: yield* now })}
              WHERE workspace_id = ${workspace} AND id = ${id} AND state = 'in_progress'`
          const row = yield* find(workspace, id)
          if (row === null) return null
          return row.state === state && row.error_code === error ? viewRun(row) : yield* ended(row)
        }, transaction),
        removeEndedBefore: (cutoff, limit) =>
          Effect.map(
            sql`
              DELETE FROM assistant_run WHERE id IN (
                SELECT id FROM assistant_run WHERE ended_at < ${cutoff}
                ORDER BY ended_at LIMIT ${limit} ${Dialect.skipLocked(sql, "assistant_run")})
              RETURNING id`,
            (rows) => rows.length
          ),
        failSilent: Effect.fnUntraced(function* (cutoff) {
          yield* sql`UPDATE assistant_run SET ${sql.update({
            state: "failed",
            error_code: "UNKNOWN",
            ended_at: yield* now
          })} WHERE state = 'in_progress' AND last_seen_at < ${cutoff}`
        })
      })
    })
  )
}
