/** Roles of the workspace, without their members: accounts are of the room and are not imported. */
import type { Role } from "@signalbox/api/contract/Roles"
import * as Effect from "effect/Effect"
import * as Roles from "../apply/Roles.ts"
import type { Gaps } from "./Gaps.ts"
import * as Parts from "./Parts.ts"

const kind = "role"

export const plan = Effect.fnUntraced(function* (roles: ReadonlyArray<Role>, gaps: Gaps) {
  if (roles.length === 0) return []
  const entries = roles.map(({ name, permissions }) => [name, { permissions }] as const)
  const wanted = (yield* Parts.accepted(kind, "roles", entries, gaps)) ?? {}
  const steps = yield* Parts.stepsOf(kind, wanted, Roles.plan, gaps)
  // Those that are here alone are none of the source's.
  return steps.filter(({ name }) => Object.hasOwn(wanted, name))
})
