/** People with an account of the room, as members of a workspace. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Audited, entry } from "./Auditing.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Users.ts"

export * from "../internal/endpoints/Users.ts"

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the users of the workspace, oldest first"
).annotate(RequiredPermission, "Workspace.read_users")

/** Extension. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a user").annotate(
  RequiredPermission,
  "Workspace.read_users"
)

/**
 * Extension: makes an account a member, with a link to choose a password where it has none. A role with a permission that the caller lacks
 * is a 403, and `manages_room` needs `Room.manage`.
 */
export const invite: EndpointOf<typeof declared.invite> = endpoint(declared.invite, "Invite a user")
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("user"))

/**
 * Extension: changes what is given. Of an account that also belongs to another workspace, or operates the room, only `Room.manage` changes
 * more than the role. The last `admin` keeps the role, and the last who operates the room keeps that.
 */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Change a user")
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(Audited, entry("user"))

/** Extension: a link to choose a password, once: for 72 hours of an invitation, else for an hour. Other links of the user are void. */
export const createLink: EndpointOf<typeof declared.createLink> = endpoint(
  declared.createLink,
  "Create a link to choose a password"
)
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("user"))

/**
 * Extension: ends the membership, and deletes the keys of this workspace that the user owns. An account without a workspace that does not
 * operate the room is deleted.
 */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Remove a user from the workspace")
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(Audited, entry("user"))

/** Extension. */
export const listSessions: EndpointOf<typeof declared.listSessions> = endpoint(
  declared.listSessions,
  "List the browsers in which a user is signed in, newest first"
).annotate(RequiredPermission, "Workspace.manage_users")

/** Extension: signs the user out everywhere. */
export const endSessions: EndpointOf<typeof declared.endSessions> = endpoint(
  declared.endSessions,
  "End the sessions of a user"
)
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(Audited, entry("user"))

/**
 * Extension: removes the second factor of a user who has lost it, and signs them out. Of an account that also belongs to another
 * workspace, or operates the room, only who has `Room.manage` does.
 */
export const removeSecondFactor: EndpointOf<typeof declared.removeSecondFactor> = endpoint(
  declared.removeSecondFactor,
  "Remove the second factor of a user"
)
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(Audited, entry("user"))

/** Extension. */
export const signInRules: EndpointOf<typeof declared.signInRules> = endpoint(
  declared.signInRules,
  "Get what the workspace asks of members when they sign in"
).annotate(RequiredPermission, "Workspace.read_users")

/** Extension: when a second factor is required from now on, members with a password and without one are signed out. */
export const setSignInRules: EndpointOf<typeof declared.setSignInRules> = endpoint(
  declared.setSignInRules,
  "Change what the workspace asks of members when they sign in"
)
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(Audited, entry("workspace"))

export const Users: Group<
  "users",
  | typeof list
  | typeof get
  | typeof invite
  | typeof update
  | typeof createLink
  | typeof remove
  | typeof listSessions
  | typeof endSessions
  | typeof removeSecondFactor
  | typeof signInRules
  | typeof setSignInRules,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("users")
  .add(
    list,
    get,
    invite,
    update,
    createLink,
    remove,
    listSessions,
    endSessions,
    removeSecondFactor,
    signInRules,
    setSignInRules
  )
  .middleware(WorkspaceAuthorization)
