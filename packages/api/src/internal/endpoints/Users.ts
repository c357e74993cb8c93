/** People with an account of the room, as members of a workspace. An extension: those of the hosted service are managed in a console. */
import * as Schema from "effect/Schema"
import { Deleted, listQuery, Name, OpenEnum, Page, Text, Timestamp } from "../../contract/Common.ts"
import { UserId, WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse
} from "../../contract/Responses.ts"
import { MailAddress } from "./AlertChannels.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"
import { RoleName } from "./Roles.ts"

/** `invited`: has not signed in, and has no password yet. `disabled`: cannot sign in, and the keys that the user owns are refused. */
export const userStates = ["active", "invited", "disabled"] as const

/** What one signs in with: 1 to 100 characters without spaces, unique in the room whatever its case. */
export const Login = Text.check(
  Schema.isBetweenLength(1, 100),
  Schema.isPattern(/^[^\s\p{C}]+$/u, { message: "Expected a login without spaces, such as ada or ada@example.com" })
)

const PersonName = Text.check(Schema.isMaxLength(100))

const fields = {
  id: UserId,
  login: Schema.String,
  first_name: Schema.String,
  last_name: Schema.String,
  /** Never used to find the account. */
  email: Schema.NullOr(Schema.String),
  state: OpenEnum(userStates),
  /** The role in this workspace. */
  role: Schema.String,
  /** Whether the user also operates the room: accounts, new workspaces, its pause. */
  manages_room: Schema.Boolean,
  /** Whether the account asks for a code of an authenticator app when it signs in. */
  second_factor: Schema.Boolean,
  /** The id of a provider with which the user signs in; null: with none. */
  sign_in_provider: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  last_sign_in_at: Schema.NullOr(Timestamp)
}

/** A member of the workspace. */
export class User extends Struct<User>("User")(fields) {}

/** A link that lets a user choose a password, once. */
export class UserLink extends Struct<UserLink>()({
  url: Schema.RedactedFromValue(Schema.String),
  expires_at: Timestamp
}) {}

/** A new member; `link` is the invitation, shown only here, and null for an account that has a password already, or belongs to another workspace too. */
export class UserInvited extends Struct<UserInvited>("UserInvited")({
  ...fields,
  link: Schema.NullOr(UserLink)
}) {}

/** Whom to invite. An account with this login becomes a member with the role; its name and address stay as they are. */
export class Invitation extends Struct<Invitation>()({
  login: Login,
  role: RoleName,
  first_name: Schema.optionalKey(PersonName),
  last_name: Schema.optionalKey(PersonName),
  email: Schema.optionalKey(Schema.NullOr(MailAddress)),
  manages_room: Schema.optionalKey(Schema.Boolean)
}) {}

/** What changes of a user; the rest stays. */
export class UserChange extends Struct<UserChange>()({
  role: Schema.optionalKey(RoleName),
  first_name: Schema.optionalKey(PersonName),
  last_name: Schema.optionalKey(PersonName),
  email: Schema.optionalKey(Schema.NullOr(MailAddress)),
  manages_room: Schema.optionalKey(Schema.Boolean),
  disabled: Schema.optionalKey(Schema.Boolean)
}) {}

/** A browser that is signed in. */
export class UserSession extends Struct<UserSession>("UserSession")({
  id: Schema.String,
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
  /** The address that it signed in from; null where the server around the service provides none. */
  address: Schema.NullOr(Schema.String),
  /** What the browser says it is. */
  browser: Name
}) {}

/** What the workspace asks of members when they sign in. */
export class SignInRules extends Struct<SignInRules>("SignInRules")({
  /** Whether members with a password need a second factor; who has none sets one up at the next sign-in. */
  second_factor_required: Schema.Boolean
}) {}

const path = "/workspaces/:workspace_id/users"
const one = `${path}/:user_id` as const
const params = { workspace_id: WorkspaceId, user_id: UserId }
const written = [InvalidRequestResponse, NotFoundResponse, ConflictResponse, ForbiddenResponse] as const

export const list = /* @__PURE__ */ Endpoint.get("listUsers", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(User),
  error: InvalidRequestResponse
}))

export const get = /* @__PURE__ */ Endpoint.get("getUser", one, () => ({
  extension: true,
  params,
  success: User,
  error: NotFoundResponse
}))

export const invite = /* @__PURE__ */ Endpoint.post("inviteUser", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: Invitation,
  success: UserInvited,
  error: [InvalidRequestResponse, ConflictResponse, ForbiddenResponse]
}))

export const update = /* @__PURE__ */ Endpoint.post("updateUser", one, () => ({
  extension: true,
  params,
  payload: UserChange,
  success: User,
  error: written
}))

export const createLink = /* @__PURE__ */ Endpoint.post("createUserLink", `${one}/link`, () => ({
  extension: true,
  params,
  success: UserLink,
  error: [NotFoundResponse, ConflictResponse, ForbiddenResponse]
}))

export const remove = /* @__PURE__ */ Endpoint.delete("deleteUser", one, () => ({
  extension: true,
  params,
  success: Deleted(UserId),
  error: [NotFoundResponse, ConflictResponse, ForbiddenResponse]
}))

export const listSessions = /* @__PURE__ */ Endpoint.get("listUserSessions", `${one}/sessions`, () => ({
  extension: true,
  params,
  query: listQuery,
  success: Page(UserSession),
  error: [InvalidRequestResponse, NotFoundResponse, ForbiddenResponse]
}))

export const removeSecondFactor = /* @__PURE__ */ Endpoint.delete(
  "deleteUserSecondFactor",
  `${one}/second-factor`,
  () => ({
    extension: true,
    params,
    success: Deleted(UserId),
    error: [NotFoundResponse, ForbiddenResponse]
  })
)

const rules = "/workspaces/:workspace_id/sign-in-rules"

export const signInRules = /* @__PURE__ */ Endpoint.get("getSignInRules", rules, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  success: SignInRules
}))

export const setSignInRules = /* @__PURE__ */ Endpoint.post("putSignInRules", rules, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: SignInRules,
  success: SignInRules,
  error: InvalidRequestResponse
}))

export const endSessions = /* @__PURE__ */ Endpoint.delete("endUserSessions", `${one}/sessions`, () => ({
  extension: true,
  params,
  success: Deleted(UserId),
  error: [NotFoundResponse, ForbiddenResponse]
}))
