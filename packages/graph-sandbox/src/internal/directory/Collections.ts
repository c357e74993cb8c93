/**
 * Collections of the directory: users and groups as rows, and which queries the service answers.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import * as Failure from "../model/Failure.ts"
import * as Filter from "../requests/Filter.ts"
import { dispatch, type GraphRequest, ok } from "../requests/GraphRequest.ts"
import type { Group, Properties, User } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as Search from "./Search.ts"

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

/** A user as the request selects; `typed` among other objects of the directory. */
export const viewUser =
  (request: GraphRequest, typed = false) =>
  (user: User): Properties => {
    const all: Properties = { businessPhones: [], ...user }
    const annotation = typed ? { "@odata.type": "#microsoft.graph.user" } : {}
    const shown = Object.fromEntries(basic.map((name) => [name, all[name] ?? null]))
    return { ...annotation, ...shown, ...(request.options.has("select") ? all : {}) }
  }

export const viewGroup = ({ members: _, ...group }: Group): Properties => ({
  "@odata.type": "#microsoft.graph.group",
  description: null,
  groupTypes: ["Unified"],
  mail: null,
  mailEnabled: true,
  securityEnabled: false,
  visibility: "Private",
  ...group
})

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

/** The collection at an address that can only be read. */
export const list = <A extends Properties>(
  request: GraphRequest,
  given: { readonly of: string; readonly rows: ReadonlyArray<A>; readonly view: (row: A) => Properties },
  isCount: boolean
) => dispatch({ GET: () => collection(request, given, isCount) }, given, request)

export const isCount = (segment: Segment | undefined) => segment?.text.toLowerCase() === "$count"
