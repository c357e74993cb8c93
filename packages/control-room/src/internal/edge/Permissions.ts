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

/**
 * How a caller sees payloads with secret fields: `plain`, by a key or token that may read them; `masked`, in a session; `hidden`: masked, and
 * without what else is secret of the process, its files.
 */
export type View = "plain" | "masked" | "hidden"

/** How the current request has seen payloads; null: it has returned none. Null in its place where nobody needs to know. */
export const AskedView = Context.Reference<{ view: View | null } | null>("@signalbox/control-room/edge/AskedView", {
  defaultValue: () => null
})

/** How a caller sees payloads. */
export const viewOf = (principal: Principal): View => {
  // Tasks work with what they are given.
  if (principal._tag !== "ApiKey" && principal._tag !== "User") return "plain"
  if (!principal.permissions.has("Processes.read_sensitive")) return "hidden"
  return principal.sessionId === null ? "plain" : "masked"
}

/** How the caller sees payloads, which the response depends on. */
export const view: Effect.Effect<View, never, CurrentPrincipal> = Effect.gen(function* () {
  const asked = yield* AskedView
  const found = viewOf(yield* CurrentPrincipal)
  if (asked !== null) asked.view = found
  return found
})

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
