/** What the caller of a request may do. Whoever asks is noted, since a stored response goes only to callers who may do the same. */
import {
  CurrentPrincipal,
  type Permission,
  type Principal,
  runPermissions
} from "@signalbox/api/contract/Authorization"
import type { ForbiddenResponse } from "@signalbox/api/contract/Responses"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { forbidden } from "./Failures.ts"

const ofRuns: ReadonlySet<Permission> = new Set(runPermissions)
const none: ReadonlySet<Permission> = new Set()

/** The caller: what its requests are counted by, and its permissions. */
export const callerOf = (
  principal: Principal
): { readonly id: string; readonly permissions: ReadonlySet<Permission> } => {
  switch (principal._tag) {
    case "ApiKey":
      return { id: principal.keyId, permissions: principal.permissions }
    case "User":
      return { id: principal.user.id, permissions: principal.permissions }
    case "StepRun":
      return { id: principal.stepRunId, permissions: ofRuns }
    case "AssistantRun":
      return { id: principal.assistantRunId, permissions: ofRuns }
    case "Worker":
      return { id: principal.workerId, permissions: none }
  }
}

/** The permissions that the current request was asked for; null where nobody needs to know. */
export const AskedPermissions = Context.Reference<Set<Permission> | null>(
  "@signalbox/control-room/edge/AskedPermissions",
  { defaultValue: () => null }
)

/** What a caller lacks, and the remedy. */
export const lacks = (principal: Principal, permission: Permission): string =>
  principal._tag === "User"
    ? `your role lacks the permission ${permission}; ask an administrator of the workspace for it`
    : `the key lacks the permission ${permission}; use a key that has it`

/** Refuses a caller without the permission. `why` begins the message: what needs it. */
export const need = (permission: Permission, why: string): Effect.Effect<void, ForbiddenResponse, CurrentPrincipal> =>
  Effect.gen(function* () {
    const asked = yield* AskedPermissions
    asked?.add(permission)
    const principal = yield* CurrentPrincipal
    if (callerOf(principal).permissions.has(permission)) return
    return yield* forbidden(`${why}, and ${lacks(principal, permission)}`)
  })
