/** Who may act on whom: nobody gives what they lack, and nobody touches who is stronger. */
import type { Permission, Principal } from "@signalbox/api/contract/Authorization"
import type { ForbiddenResponse } from "@signalbox/api/contract/Responses"
import * as Effect from "effect/Effect"
import { forbidden } from "./Failures.ts"
import { callerOf } from "./Permissions.ts"

/** The first key of a workspace lacks it, so no key could have it otherwise. */
const grantableByKeys: Permission = "Vault.read_secret_values"

/** Refuses unless the caller has all of these permissions. `what` begins the message: what would be given, or who has them. */
export const covers = (
  principal: Principal,
  permissions: Iterable<Permission>,
  what: string
): Effect.Effect<void, ForbiddenResponse> => {
  const { permissions: held } = callerOf(principal)
  const missing = [...new Set(permissions)].filter((permission) => !held.has(permission))
  return missing.length === 0
    ? Effect.void
    : forbidden(`${what}, which needs all of its permissions, and you lack ${missing.join(", ")}`)
}

/** Whether a caller may give a key this permission. A key that has no owner may also give it values of secrets. */
export const mayGrant = (principal: Principal, permission: Permission): boolean =>
  callerOf(principal).permissions.has(permission) || (principal._tag === "ApiKey" && permission === grantableByKeys)

/** Whether the caller operates the room. */
export const managesRoom = (principal: Principal) => callerOf(principal).permissions.has("Room.manage")
