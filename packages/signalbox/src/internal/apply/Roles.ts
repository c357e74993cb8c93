import * as Roles from "@signalbox/api/Roles"
import * as Users from "@signalbox/api/Users"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import type { Role } from "./Document.ts"
import { asSet, type Section, type Step, unchanged } from "./Step.ts"

/** Roles are identified by their names. Those that every workspace has are no part of the file, and nobody loses a role by it. */
export const plan = Effect.fnUntraced(function* (wanted: Readonly<Record<string, Role>>) {
  const there = new Map((yield* Roles.all()).filter(({ built_in }) => !built_in).map((role) => [role.name, role]))
  const steps = Object.entries(wanted).map(([name, { permissions }]): Step => {
    const found = there.get(name)
    const [before, after] = [asSet(found?.permissions ?? []), asSet(permissions)]
    if (found !== undefined && isDeepStrictEqual(before, after)) return unchanged("role", name)
    const changed = [
      ...after.filter((permission) => !before.includes(permission)).map((permission) => `+${permission}`),
      ...before.filter((permission) => !after.includes(permission)).map((permission) => `-${permission}`)
    ]
    return {
      kind: "role",
      name,
      action: found === undefined ? "create" : "change",
      detail: found === undefined ? "" : changed.join(", "),
      run: Roles.put(name, permissions)
    }
  })
  const others = [...there.keys()].filter((name) => !Object.hasOwn(wanted, name))
  const users = others.length === 0 ? [] : yield* Stream.runCollect(Users.stream({ limit: 500 }))
  const used = new Set<string>(users.map(({ role }) => role))
  const section: Section = {
    steps: [...steps, ...others.filter((name) => used.has(name)).map((name) => unchanged("role", name, "in use"))],
    extra: others
      .filter((name) => !used.has(name))
      .map((name): Step => ({ kind: "role", name, action: "delete", detail: "", run: Roles.remove(name) }))
  }
  return section
})
