/** Keys that a user owns, before the user is disabled or removed. */
import * as ApiKeys from "@signalbox/api/ApiKeys"
import type * as Users from "@signalbox/api/Users"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Flag from "effect/cli/Flag"
import { confirm, yesFlag } from "../../resources/Confirm.ts"
import { findUser } from "./UserNoun.ts"

export const leavingFlags = {
  keysTo: Flag.String("keys-to").pipe(
    Flag.withDescription("The login of the user who gets the keys that they own; needs all permissions of the keys"),
    Flag.optional
  ),
  keysToWorkspace: Flag.Boolean("keys-to-workspace").pipe(
    Flag.withDescription("Hand the keys that they own over to the workspace"),
    Flag.withDefault(false)
  ),
  yes: yesFlag
}

interface Leaving {
  readonly keysTo: Option.Option<string>
  readonly keysToWorkspace: boolean
  readonly yes: boolean
}

/** Hands the keys of a user over, or names them and asks: programs may depend on them. `done.keys`: what becomes of them. */
export const beforeLeaving = Effect.fnUntraced(function* (
  user: Users.User,
  { keysTo, keysToWorkspace, yes }: Leaving,
  done: { readonly what: string; readonly keys: string }
) {
  const all = yield* Stream.runCollect(ApiKeys.stream({ limit: 500 }))
  const owned = all
    .filter(({ owner }) => owner?.id === user.id)
    .toSorted((a, b) => (b.last_used_at ?? "").localeCompare(a.last_used_at ?? ""))
  if (owned.length === 0) return
  if (Option.isSome(keysTo) || keysToWorkspace) {
    const owner = Option.isSome(keysTo) ? (yield* findUser(keysTo.value)).id : null
    yield* Effect.forEach(owned, ({ id }) => ApiKeys.setOwner(id, owner), { discard: true })
    return
  }
  const lines = owned.map(({ last_used_at, name }) =>
    last_used_at === null ? `  ${name}, never used` : `  ${name}, last used ${last_used_at}`
  )
  yield* Console.error(
    [
      `Keys of ${user.login}, which are ${done.keys} then (hand them over with --keys-to or --keys-to-workspace):`,
      ...lines
    ].join("\n")
  )
  yield* confirm(`${done.what} ${user.login}, with ${owned.length === 1 ? "one key" : `${owned.length} keys`}`, yes)
})
