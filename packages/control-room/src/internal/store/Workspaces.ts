/**
 * Workspaces.
 */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Workspace } from "@signalbox/api/contract/Workspaces"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "./Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"

interface WorkspaceRow {
  readonly id: string
  readonly name: string
  readonly organization_id: string
  readonly organization_name: string
}

export class Workspaces extends Context.Service<
  Workspaces,
  {
    readonly get: (id: WorkspaceId) => Effect.Effect<Workspace | null>
    /** The oldest workspace, null in an empty database. */
    readonly first: Effect.Effect<Workspace | null>
    /** Returns the oldest workspace; the first caller creates it with this name. */
    readonly firstOr: (name: string) => Effect.Effect<Workspace>
    /** Without an organization, creates one of the same name. */
    readonly create: (name: string, organization?: Workspace["organization"]) => Effect.Effect<Workspace>
  }
>()("@signalbox/control-room/store/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const { newId, now, sql, transaction } = yield* Database
      const view = (row: WorkspaceRow): Workspace => ({
        id: WorkspaceId.make(row.id),
        name: row.name,
        organization: { id: row.organization_id, name: row.organization_name }
      })
      const one = (rows: ReadonlyArray<WorkspaceRow>) => (rows[0] === undefined ? null : view(rows[0]))
      const first = Effect.orDie(Effect.map(sql<WorkspaceRow>`SELECT * FROM workspace ORDER BY id LIMIT 1`, one))
      const create = Effect.fnUntraced(function* (name: string, organization?: Workspace["organization"]) {
        const row = {
          id: yield* newId,
          name,
          organization_id: organization?.id ?? (yield* newId),
          organization_name: organization?.name ?? name,
          created_at: yield* now
        }
        yield* Effect.orDie(sql`INSERT INTO workspace ${sql.insert(row)}`)
        return view(row)
      })
      return Workspaces.of({
        get: (id) => Effect.orDie(Effect.map(sql<WorkspaceRow>`SELECT * FROM workspace WHERE id = ${id}`, one)),
        first,
        firstOr: Effect.fnUntraced(function* (name) {
          yield* Effect.orDie(Dialect.lockName(sql, "first workspace"))
          return (yield* first) ?? (yield* create(name))
        }, transaction),
        create
      })
    })
  )
}
