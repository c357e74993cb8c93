/** The queries of a check of the audit. Read-only, so it needs no key. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { query, queryOne, Row, text } from "@signalbox/sql/Table"
import { Database } from "../database/Database.ts"
import { newestOf } from "../database/Migrations.ts"
import { chainTable, removalAction } from "./AuditChain.ts"
import { entryOf, entryTable, type EntryRow } from "./AuditEntries.ts"

/** The end of a chain, as it is stored outside of the room. */
export interface ChainHead {
  /** The workspace, or `room`. */
  readonly workspace_id: string
  readonly number: number
  readonly mac: string
}

/** The migration that made the tables. */
const madeBy = 54

const parsed = (row: EntryRow) => ({ entry: entryOf(row), mac: row.mac })
export type ReadEntry = ReturnType<typeof parsed>

export class AuditReading extends Context.Service<
  AuditReading,
  {
    /** The ends of all chains; empty in a room of a version without an audit. */
    readonly heads: Effect.Effect<ReadonlyArray<ChainHead>>
    /** The linked entries of a chain after this number, in their order. */
    readonly linked: (workspace: string, after: number, limit: number) => Effect.Effect<ReadonlyArray<ReadEntry>>
    /** The entry with this number. */
    readonly at: (workspace: string, number: number) => Effect.Effect<ReadEntry | null>
    /** Entries without a place in their chain, the oldest first. */
    readonly unlinked: (workspace: string, limit: number) => Effect.Effect<ReadonlyArray<ReadEntry>>
    /** Entries that say which were deleted by their age, the newest first. */
    readonly removals: (workspace: string, limit: number) => Effect.Effect<ReadonlyArray<ReadEntry>>
  }
>()("@signalbox/control-room/store/AuditReading") {
  static readonly layer = Layer.effect(
    AuditReading,
    Effect.gen(function* () {
      const { sql } = yield* Database
      const select = sql`SELECT ${entryTable.columns} FROM audit_entry`
      const workspaceRow = Row({ workspace_id: text })
      return AuditReading.of({
        heads: Effect.gen(function* () {
          const newest = yield* newestOf(sql)
          if (newest === null || newest[0] < madeBy) return []
          const heads = yield* query(
            chainTable,
            sql`SELECT ${chainTable.columns} FROM audit_chain ORDER BY workspace_id`
          )
          const known = new Set(heads.map(({ workspace_id }) => workspace_id))
          const all = yield* query(workspaceRow, sql`SELECT DISTINCT workspace_id FROM audit_entry`)
          // Of a chain whose end is gone, or whose first entries wait for the tick.
          const others = all.filter(({ workspace_id }) => !known.has(workspace_id))
          return [...heads, ...others.map((row) => ({ ...row, number: 0, mac: "" }))]
        }),
        linked: (workspace, after, limit) =>
          query(
            entryTable,
            sql`${select} WHERE workspace_id = ${workspace} AND number > ${after} ORDER BY number LIMIT ${limit}`,
            parsed
          ),
        at: (workspace, number) =>
          queryOne(entryTable, sql`${select} WHERE workspace_id = ${workspace} AND number = ${number}`, parsed),
        unlinked: (workspace, limit) =>
          query(
            entryTable,
            sql`${select} WHERE workspace_id = ${workspace} AND number IS NULL ORDER BY id LIMIT ${limit}`,
            parsed
          ),
        removals: (workspace, limit) =>
          query(
            entryTable,
            sql`${select} WHERE workspace_id = ${workspace} AND action = ${removalAction} ORDER BY id DESC LIMIT ${limit}`,
            parsed
          )
      })
    })
  )
}
