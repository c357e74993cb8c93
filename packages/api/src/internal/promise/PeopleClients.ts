/** Users of the workspace and their roles, with promises. */
import type { Deleted } from "../../contract/Common.ts"
import type { UserId } from "../../contract/Ids.ts"
import * as Roles from "../../Roles.ts"
import * as Users from "../../Users.ts"
import type { Permissions } from "./AdministrationClients.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { ListOptions, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** People with an account of the room, as members of the workspace. */
export interface UsersClient {
  /**
   * Returns one page, oldest first.
   * @example const { data } = await room.users.list({ limit: 50 })
   */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<Users.User>>
  /**
   * All users, oldest first.
   * @example for await (const { login } of room.users.stream()) console.log(login)
   */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<Users.User>
  /** Returns a user. */
  readonly get: (user: string, options?: CallOptions) => ApiPromise<Users.User>
  /**
   * Makes a person a member with a role; `link` lets somebody without a password choose one, and is returned only here.
   * @example const { link } = await room.users.invite({ login: "ada", role: "operator" })
   */
  readonly invite: (invitation: Users.Invitation, options?: CallOptions) => ApiPromise<Users.UserInvited>
  /**
   * Changes what is given.
   * @example await room.users.update(user, { role: "viewer" })
   */
  readonly update: (user: string, change: Users.UserChange, options?: CallOptions) => ApiPromise<Users.User>
  /** Returns a new link to choose a password; other links of the user are void. */
  readonly createLink: (user: string, options?: CallOptions) => ApiPromise<Users.UserLink>
  /** Ends the membership of a user, and deletes the keys of this workspace that they own. */
  readonly remove: (user: string, options?: CallOptions) => ApiPromise<Deleted<UserId>>
  /**
   * Returns one page of the browsers in which a user is signed in, newest first.
   * @example const { data } = await room.users.listSessions(user)
   */
  readonly listSessions: (
    user: string,
    page?: ListOptions,
    options?: CallOptions
  ) => ApiPromise<ListPage<Users.UserSession>>
  /** Signs a user out everywhere. */
  readonly endSessions: (user: string, options?: CallOptions) => ApiPromise<Deleted<UserId>>
  /** Removes the second factor of a user who has lost it, and signs them out. */
  readonly removeSecondFactor: (user: string, options?: CallOptions) => ApiPromise<Deleted<UserId>>
  /** Returns what the workspace asks of members when they sign in. */
  readonly signInRules: (options?: CallOptions) => ApiPromise<Users.SignInRules>
  /**
   * Changes what the workspace asks of members when they sign in; who lacks it is signed out.
   * @example await room.users.setSignInRules({ second_factor_required: true })
   */
  readonly setSignInRules: (rules: Users.SignInRules, options?: CallOptions) => ApiPromise<Users.SignInRules>
}

export const users = /* @__PURE__ */ members<UsersClient>(Users, {
  list: 1,
  stream: 1,
  get: 1,
  invite: 1,
  update: 2,
  createLink: 1,
  remove: 1,
  listSessions: 2,
  endSessions: 1,
  removeSecondFactor: 1,
  signInRules: 0,
  setSignInRules: 1
})

/** Roles of the users of the workspace. */
export interface RolesClient {
  /** Returns all roles, those that every workspace has first. */
  readonly all: (options?: CallOptions) => ApiPromise<ReadonlyArray<Roles.Role>>
  /**
   * Creates a role, or replaces its permissions.
   * @example await room.roles.put("clerk", ["Processes.read_runs"])
   */
  readonly put: (name: string, permissions: Permissions, options?: CallOptions) => ApiPromise<Roles.Role>
  /** Deletes a role that no user has. */
  readonly remove: (
    name: string,
    options?: CallOptions
  ) => ApiPromise<{ readonly name: string; readonly deleted: true }>
}

export const roles = /* @__PURE__ */ members<RolesClient>(Roles, { all: 0, put: 2, remove: 1 })
