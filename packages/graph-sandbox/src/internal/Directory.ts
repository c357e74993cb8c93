/**
 * Users and groups.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "./wire/Address.ts"
import * as Changes from "./wire/Changes.ts"
import * as Drives from "./drive/Drives.ts"
import * as Failure from "./Failure.ts"
import * as Filter from "./wire/Filter.ts"
import type { Group, Properties, User } from "./Model.ts"
import * as Pages from "./wire/Pages.ts"
import * as Search from "./Search.ts"
import * as Sites from "./lists/Sites.ts"
import { dispatch, type GraphRequest, ok } from "./wire/Wire.ts"
import { World } from "./World.ts"

/** What a user shows where nothing is selected. */
const basic = [
  "businessPhones",
  "displayName",
  "givenName",
  "jobTitle",
  "mail",
  "mobilePhone",
  "officeLocation",
  "preferredLanguage",
  "surname",
  "userPrincipalName",
  "id"
]

const view =
  (request: GraphRequest, typed = false) =>
  (user: User): Properties => {
    const all: Properties = { businessPhones: [], ...user }
    const annotation = typed ? { "@odata.type": "#microsoft.graph.user" } : {}
    const shown = Object.fromEntries(basic.map((name) => [name, all[name] ?? null]))
    return { ...annotation, ...shown, ...(request.options.has("select") ? all : {}) }
  }

const isAdvanced = (request: GraphRequest) => request.headers["consistencylevel"]?.toLowerCase() === "eventual"

const headerWanted = (what: string) =>
  new Failure.Failure({
    status: 400,
    code: "Request_UnsupportedQuery",
    message: `Request with ${what} only works through MSGraph with a special request header: 'ConsistencyLevel: eventual'`
  })

/** What the directory serves to those only who ask for eventual consistency. */
const check = Effect.fnUntraced(function* (request: GraphRequest) {
  const { options } = request
  if (options.has("skip")) return yield* Failure.directoryRequest("'$skip' is not supported by the service.")
  const filter = options.get("filter")
  const parsed = filter === undefined ? undefined : yield* Effect.fromResult(Filter.parse(filter))
  const isMixed = parsed !== undefined && options.has("orderby")
  const needsCount = parsed?.advanced === true || isMixed
  if (isAdvanced(request) && !(needsCount && options.get("count") !== "true")) return
  if (options.has("search")) {
    if (!isAdvanced(request)) return yield* headerWanted("$search query parameter")
  } else if (needsCount) {
    return yield* headerWanted("this $filter or $orderby (and $count=true)")
  }
})

const rowsOf = Effect.fnUntraced(function* <A extends Properties>(request: GraphRequest, all: ReadonlyArray<A>) {
  const search = request.options.get("search")
  if (search === undefined) return all
  const matches = yield* Effect.fromResult(Search.parse(search))
  return all.filter(matches)
})

/** A collection of the directory, or how many there are. */
const collection = Effect.fnUntraced(function* <A extends Properties>(
  request: GraphRequest,
  given: { readonly of: string; readonly rows: ReadonlyArray<A>; readonly view: (row: A) => Properties },
  isCount: boolean
) {
  if (isCount && !isAdvanced(request)) return yield* Failure.directoryRequest("$count is not currently supported.")
  yield* check(request)
  const rows = yield* rowsOf(request, given.rows)
  if (!isCount) {
    return yield* Pages.page(request, { ...given, whole: (row) => row, rows, size: 100, max: 999, strict: true })
  }
  const filter = request.options.get("filter")
  const test = filter === undefined ? () => true : (yield* Effect.fromResult(Filter.parse(filter))).test
  return ok(String(rows.filter(test).length), { "content-type": "text/plain" })
})

const list = <A extends Properties>(
  request: GraphRequest,
  given: { readonly of: string; readonly rows: ReadonlyArray<A>; readonly view: (row: A) => Properties },
  isCount: boolean
) => dispatch({ GET: () => collection(request, given, isCount) }, given, request)

const isCount = (segment: Segment | undefined) => segment?.text.toLowerCase() === "$count"

const getUser = (user: User, request: GraphRequest) => Effect.succeed(Pages.one(request, "users", view(request)(user)))

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
      return yield* list(request, { of: "directoryObjects", rows, view: view(request, true) }, isCount(key))
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
    const byItem = new Map([...users.keys()].map((id, at) => [id, { number: at + 1, deleted: false, listItem: null }]))
    const show = view(request)
    return yield* Changes.page(request, segment, {
      of: "users",
      id: "users",
      changes: { last: byItem.size, byItem },
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
    return yield* list(request, { of: "users", rows: [...users.values()], view: view(request) }, isCount(key))
  }
  if (key.text.toLowerCase() === "delta") return yield* dispatch({ GET: changedUsers(key) }, users, request)
  return yield* user(yield* userNamed(key.text), rest.slice(1), request)
})

const viewGroup = ({ members: _, ...group }: Group): Properties => ({
  "@odata.type": "#microsoft.graph.group",
  description: null,
  groupTypes: ["Unified"],
  mail: null,
  mailEnabled: true,
  securityEnabled: false,
  visibility: "Private",
  ...group
})

const getGroup = (group: Group, request: GraphRequest) => Effect.succeed(Pages.one(request, "groups", viewGroup(group)))

export const groups = Effect.fnUntraced(function* (rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { groups, siteOfGroup, users } = yield* World
  const [key, segment, last] = rest
  if (key === undefined || isCount(key)) {
    return yield* list(request, { of: "groups", rows: [...groups.values()], view: viewGroup }, isCount(key))
  }
  const group = groups.get(key.text)
  if (group === undefined) return yield* Failure.resourceNotFound(`Resource '${key.text}' does not exist.`)
  const site = siteOfGroup.get(group.id)
  switch (segment?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch({ GET: getGroup }, group, request)
    case "members":
    case "transitivemembers":
    case "owners": {
      const rows = group.members.map((id) => users.get(id)).filter((user) => user !== undefined)
      return yield* list(request, { of: "directoryObjects", rows, view: view(request, true) }, isCount(last))
    }
    case "drive":
    case "drives":
      return yield* Drives.of(site?.id ?? "", rest.slice(1), request)
    case "sites":
      if (site === undefined || last?.text.toLowerCase() !== "root") {
        return yield* Failure.itemNotFound("The group has no such site.")
      }
      return yield* Sites.site(site, rest.slice(3), request)
    default:
      return yield* Failure.unknownSegment(segment?.text ?? "")
  }
})
