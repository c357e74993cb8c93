/** Roles of a workspace over HTTP. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import { RoleName } from "@signalbox/api/contract/Roles"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, invalidRequest, orNotFound } from "../edge/Failures.ts"
import * as Standing from "../edge/Standing.ts"
import { Accounts } from "../store/access/Accounts.ts"
import { isBuiltIn, Memberships } from "../store/access/Memberships.ts"
import { Database } from "../store/database/Database.ts"

const isName = Schema.is(RoleName)

export const layer = Endpoints.group(
  "roles",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const store = yield* Memberships
    const { transaction } = yield* Database

    /** Refuses to change what every workspace has. */
    const isOwn = (name: string) =>
      isBuiltIn(name)
        ? conflict(`every workspace has the role ${name}, as it is; create one with another name`)
        : Effect.void

    return handlers.handleAll({
      getRoles: ({ params }) => Effect.map(store.roles(params.workspace_id), (data) => ({ data })),
      putRole: Effect.fnUntraced(function* ({ params, payload }) {
        const { role_name: name, workspace_id: workspace } = params
        const principal = yield* CurrentPrincipal
        if (!isName(name)) {
          return yield* invalidRequest(
            "role_name: Expected a name of at most 63 letters, digits and . _ - that begins with a letter or digit"
          )
        }
        yield* accounts.lock
        yield* isOwn(name)
        const before = (yield* store.permissionsOfRole(workspace, name)) ?? new Set()
        // What it has now as well: it is taken away from who may be stronger.
        yield* Standing.covers(principal, [...payload.permissions, ...before], `permissions: ${name} would be changed`)
        const role = yield* store.putRole(workspace, name, payload.permissions)
        yield* store.changed
        return role
      }, transaction),
      deleteRole: Effect.fnUntraced(function* ({ params }) {
        const { role_name: name, workspace_id: workspace } = params
        yield* accounts.lock
        yield* isOwn(name)
        const held = yield* orNotFound("role", name, store.permissionsOfRole(workspace, name))
        yield* Standing.covers(yield* CurrentPrincipal, held, `${name} would be deleted`)
        if (yield* store.isUsed(workspace, name)) {
          return yield* conflict(`users have the role ${name}; give them another one first`)
        }
        yield* store.removeRole(workspace, name)
        return { name, deleted: true } as const
      }, transaction)
    })
  })
)
