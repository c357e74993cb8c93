/** Bulk operations as jobs: claimed by one node at a time, with their position and progress. */
import type { BulkFilter, BulkOperation, BulkOperationName, BulkRefusal } from "@signalbox/api/contract/BulkOperations"
import { BulkOperationId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, json, nullable, queryOne, Table, text, word } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import type { Target } from "./BulkTargets.ts"

/** After this time without a chunk, another node takes a job over. */
export const claimTime = Duration.seconds(30)

/** A job rests for this long after a chunk that failed. */
const retryPause = Duration.seconds(1)

const operationTable = Table("bulk_operation", {
  id: id(BulkOperationId),
  workspace_id: id(WorkspaceId),
  operation: word<BulkOperationName>(),
  filter: json<BulkFilter>(),
  state: word<"waiting" | "in_progress" | "completed" | "cancelled">(),
  created_at: text,
  updated_at: text,
  ended_at: nullable(text),
  total: integer,
  done: integer,
  refused: integer,
  refusals: json<ReadonlyArray<BulkRefusal>>(),
  position: text,
  claim: nullable(text),
  claimed_until: nullable(text),
  attempts: integer,
  singles: integer
})
type OperationRow = typeof operationTable.Type

/** A job that this node may continue. */
export interface ClaimedOperation extends Target {
  readonly claim: string
  /** The id up to which it has come. */
  readonly position: string
  readonly done: number
  readonly refusals: ReadonlyArray<BulkRefusal>
  readonly refused: number
  /** How often its next chunk was begun, with this time. */
  readonly attempts: number
  /** How many targets are still taken one at a time. */
  readonly singles: number
}

/** What a chunk adds to a job. */
export interface Progress {
  readonly done: number
  readonly refused: number
  readonly refusals: ReadonlyArray<BulkRefusal>
  /** Null: its end is reached. */
  readonly position: string | null
  readonly singles: number
}

const parse = (row: OperationRow): BulkOperation => ({
  id: row.id,
  operation: row.operation,
  filter: row.filter,
  state: row.state,
  created_at: row.created_at,
  updated_at: row.updated_at,
  ended_at: row.ended_at,
  total: row.total,
  done: row.done,
  refused: row.refused,
  skipped: row.ended_at === null ? null : Math.max(0, row.total - row.done - row.refused),
  refusals: row.refusals
})

const parseClaimed = (row: OperationRow, claim: string): ClaimedOperation => ({
  id: row.id,
  workspaceId: row.workspace_id,
  operation: row.operation,
  filter: row.filter,
  createdAt: row.created_at,
  claim,
  position: row.position,
  done: row.done,
  refused: row.refused,
  refusals: row.refusals,
  attempts: row.attempts,
  singles: row.singles
})

export class BulkOperations extends Context.Service<
  BulkOperations,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<BulkOperation | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<BulkOperation>>
    readonly create: (target: Target, total: number) => Effect.Effect<BulkOperation>
    /** False when it has ended. */
    readonly cancel: (workspace: WorkspaceId, id: BulkOperationId) => Effect.Effect<boolean>
    /** Claims the job that has waited longest for its turn, for one more attempt at its next chunk; null when none waits. */
    readonly claim: Effect.Effect<ClaimedOperation | null>
    /** The claimed job, locked until the transaction ends; null when it was cancelled, or another node has it. */
    readonly lock: (claimed: ClaimedOperation) => Effect.Effect<ClaimedOperation | null>
    /** Writes the progress of a locked job, and renews its claim. */
    readonly record: (claimed: ClaimedOperation, progress: Progress) => Effect.Effect<void>
    /** Ends the claim before another attempt was made, so that any node continues. */
    readonly release: (claimed: ClaimedOperation) => Effect.Effect<void>
    /** Ends the claim of an attempt that failed after a pause; `counted`: whether because of the job. */
    readonly retry: (claimed: ClaimedOperation, counted: boolean) => Effect.Effect<void>
    /** Ends all claims: where they can only be those of a process that has ended. */
    readonly releaseAll: Effect.Effect<void>
    /** Deletes jobs that ended before `cutoff`, and returns how many. */
    readonly sweep: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/BulkOperations") {
  static readonly layer = Layer.effect(
    BulkOperations,
    Effect.gen(function* () {
      const { millis, newId, now, page, sql } = yield* Database
      const select = sql`SELECT ${operationTable.columns} FROM bulk_operation`
      const forUpdate = Dialect.forUpdate(sql)
      const skipLocked = Dialect.skipLocked(sql, "bulk_operation")
      const open = sql.literal("state IN ('waiting', 'in_progress')")
      const inTime = (duration: Duration.Duration) =>
        Effect.map(millis, (time) => new Date(time + Duration.toMillis(duration)).toISOString())
      const claimEnd = inTime(claimTime)
      const givenBack = sql.literal("CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END")
      const one = (workspace: WorkspaceId, id: string) => sql`workspace_id = ${workspace} AND id = ${id}`

      return BulkOperations.of({
        get: (workspace, id) => queryOne(operationTable, sql`${select} WHERE ${one(workspace, id)}`, parse),
        list: (workspace, request) =>
          page(
            { rows: operationTable, select, as: parse },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* ({ createdAt, filter, id, operation, workspaceId }, total) {
          const row = {
            workspace_id: workspaceId,
            id,
            operation,
            filter,
            state: "waiting" as const,
            created_at: createdAt,
            updated_at: createdAt,
            total
          }
          yield* sql`INSERT INTO bulk_operation ${operationTable.insert(row)}`
          return parse({
            ...row,
            ended_at: null,
            done: 0,
            refused: 0,
            refusals: [],
            position: "",
            claim: null,
            claimed_until: null,
            attempts: 0,
            singles: 0
          })
        }),
        cancel: Effect.fnUntraced(function* (workspace, id) {
          const at = yield* now
          const rows = yield* sql`
            UPDATE bulk_operation SET state = 'cancelled', ended_at = ${at}, updated_at = ${at}, claim = NULL
            WHERE ${one(workspace, id)} AND ${open} RETURNING id`
          return rows.length === 1
        }),
        claim: Effect.gen(function* () {
          const claim = yield* newId
          return yield* queryOne(
            operationTable,
            sql`
              UPDATE bulk_operation SET state = 'in_progress', attempts = attempts + 1, claim = ${claim},
                claimed_until = ${yield* claimEnd}
              WHERE (workspace_id, id) IN (
                SELECT workspace_id, id FROM bulk_operation
                WHERE ${open} AND (claim IS NULL OR claimed_until < ${yield* now})
                ORDER BY updated_at, id LIMIT 1 ${skipLocked})
              RETURNING ${operationTable.columns}`,
            (row) => parseClaimed(row, claim)
          )
        }),
        lock: ({ claim, id, workspaceId }) =>
          queryOne(
            operationTable,
            sql`
              ${select}
              WHERE ${one(workspaceId, id)} AND state = 'in_progress' AND claim = ${claim} ${forUpdate}`,
            (row) => parseClaimed(row, claim)
          ),
        record: Effect.fnUntraced(function* (claimed, { done, position, refusals, refused, singles }) {
          const at = yield* now
          const changed = {
            updated_at: at,
            done: claimed.done + done,
            refused: claimed.refused + refused,
            refusals,
            attempts: 1,
            singles,
            ...(position === null
              ? { state: "completed" as const, ended_at: at, claim: null, claimed_until: null }
              : { position, claimed_until: yield* claimEnd })
          }
          yield* sql`UPDATE bulk_operation SET ${operationTable.update(changed)} WHERE ${one(claimed.workspaceId, claimed.id)}`
        }),
        release: Effect.fnUntraced(function* ({ claim, id, workspaceId }) {
          yield* sql`
            UPDATE bulk_operation SET claim = NULL, claimed_until = NULL, updated_at = ${yield* now},
              attempts = ${givenBack}
            WHERE ${one(workspaceId, id)} AND claim = ${claim}`
        }),
        retry: Effect.fnUntraced(function* ({ claim, id, workspaceId }, counted) {
          yield* sql`
            UPDATE bulk_operation SET claimed_until = ${yield* inTime(retryPause)}, updated_at = ${yield* now},
              attempts = ${counted ? sql.literal("attempts") : givenBack}
            WHERE ${one(workspaceId, id)} AND claim = ${claim}`
        }),
        releaseAll: Effect.asVoid(sql`UPDATE bulk_operation SET claim = NULL, claimed_until = NULL WHERE ${open}`),
        sweep: Effect.fnUntraced(function* (cutoff, limit) {
          const rows = yield* sql`
            DELETE FROM bulk_operation WHERE (workspace_id, id) IN (
              SELECT workspace_id, id FROM bulk_operation WHERE ended_at IS NOT NULL AND ended_at < ${cutoff}
              ORDER BY ended_at LIMIT ${limit} ${skipLocked})
            RETURNING id`
          return rows.length
        })
      })
    })
  )
}
