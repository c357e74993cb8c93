/**
 * People of the organisation.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { asBytes } from "./internal/requests/Transport.ts"
import { json, list, request } from "./internal/requests/Call.ts"
import { type ListOptions, listQuery, type Selection, selection } from "./internal/requests/Options.ts"
import { type UserId } from "./model/Common.ts"
import { User } from "./model/User.ts"
import { below, odataText, path, searchClause } from "./Path.ts"

export { User } from "./model/User.ts"

const one = /* @__PURE__ */ json(User)
const many = /* @__PURE__ */ list(User)

/** Searches and some filters of the directory are answered only with this. */
const eventual = { ConsistencyLevel: "eventual" }

/**
 * The account that is signed in. Fields beyond the usual ones, such as `aboutMe`, come only when they are selected.
 *
 * ```ts
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const about = Users.me({ select: ["displayName", "aboutMe"] })
 * ```
 */
export const me = /* @__PURE__ */ Effect.fn("Users.me")((options: Selection<User> = {}) =>
  one({ path: path`/me`, query: { $select: selection(options.select) } })
)

/** A user by id or principal name; fails with `NotFound`. */
export const get = /* @__PURE__ */ Effect.fn("Users.get")((user: UserId | string, options: Selection<User> = {}) =>
  one({ path: path`/users/${user}`, query: { $select: selection(options.select) } })
)

/**
 * The users of the organisation.
 *
 * ```ts
 * import { odataText } from "@signalbox/graph/Path"
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const sales = Users.stream({
 *   filter: `department eq ${odataText("Sales")}`,
 *   select: ["displayName", "mail"]
 * })
 * ```
 */
export const stream = (
  options: ListOptions<User> & {
    /** For filters with `endswith`, `ne` or `not`, and for filters that are ordered: slower, and seconds behind. */
    readonly advanced?: boolean | undefined
  } = {}
): Stream.Stream<User, GraphError, Graph> =>
  many({
    path: path`/users`,
    query: { ...listQuery(options), $count: options.advanced === true ? true : undefined },
    headers: options.advanced === true ? eventual : undefined
  }).pipe(Stream.withSpan("Users.stream"))

export interface SearchOptions extends Selection<User> {
  /** Default `displayName`. Of `displayName` any word matches, of other fields the beginning. */
  readonly field?: (keyof User & string) | undefined
  /** Where to search, default `users`; such as `groups/<id>/members`. */
  readonly resource?: string | undefined
  /** `words` (default): the service's search. `startsWith`: a filter, which also personal accounts answer. */
  readonly mode?: "words" | "startsWith" | undefined
  readonly pageSize?: number | undefined
}

/**
 * All users that match a text, over all pages.
 *
 * ```ts
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const johns = Users.search("John", {
 *   resource: "groups/5ce1/members",
 *   select: ["displayName", "mail"]
 * })
 * ```
 */
export const search = (text: string, options: SearchOptions = {}): Stream.Stream<User, GraphError, Graph> => {
  const field = options.field ?? "displayName"
  const query = { $top: options.pageSize ?? 100, $select: selection(options.select) }
  const target = below(options.resource ?? "users")
  const found =
    options.mode === "startsWith"
      ? many({ path: target, query: { ...query, $filter: `startswith(${field},${odataText(text)})` } })
      : many({ path: target, query: { ...query, $search: searchClause(field, text) }, headers: eventual })
  return Stream.withSpan(found, "Users.search")
}

/** Returns the manager of a user; fails with `NotFound` when none is set. */
export const manager = /* @__PURE__ */ Effect.fn("Users.manager")(
  (user: UserId | string, options: Selection<User> = {}) =>
    one({ path: path`/users/${user}/manager`, query: { $select: selection(options.select) } })
)

/** Emits the users who report to a user. */
export const directReports = (
  user: UserId | string,
  options: Selection<User> = {}
): Stream.Stream<User, GraphError, Graph> =>
  many({ path: path`/users/${user}/directReports`, query: { $select: selection(options.select) } }).pipe(
    Stream.withSpan("Users.directReports")
  )

/** Emits the bytes of the photo of a user; fails with `NotFound` when it does not exist. */
export const photo = /* @__PURE__ */ Effect.fn("Users.photo")((user: UserId | string) =>
  Effect.map(request({ path: path`/users/${user}/photo/$value` }, asBytes), ({ value }) => value)
)
