/**
 * Who may see an item: permissions, links, invitations.
 */
import * as Effect from "effect/Effect"
import * as Failure from "../model/Failure.ts"
import {
  change,
  created,
  type GraphRequest,
  type Methods,
  noContent,
  objectOf,
  ok,
  textOf
} from "../requests/GraphRequest.ts"
import * as Ids from "../model/Ids.ts"
import type { Identity, Item, Permission } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as Places from "./Places.ts"
import * as Tree from "../world/Tree.ts"
import * as Views from "./Views.ts"
import { World } from "../world/World.ts"

type Place = Places.Place

const list = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  const owner: Permission = {
    id: Ids.uuid(`owner ${item.drive.id}`),
    roles: ["owner"],
    grantedTo: ["user" in item.drive.owner ? item.drive.owner.user : item.drive.owner.group]
  }
  const rows = [owner, ...item.permissions.values()]
  return yield* Pages.page(request, { of: "permissions", rows, view: Views.permission, size: 200, max: 999 })
})

export const permissions: Methods<Place> = { GET: list }

const permissionOf = (item: Item, id: string) => {
  const found = item.permissions.get(id)
  return found === undefined ? Effect.fail(Failure.itemNotFound("There is no such permission.")) : Effect.succeed(found)
}

const rolesOf = (value: unknown) => {
  const roles = Array.isArray(value) ? value.filter((role) => role === "read" || role === "write") : []
  return roles.length === 0
    ? Effect.fail(Failure.invalidRequest("'roles' must be a list of read and write.", "invalidParameterFormat"))
    : Effect.succeed(roles)
}

/** `permissions/{id}`. */
export const permission = (id: string): Methods<Place> => ({
  GET: Effect.fnUntraced(function* (place, request) {
    const item = yield* Places.existing(place)
    return Pages.one(request, "permissions", Views.permission(yield* permissionOf(item, id)))
  }),
  PATCH: Effect.fnUntraced(function* (place, request) {
    const item = yield* Places.existing(place)
    const found = yield* permissionOf(item, id)
    const roles = yield* rolesOf((yield* request.json)["roles"])
    const updated = { ...found, roles }
    item.permissions.set(id, updated)
    return ok(Views.permission(updated))
  }),
  DELETE: Effect.fnUntraced(function* (place, request) {
    const item = yield* Places.existing(place)
    const { links } = yield* World
    const { link } = yield* permissionOf(item, id)
    if (link !== undefined) links.delete(link.webUrl)
    item.permissions.delete(id)
    Tree.changed(item, change(request))
    return noContent
  })
})

const linkTypes = ["view", "edit", "embed"]
const linkScopes = ["anonymous", "organization", "users"]

/** `:t:`, `:f:`, ... stand for the kind of what is linked. */
const kindLetter = (item: Item) => {
  if (item.kind === "folder") return "f"
  return { docx: "w", xlsx: "x", pptx: "p", pdf: "b" }[item.name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "t"
}

const link = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  const { links } = yield* World
  const body = yield* request.json
  const type = (yield* textOf(body, "type")) ?? "view"
  const scope = (yield* textOf(body, "scope")) ?? "organization"
  const password = yield* textOf(body, "password")
  if (!linkTypes.includes(type)) return yield* Failure.invalidRequest(`'type' must be one of ${linkTypes.join(", ")}.`)
  if (!linkScopes.includes(scope)) {
    return yield* Failure.invalidRequest(`'scope' must be one of ${linkScopes.join(", ")}.`)
  }
  const there = [...item.permissions.values()].find(({ link }) => link?.type === type && link.scope === scope)
  if (there !== undefined) return ok(Views.permission(there))
  const id = Ids.uuid(`link ${item.id} ${type} ${scope}`)
  const { origin, pathname } = new URL(item.drive.webUrl)
  const [kind, owner = ""] = pathname.slice(1).split("/")
  const code = Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url")
  const under = kind === "sites" ? `s/${owner}` : kind === "personal" ? `g/personal/${owner}` : "g"
  const webUrl = `${origin}/:${kindLetter(item)}:/${under}/E${code}?e=${code.slice(0, 6)}`
  const permission: Permission = {
    id,
    roles: [type === "edit" ? "write" : "read"],
    link: { type, scope, webUrl },
    grantedTo: [],
    password
  }
  item.permissions.set(id, permission)
  links.set(webUrl, item)
  Tree.changed(item, change(request))
  return created(Views.permission(permission))
})

export const createLink: Methods<Place> = { POST: link }

const grant = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  const { userBy } = yield* World
  const body = yield* request.json
  const roles = yield* rolesOf(body["roles"])
  const recipients = Array.isArray(body["recipients"]) ? body["recipients"].map(objectOf) : []
  if (recipients.length === 0) return yield* Failure.invalidRequest("'recipients' must name at least one person.")
  const granted: Array<Permission> = []
  for (const recipient of recipients) {
    const key = recipient["email"] ?? recipient["objectId"] ?? recipient["alias"]
    const email = typeof key === "string" ? key : ""
    const user = userBy(email)
    if (email === "" || (user === undefined && body["requireSignIn"] === true && !email.includes("@"))) {
      return yield* Failure.invalidRequest("A recipient could not be resolved.")
    }
    const who: Identity =
      user === undefined
        ? { id: Ids.uuid(`guest ${email}`), displayName: email, email }
        : { id: user.id, displayName: user.displayName, email: user.userPrincipalName }
    granted.push({
      id: Ids.uuid(`grant ${item.id} ${who.id}`),
      roles,
      grantedTo: [who],
      invitation: { email, signInRequired: body["requireSignIn"] !== false }
    })
  }
  for (const permission of granted) item.permissions.set(permission.id, permission)
  Tree.changed(item, change(request))
  return ok({ value: granted.map(Views.permission) })
})

export const invite: Methods<Place> = { POST: grant }

/** Items of other drives that this user was invited to. */
export const sharedWith = (userId: string) =>
  Effect.map(World, ({ drives }) =>
    [...drives.values()].flatMap((drive) =>
      [...drive.items.values()].filter((item) =>
        [...item.permissions.values()].some(({ grantedTo = [] }) => grantedTo.some(({ id }) => id === userId))
      )
    )
  )
