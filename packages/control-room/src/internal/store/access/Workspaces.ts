/**
 * Workspaces.
 */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Workspace } from "@signalbox/api/contract/Workspaces"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, queryOne, Row, Table, text } from "@signalbox/sql/Table"

const workspaceTable = Table("workspace", {
  id: id(WorkspaceId),
  name: text,
  organization_id: text,
  organization_name: text,
  created_at: text
})

const view = (row: typeof workspaceTable.Type): Workspace => ({
  id: row.id,
  name: row.name,
  organization: { id: row.organization_id, name: row.organization_name }
})

export class Workspaces extends Context.Service<
  Workspaces,
  {
    readonly get: (id: WorkspaceId) => Effect.Effect<Workspace | null>
    /** The workspace with this id, else the oldest with this name; null: there is none. */
    readonly named: (name: string) => Effect.Effect<Workspace | null>
    /** The oldest workspace, null in an empty database. */
    readonly first: Effect.Effect<Workspace | null>
    /** Returns the oldest workspace; the first caller creates it with this name. */
    readonly firstOr: (name: string) => Effect.Effect<Workspace>
    /** Without an organization, creates one of the same name. */
    readonly create: (name: string, organization?: Workspace["organization"]) => Effect.Effect<Workspace>
    /** Whether members with a password need a second factor. */
    readonly requiresSecondFactor: (id: WorkspaceId) => Effect.Effect<boolean>
    readonly setRequiresSecondFactor: (id: WorkspaceId, required: boolean) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const { newId, now, sql, transaction } = yield* Database
      const select = sql`SELECT ${workspaceTable.columns} FROM workspace`
      const first = queryOne(workspaceTable, sql`${select} ORDER BY id LIMIT 1`, view)
      const create = Effect.fnUntraced(function* (name: string, organization?: Workspace["organization"]) {
        const row = {
          id: WorkspaceId.make(yield* newId),
          name,
          organization_id: organization?.id ?? (yield* newId),
          organization_name: organization?.name ?? name,
          created_at: yield* now
        }
        yield* sql`INSERT INTO workspace ${workspaceTable.insert(row)}`
        return view(row)
      })
      return Workspaces.of({
        get: (id) => queryOne(workspaceTable, sql`${select} WHERE id = ${id}`, view),
        named: (name) =>
          queryOne(
            workspaceTable,
            sql`
              ${select} WHERE id = ${name} OR name = ${name}
              ORDER BY CASE WHEN id = ${name} THEN 0 ELSE 1 END, id LIMIT 1`,
            view
          ),
        first,
        firstOr: Effect.fnUntraced(function* (name) {
          yield* Dialect.lockName(sql, "first workspace")
          return (yield* first) ?? (yield* create(name))
        }, transaction),
        create,
        requiresSecondFactor: (id) =>
          Effect.map(
            queryOne(
              Row({ second_factor_required: flag }),
              sql`SELECT second_factor_required FROM workspace WHERE id = ${id}`
            ),
            (row) => row?.second_factor_required ?? false
          ),
        setRequiresSecondFactor: (id, required) =>
          Effect.asVoid(sql`UPDATE workspace SET second_factor_required = ${required ? 1 : 0} WHERE id = ${id}`)
      })
    })
  )
}
