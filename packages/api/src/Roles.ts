/**
 * Roles of the users of the workspace: sets of permissions. An extension of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { Permission } from "./contract/Authorization.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Roles.ts"
import { inWorkspace, returning } from "./internal/calls/Workspace.ts"

export type { Role } from "./contract/Roles.ts"

const call = {
  list: returning<{ readonly data: ReadonlyArray<contract.Role> }, never>()(inWorkspace(contract.list)),
  put: returning<contract.Role, Conflict | InvalidRequest>()(inWorkspace(contract.put)),
  remove: returning<{ readonly name: string; readonly deleted: true }, Conflict | NotFound>()(
    inWorkspace(contract.remove)
  )
}

/** Returns all roles: `viewer`, `operator`, `builder` and `admin`, which every workspace has, then its own by name. */
export const all = Effect.fn("Roles.all")(() => Effect.map(call.list({}), ({ data }) => data))

/**
 * Creates a role, or replaces its permissions. Fails with `Conflict` for one that every workspace has.
 *
 * ```ts
 * import * as Roles from "@signalbox/api/Roles"
 *
 * export const clerk = Roles.put("clerk", [
 *   "Processes.read_processes",
 *   "Processes.read_runs",
 *   "Processes.trigger_processes"
 * ])
 * ```
 */
export const put = Effect.fn("Roles.put")((name: string, permissions: ReadonlyArray<Permission>) =>
  call.put({ params: { role_name: name }, payload: { permissions } })
)

/** Deletes a role. Fails with `Conflict` while a user has it. */
export const remove = Effect.fn("Roles.remove")((name: string) => call.remove({ params: { role_name: name } }))
