/** Who may act on whom: nobody gives what they lack, and nobody touches who is stronger. */
import type { Permission, Principal } from "@signalbox/api/contract/Authorization"
import type { ForbiddenResponse } from "@signalbox/api/contract/Responses"
import * as Effect from "effect/Effect"
import { forbidden } from "./Failures.ts"
import { callerOf } from "./Permissions.ts"

/** What no role gives by itself: who operates the room gives it too. */
const givenByRoom: ReadonlySet<Permission> = new Set(["Vault.read_secret_values"])

const gives = (principal: Principal, permission: Permission) => {
  const { permissions } = callerOf(principal)
  return permissions.has(permission) || (givenByRoom.has(permission) && permissions.has("Room.manage"))
}

/** Refuses unless the caller has all of these permissions. `what` begins the message: what would be given, or who has them. */
export const covers = (
  principal: Principal,
  permissions: Iterable<Permission>,
  what: string
): Effect.Effect<void, ForbiddenResponse> => {
  const missing = [...new Set(permissions)].filter((permission) => !gives(principal, permission))
  return missing.length === 0
    ? Effect.void
    : forbidden(`${what}, which needs all of its permissions, and you lack ${missing.join(", ")}`)
}

/**
 * Whether a caller may give a key this permission. `isOlder`: whether it is a key that is older than the first account. The first key of a
 * workspace lacks the values of secrets, so no key could have them otherwise; a newer key that gave them would be a way round its maker.
 */
export const mayGrant = (principal: Principal, permission: Permission, isOlder: boolean): boolean =>
  gives(principal, permission) || (isOlder && givenByRoom.has(permission))

/** Whether the caller operates the room. */
export const managesRoom = (principal: Principal) => callerOf(principal).permissions.has("Room.manage")
