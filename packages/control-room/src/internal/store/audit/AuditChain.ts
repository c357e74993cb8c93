/**
 * The chain of the audit of each workspace, and that of the room. Changes write entries without a number, so that they wait for no lock; one tick numbers
 * what is committed, and links each entry to the one before. Entries are deleted from the front alone.
 */
import type { AuditHead } from "@signalbox/api/contract/Audit"
import * as Dialect from "@signalbox/sql/Dialect"
import { integer, nullable, query, queryOne, Row, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { linkOf, sealOf } from "../../vault/AuditMac.ts"
import { Database } from "../database/Database.ts"
import { AuditEntries, auditKey, entryOf, entryTable, type EntryRow, roomChain } from "./AuditEntries.ts"

export const chainTable = Table("audit_chain", { workspace_id: text, number: integer, mac: text })

/** Entries that are linked in one transaction. */
const linkedAtOnce = 200

/** The action of the entry that says which entries were deleted by their age. */
export const removalAction = "removeOldEntries"

export class AuditChain extends Context.Service<
  AuditChain,
  {
    /** Links all entries that are committed, of every chain that no other node links now. */
    readonly link: Effect.Effect<void>
    /** After a restore: an entry in each chain says from which backup, and after which number it goes on. */
    readonly noteRestore: Effect.Effect<void>
    /** The end of a chain. */
    readonly head: (workspace: string) => Effect.Effect<AuditHead>
    /**
     * Deletes up to `limit` entries that are older than `cutoff`, from the front of each chain, and returns how many; an entry says
     * which.
     */
    readonly removeBefore: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/AuditChain") {
  static readonly layer = Layer.effect(
    AuditChain,
    Effect.gen(function* () {
      const { sql, transaction } = yield* Database
      const { write } = yield* AuditEntries
      const key = yield* auditKey
      const workspaceRow = Row({ workspace_id: text })
      const numberRow = Row({ number: nullable(integer) })

      const headOf = (workspace: string) =>
        Effect.map(
          queryOne(chainTable, sql`SELECT ${chainTable.columns} FROM audit_chain WHERE workspace_id = ${workspace}`),
          (row): AuditHead => ({ number: row?.number ?? 0, mac: row === null || row.number === 0 ? null : row.mac })
        )

      /** The end of the chain, locked until the transaction ends; null while another node has it. */
      const locked = Effect.fnUntraced(function* (workspace: string) {
        const row = { workspace_id: workspace, number: 0, mac: "" }
        yield* sql`INSERT INTO audit_chain ${chainTable.insert(row)} ON CONFLICT DO NOTHING`
        return yield* queryOne(
          chainTable,
          sql`SELECT ${chainTable.columns} FROM audit_chain WHERE workspace_id = ${workspace}
            ${Dialect.skipLocked(sql, "audit_chain")}`
        )
      })

      const isOwn = (row: EntryRow) => row.mac === sealOf(key, row.workspace_id, entryOf(row))

      /** Links some entries of a chain, and returns how many waited. */
      const linkSome = Effect.fnUntraced(function* (workspace: string) {
        const head = yield* locked(workspace)
        if (head === null) return 0
        const rows = yield* query(
          entryTable,
          sql`SELECT ${entryTable.columns} FROM audit_entry
            WHERE workspace_id = ${workspace} AND number IS NULL AND mac IS NOT NULL ORDER BY id LIMIT ${linkedAtOnce}`
        )
        let { mac, number } = head
        for (const row of rows) {
          const one = sql`workspace_id = ${workspace} AND id = ${row.id}`
          if (!isOwn(row)) {
            // Something else has written it: it gets no place, and checks find it.
            yield* sql`UPDATE audit_entry SET mac = NULL WHERE ${one}`
            continue
          }
          const previous = number === 0 ? null : mac
          number++
          mac = linkOf(key, number, previous, row.mac ?? "")
          yield* sql`UPDATE audit_entry SET ${entryTable.update({ number, mac, previous_mac: previous })} WHERE ${one}`
        }
        if (number !== head.number) {
          yield* sql`UPDATE audit_chain SET ${chainTable.update({ number, mac })} WHERE workspace_id = ${workspace}`
        }
        return rows.length
      }, transaction)

      /** The oldest entries of a chain that are older than `cutoff`: the first and the last; null: none are. */
      const oldOf = Effect.fnUntraced(function* (workspace: string, cutoff: string, limit: number) {
        const ofChain = sql`workspace_id = ${workspace} AND number IS NOT NULL`
        const first = yield* queryOne(
          numberRow,
          sql`SELECT min(number) AS number FROM audit_entry WHERE ${ofChain}`,
          (row) => row.number
        )
        if (first === null) return null
        const some = sql`${ofChain} AND number < ${first + limit}`
        const kept = yield* queryOne(
          numberRow,
          sql`SELECT number FROM audit_entry WHERE ${some} AND created_at >= ${cutoff} ORDER BY number LIMIT 1`,
          (row) => row.number
        )
        const last = yield* queryOne(
          numberRow,
          sql`SELECT max(number) AS number FROM audit_entry WHERE ${some}`,
          (row) => row.number
        )
        const through = kept === null ? (last ?? 0) : kept - 1
        return through < first ? null : { through, count: through - first + 1 }
      })

      const removeOf = Effect.fnUntraced(function* (workspace: string, cutoff: string, limit: number) {
        if ((yield* locked(workspace)) === null) return 0
        const old = yield* oldOf(workspace, cutoff, limit)
        if (old === null) return 0
        const { count, through } = old
        yield* sql`DELETE FROM audit_entry WHERE workspace_id = ${workspace} AND number <= ${through}`
        yield* write({
          workspaceId: workspace,
          actor: { type: "system", id: null },
          action: removalAction,
          resource: { type: "audit", id: null, name: null },
          before: null,
          after: { through, count, older_than: cutoff }
        })
        return count
      }, transaction)

      const noteRestore = Effect.gen(function* () {
        const restores = yield* query(
          Row({ backup_created_at: text }),
          sql`DELETE FROM audit_restore RETURNING backup_created_at`
        )
        if (restores.length === 0) return
        const heads = yield* query(
          chainTable,
          sql`SELECT chain.id AS workspace_id, coalesce(number, 0) AS number, coalesce(mac, '') AS mac
            FROM (SELECT id FROM workspace UNION ALL SELECT ${roomChain}) AS chain
            LEFT JOIN audit_chain ON audit_chain.workspace_id = chain.id`
        )
        for (const { backup_created_at } of restores) {
          for (const { number, workspace_id: workspaceId } of heads) {
            yield* write({
              workspaceId,
              actor: { type: "command", id: null },
              action: "restoreBackup",
              resource: { type: "room", id: null, name: null },
              before: null,
              // What was linked after this number in the room of the backup is not in this one.
              after: { backup_created_at, continues_after: number }
            })
          }
        }
      }).pipe(transaction)

      return AuditChain.of({
        noteRestore,
        head: headOf,
        link: Effect.gen(function* () {
          const waiting = yield* query(
            workspaceRow,
            sql`SELECT DISTINCT workspace_id FROM audit_entry WHERE number IS NULL AND mac IS NOT NULL`,
            (row) => row.workspace_id
          )
          for (const workspace of waiting) {
            while ((yield* linkSome(workspace)) === linkedAtOnce) yield* Effect.yieldNow
          }
        }),
        removeBefore: Effect.fnUntraced(function* (cutoff, limit) {
          const chains = yield* query(
            workspaceRow,
            sql`SELECT workspace_id FROM audit_chain`,
            (row) => row.workspace_id
          )
          const counts = yield* Effect.forEach(chains, (workspace) => removeOf(workspace, cutoff, limit))
          return Math.max(0, ...counts)
        })
      })
    })
  )
}
