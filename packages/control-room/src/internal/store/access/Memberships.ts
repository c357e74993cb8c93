/** Who belongs to which workspace with which role, and what the role permits. */
import { type Permission, builtInRoles } from "@signalbox/api/contract/Authorization"
import { type UserId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Role } from "@signalbox/api/contract/Roles"
import { json, nullable, query, queryOne, Row, Table, text, id as idColumn } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { AuthorizationChanges } from "./AuthorizationChanges.ts"
import { type Account, accountTable } from "./Accounts.ts"

/** An account with its role in a workspace. */
export interface Member extends Account {
  readonly role: string
  /** A provider that the account signs in with; null: none. */
  readonly provider: string | null
}

/** A workspace of an account. */
export interface Membership {
  readonly workspace: { readonly id: WorkspaceId; readonly name: string }
  readonly role: string
  /** The provider whose groups gave the role; null: a person did. */
  readonly provider: string | null
}

const memberRow = accountTable.and({ role: text, provider: nullable(text) })
const ofAccount = accountTable.pick(
  "login",
  "login_key",
  "first_name",
  "last_name",
  "email",
  "password",
  "manages_room",
  "disabled",
  "created_at",
  "last_sign_in_at",
  "totp_secret",
  "totp_step",
  "subject"
)
const membershipRow = Row({ id: idColumn(WorkspaceId), name: text, role: text, provider: nullable(text) })
const roleTable = Table("role", {
  workspace_id: idColumn(WorkspaceId),
  name: text,
  permissions: json<ReadonlyArray<Permission>>()
})

const builtIn = new Map<string, ReadonlyArray<Permission>>(Object.entries(builtInRoles))

export const isBuiltIn = (role: string) => builtIn.has(role)

const none: ReadonlySet<Permission> = new Set()

/** The columns of what `permissionsOf` reads, for a query that joins `membership` and `role`. */
export const grantedColumns = {
  role: nullable(text),
  role_permissions: nullable(json<ReadonlyArray<Permission>>())
}

/** The permissions of a membership with its role; `own`: those of a role that is not built in. */
export const permissionsOf = (role: string | null, own: ReadonlyArray<Permission> | null): ReadonlySet<Permission> =>
  role === null ? none : new Set(builtIn.get(role) ?? own ?? [])

const view = (row: Pick<typeof roleTable.Type, "name" | "permissions">): Role => ({ ...row, built_in: false })

export class Memberships extends Context.Service<
  Memberships,
  {
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<Member>>
    readonly find: (workspace: WorkspaceId, account: UserId) => Effect.Effect<Member | null>
    /** By the name of the workspace. */
    readonly of: (account: UserId) => Effect.Effect<ReadonlyArray<Membership>>
    /** Whether a workspace of the account requires a second factor of members with a password. */
    readonly needsSecondFactor: (account: UserId) => Effect.Effect<boolean>
    /** Gives the account this role in the workspace. `provider`: the one whose groups give it; default: a person does. */
    readonly put: (workspace: WorkspaceId, account: UserId, role: string, provider?: string) => Effect.Effect<void>
    readonly remove: (workspace: WorkspaceId, account: UserId) => Effect.Effect<void>
    /** The workspaces in which nobody else with this role has signed in and may. Who was invited alone may never come. */
    readonly onlyIn: (account: UserId, role: string) => Effect.Effect<ReadonlyArray<Membership["workspace"]>>
    /** The permissions of a role; null when the workspace has no such role. */
    readonly permissionsOfRole: (workspace: WorkspaceId, role: string) => Effect.Effect<ReadonlySet<Permission> | null>
    /** All roles, those that are built in first. */
    readonly roles: (workspace: WorkspaceId) => Effect.Effect<ReadonlyArray<Role>>
    readonly putRole: (
      workspace: WorkspaceId,
      name: string,
      permissions: ReadonlyArray<Permission>
    ) => Effect.Effect<Role>
    readonly removeRole: (workspace: WorkspaceId, name: string) => Effect.Effect<void>
    /** Whether a member has the role. */
    readonly isUsed: (workspace: WorkspaceId, role: string) => Effect.Effect<boolean>
    /** What permissions follow from was changed: what any node remembers of keys and streams is looked up again. */
    readonly changed: Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const { now, page, sql } = yield* Database
      const changes = yield* AuthorizationChanges
      // The id is that of the membership, whose index is in this order.
      const select = sql`
        SELECT ${memberRow.columns} FROM (
          SELECT ${ofAccount.of("account")}, membership.account_id AS id, membership.role, membership.workspace_id, (
              SELECT max(provider) FROM account_identity WHERE account_id = account.id) AS provider
          FROM membership JOIN account ON account.id = membership.account_id) AS member`

      const own = (workspace: WorkspaceId, name: string) =>
        queryOne(
          roleTable,
          sql`SELECT ${roleTable.columns} FROM role WHERE workspace_id = ${workspace} AND name = ${name}`
        )

      return Memberships.of({
        list: (workspace, request) =>
          page({ rows: memberRow, select }, [sql`workspace_id = ${workspace}`], "oldest first", request),
        find: (workspace, account) =>
          queryOne(memberRow, sql`${select} WHERE workspace_id = ${workspace} AND id = ${account}`),
        of: (account) =>
          query(
            membershipRow,
            sql`
              SELECT workspace.id, workspace.name, membership.role, membership.provider FROM membership
              JOIN workspace ON workspace.id = membership.workspace_id
              WHERE account_id = ${account} ORDER BY workspace.name, workspace.id`,
            ({ id, name, provider, role }) => ({ workspace: { id, name }, role, provider })
          ),
        needsSecondFactor: (account) =>
          Effect.map(
            sql`
              SELECT workspace_id FROM membership JOIN workspace ON workspace.id = membership.workspace_id
              WHERE account_id = ${account} AND second_factor_required = 1 LIMIT 1`,
            (rows) => rows.length > 0
          ),
        put: Effect.fnUntraced(function* (workspace, account, role, provider) {
          const by = provider ?? null
          const row = { account_id: account, workspace_id: workspace, role, provider: by, created_at: yield* now }
          yield* sql`
            INSERT INTO membership ${sql.insert(row)}
            ON CONFLICT (account_id, workspace_id) DO UPDATE SET role = ${role}, provider = ${by}`
        }),
        remove: (workspace, account) =>
          Effect.asVoid(sql`DELETE FROM membership WHERE workspace_id = ${workspace} AND account_id = ${account}`),
        onlyIn: (account, role) =>
          query(
            membershipRow,
            sql`
              SELECT workspace.id, workspace.name, own.role, own.provider FROM membership AS own
              JOIN workspace ON workspace.id = own.workspace_id
              WHERE own.account_id = ${account} AND own.role = ${role} AND NOT EXISTS (
                SELECT 1 FROM membership JOIN account ON account.id = membership.account_id
                WHERE membership.workspace_id = own.workspace_id AND membership.role = ${role} AND disabled = 0
                  AND last_sign_in_at IS NOT NULL AND account.id <> ${account})
              ORDER BY workspace.name, workspace.id`,
            ({ id, name }) => ({ id, name })
          ),
        permissionsOfRole: (workspace, role) => {
          const known = builtIn.get(role)
          if (known !== undefined) return Effect.succeed(new Set(known))
          return Effect.map(own(workspace, role), (row) => (row === null ? null : new Set(row.permissions)))
        },
        roles: (workspace) =>
          Effect.map(
            query(
              roleTable,
              sql`SELECT ${roleTable.columns} FROM role WHERE workspace_id = ${workspace} ORDER BY name`,
              ({ name, permissions }) => view({ name, permissions })
            ),
            (rows) =>
              [...builtIn].map(([name, permissions]): Role => ({ name, permissions, built_in: true })).concat(rows)
          ),
        putRole: Effect.fnUntraced(function* (workspace, name, permissions) {
          const row = { workspace_id: workspace, name, permissions: [...new Set(permissions)] }
          yield* sql`
            INSERT INTO role ${roleTable.insert(row)}
            ON CONFLICT (workspace_id, name) DO UPDATE SET ${roleTable.update({ permissions: row.permissions })}`
          return view(row)
        }),
        removeRole: (workspace, name) =>
          Effect.asVoid(sql`DELETE FROM role WHERE workspace_id = ${workspace} AND name = ${name}`),
        isUsed: (workspace, role) =>
          Effect.map(
            sql`SELECT account_id FROM membership WHERE workspace_id = ${workspace} AND role = ${role} LIMIT 1`,
            (rows) => rows.length > 0
          ),
        changed: changes.tell("permissions changed", "")
      })
    })
  )
}
