/**
 * People with an account of the room, as members of the workspace. An extension of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { Deleted, Page } from "./contract/Common.ts"
import type { UserId } from "./contract/Ids.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Users.ts"
import { page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type { Invitation, SignInRules, User, UserChange, UserInvited, UserLink, UserSession } from "./contract/Users.ts"

const call = {
  list: returning<Page<contract.User>, InvalidRequest>()(inWorkspace(contract.list)),
  get: returning<contract.User, NotFound>()(inWorkspace(contract.get)),
  invite: returning<contract.UserInvited, Conflict | InvalidRequest>()(inWorkspace(contract.invite)),
  update: returning<contract.User, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  createLink: returning<contract.UserLink, Conflict | NotFound>()(inWorkspace(contract.createLink)),
  remove: returning<Deleted<UserId>, Conflict | NotFound>()(inWorkspace(contract.remove)),
  listSessions: returning<Page<contract.UserSession>, InvalidRequest | NotFound>()(inWorkspace(contract.listSessions)),
  endSessions: returning<Deleted<UserId>, NotFound>()(inWorkspace(contract.endSessions)),
  removeSecondFactor: returning<Deleted<UserId>, NotFound>()(inWorkspace(contract.removeSecondFactor)),
  signInRules: returning<contract.SignInRules>()(inWorkspace(contract.signInRules)),
  setSignInRules: returning<contract.SignInRules, InvalidRequest>()(inWorkspace(contract.setSignInRules))
}

/** Returns one page, oldest first. */
export const list = Effect.fn("Users.list")(
  (options: ListOptions = {}) => call.list({ query: options }),
  refusing("users.list", { 0: page })
)

/** Emits all users, oldest first. */
export const stream = (options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("users.stream", pageSize, options))

/** Returns a user. */
export const get = Effect.fn("Users.get")((user: UserId) => call.get({ params: { user_id: user } }))

/**
 * Makes a person a member with a role. `link` of the result, redacted and returned only here, lets somebody without a password choose one,
 * once and within 72 hours; it is null for an account that has one. Fails with `Conflict` for a login that is a member already.
 *
 * ```ts
 * import * as Users from "@signalbox/api/Users"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * export const invited = Effect.gen(function* () {
 *   const { link } = yield* Users.invite({
 *     login: "ada@example.com",
 *     first_name: "Ada",
 *     last_name: "Lovelace",
 *     role: "operator"
 *   })
 *   return link === null ? null : Redacted.value(link.url)
 * })
 * ```
 */
export const invite = Effect.fn("Users.invite")(
  (invitation: contract.Invitation) => call.invite({ payload: invitation }),
  refusing("users.invite", { 0: contract.Invitation })
)

/** Changes what is given: the role here, or the account. Fails with `Conflict` for the last `admin` of the workspace. */
export const update = Effect.fn("Users.update")(
  (user: UserId, change: contract.UserChange) => call.update({ params: { user_id: user }, payload: change }),
  refusing("users.update", { 1: contract.UserChange })
)

/** Returns a new link, redacted, to choose a password: for 72 hours for who never had one, else for an hour. */
export const createLink = Effect.fn("Users.createLink")((user: UserId) =>
  call.createLink({ params: { user_id: user } })
)

/** Ends the membership of a user, and deletes the keys of this workspace that they own. */
export const remove = Effect.fn("Users.remove")((user: UserId) => call.remove({ params: { user_id: user } }))

/** Returns one page of the browsers in which a user is signed in, newest first. */
export const listSessions = Effect.fn("Users.listSessions")(
  (user: UserId, options: ListOptions = {}) => call.listSessions({ params: { user_id: user }, query: options }),
  refusing("users.listSessions", { 1: page })
)

/** Signs a user out everywhere. */
export const endSessions = Effect.fn("Users.endSessions")((user: UserId) =>
  call.endSessions({ params: { user_id: user } })
)

/** Removes the second factor of a user who has lost it, and signs them out. */
export const removeSecondFactor = Effect.fn("Users.removeSecondFactor")((user: UserId) =>
  call.removeSecondFactor({ params: { user_id: user } })
)

/** Returns what the workspace asks of members when they sign in. */
export const signInRules = Effect.fn("Users.signInRules")(() => call.signInRules({}))

/**
 * Changes what the workspace asks of members when they sign in. Members with a password and without the second factor that is required
 * from now on are signed out, and set one up when they sign in again.
 */
export const setSignInRules = Effect.fn("Users.setSignInRules")(
  (rules: contract.SignInRules) => call.setSignInRules({ payload: rules }),
  refusing("users.setSignInRules", { 0: contract.SignInRules })
)
