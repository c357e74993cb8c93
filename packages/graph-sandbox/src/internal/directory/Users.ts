/**
 * Users, and what follows one in an address.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import * as Changes from "../requests/Changes.ts"
import { isCount, list, viewGroup, viewUser } from "./Collections.ts"
import * as Drives from "../drive/Drives.ts"
import * as Failure from "../model/Failure.ts"
import { dispatch, type GraphRequest } from "../requests/GraphRequest.ts"
import type { User } from "../model/Model.ts"
import * as Mail from "../mail/Mail.ts"
import * as Pages from "../requests/Pages.ts"
import * as Sites from "../lists/Sites.ts"
import * as ChangeLog from "../world/ChangeLog.ts"
import { World } from "../world/World.ts"

const getUser = (user: User, request: GraphRequest) =>
  Effect.succeed(Pages.one(request, "users", viewUser(request)(user)))

const userNamed = Effect.fnUntraced(function* (key: string) {
  const { userBy } = yield* World
  return (
    userBy(key) ??
    (yield* Failure.resourceNotFound(
      `Resource '${key}' does not exist or one of its queried reference-property objects are not present.`
    ))
  )
})

/** What follows a user in an address. */
const user = Effect.fnUntraced(function* (user: User, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { groups, managers, users } = yield* World
  const [segment, key] = rest
  if (Mail.isOf(segment)) return yield* Mail.of(user, rest, request)
  switch (segment?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch({ GET: getUser }, user, request)
    case "drive":
    case "drives":
      return yield* Drives.of(user.id, rest, request)
    case "manager": {
      const manager = users.get(managers.get(user.id) ?? "")
      if (manager === undefined) {
        return yield* Failure.resourceNotFound(
          "Resource 'manager' does not exist or one of its queried reference-property objects are not present."
        )
      }
      return yield* dispatch({ GET: getUser }, manager, request)
    }
    case "directreports": {
      const rows = [...users.values()].filter(({ id }) => managers.get(id) === user.id)
      return yield* list(request, { of: "directoryObjects", rows, view: viewUser(request, true) }, isCount(key))
    }
    case "memberof": {
      const rows = [...groups.values()].filter(({ members }) => members.includes(user.id))
      return yield* list(request, { of: "directoryObjects", rows, view: viewGroup }, isCount(key))
    }
    case "followedsites":
      return yield* dispatch({ GET: () => Sites.all(request) }, user, request)
    default:
      return yield* Failure.unknownSegment(segment?.text ?? "")
  }
})

export const me = Effect.fnUntraced(function* (rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { principal } = request
  if (principal.kind === "app") {
    return yield* Failure.badRequest("/me request is only valid with delegated authentication flow.")
  }
  return yield* user(principal.user, rest, request)
})

/** Nobody changes users in a sandbox: they are the changes of the first round, and later ones have none. */
const changedUsers = (segment: Segment) =>
  Effect.fnUntraced(function* (users: ReadonlyMap<string, User>, request: GraphRequest) {
    const changes = ChangeLog.make<User>()
    for (const id of users.keys()) ChangeLog.note(changes, id, { at: 0, listItem: null })
    ChangeLog.settle(changes, false)
    const show = viewUser(request)
    return yield* Changes.page(request, segment, {
      of: "users",
      id: "users",
      changes,
      options: { next: "$skiptoken", delta: "$deltatoken" },
      view: (id) => {
        const user = users.get(id)
        return user === undefined ? undefined : show(user)
      },
      gone: (id) => ({ id, "@removed": { reason: "deleted" } })
    })
  })

export const users = Effect.fnUntraced(function* (rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { users } = yield* World
  const [key] = rest
  if (key === undefined || isCount(key)) {
    return yield* list(request, { of: "users", rows: [...users.values()], view: viewUser(request) }, isCount(key))
  }
  if (key.text.toLowerCase() === "delta") return yield* dispatch({ GET: changedUsers(key) }, users, request)
  return yield* user(yield* userNamed(key.text), rest.slice(1), request)
})
