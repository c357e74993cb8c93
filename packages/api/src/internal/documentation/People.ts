/** Users of workspaces and their roles. */
import { builtInRoles } from "../../contract/Authorization.ts"
import type { Roles } from "../../contract/Roles.ts"
import type { Users } from "../../contract/Users.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badPage, unknown } from "./Phrases.ts"

const user = {
  id: ids.user,
  login: "ada@example.com",
  first_name: "Ada",
  last_name: "Lovelace",
  email: "ada@example.com",
  state: "active",
  role: "operator",
  manages_room: false,
  second_factor: false,
  sign_in_provider: null,
  created_at: "2026-11-20T08:15:30.000Z",
  last_sign_in_at: "2026-11-20T09:00:00.000Z"
} as const

const link = {
  url: "https://robots.example.com/console/#link=sbi_019aa0b2-5c00-7000-8000-0000000000f1_secret",
  expires_at: "2026-11-23T08:15:30.000Z"
}

const stronger =
  "The caller lacks `Workspace.manage_users`, or a permission of the role or of the user; nobody changes who can do more."
const elsewhere = `${stronger} Of an account that also belongs to another workspace, only who has \`Room.manage\` changes more than the role.`

export const users: Documented<typeof Users> = {
  listUsers: {
    description: "Returns the users of the workspace with their roles, oldest first.",
    response: { data: [user], has_more: false, next: null },
    errors: { 400: badPage }
  },
  getUser: {
    description: "Returns a user of the workspace.",
    response: user,
    errors: { 404: unknown("user") }
  },
  inviteUser: {
    description:
      "Makes a person a user of the workspace. A login that is new in the room gets an account, and `link` in the response lets them choose a password, once and within 72 hours; it is returned only here. An account that exists keeps its name and address, and `link` is null where it has a password, or belongs to another workspace too, which only who operates the room may let in.",
    request: { login: "ada@example.com", first_name: "Ada", last_name: "Lovelace", role: "operator" },
    response: { ...user, email: null, state: "invited", last_sign_in_at: null, link },
    errors: {
      400: "The body does not match the schema, or the workspace has no such role. The message says which.",
      403: "The caller lacks `Workspace.manage_users`, or a permission of the role; `manages_room` needs `Room.manage`.",
      409: "The login is a user of this workspace already."
    }
  },
  updateUser: {
    description:
      "Changes what the body has, and is in effect within a second: streams and sessions that may do less end. A disabled account cannot sign in, and the keys that it owns are refused until it is enabled.",
    request: { role: "operator" },
    response: user,
    errors: {
      400: "The body does not match the schema, or the workspace has no such role. The message says which.",
      403: elsewhere,
      404: unknown("user"),
      409: "It is the last `admin` of the workspace, or the last who operates the room."
    }
  },
  createUserLink: {
    description:
      "Returns a link to choose a password, which works once: for 72 hours for who never had a password, else for an hour. Other links of the user are void from then on, and so is this one when the password changes or the account is disabled.",
    response: link,
    errors: { 403: elsewhere, 404: unknown("user"), 409: "The account is disabled." }
  },
  deleteUser: {
    description:
      "Ends the membership, and deletes the keys of this workspace that the user owns; hand over those that programs need before. An account that belongs to no other workspace and does not operate the room is deleted. What the user started or made continues.",
    response: { id: ids.user, deleted: true },
    errors: { 403: stronger, 404: unknown("user"), 409: "It is the last `admin` of the workspace." }
  },
  listUserSessions: {
    description: "Returns the browsers in which a user is signed in, newest first.",
    response: {
      data: [
        {
          id: ids.session,
          created_at: "2026-11-20T09:00:00.000Z",
          last_used_at: "2026-11-20T09:12:00.000Z",
          expires_at: "2026-11-20T21:00:00.000Z",
          address: "192.0.2.7",
          browser: "Mozilla/5.0"
        }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage, 403: stronger, 404: unknown("user") }
  },
  endUserSessions: {
    description: "Signs a user out in every browser, also one who can do more than the caller.",
    response: { id: ids.user, deleted: true },
    errors: {
      403: "The caller lacks `Workspace.manage_users`; of an account that also belongs to another workspace, or operates the room, only who has `Room.manage` ends sessions.",
      404: unknown("user")
    }
  },
  deleteUserSecondFactor: {
    description:
      "Removes the second factor of a user who has lost the app and the recovery codes, and signs them out. The password alone lets them in then, unless a workspace of theirs requires a second factor: they set one up at the next sign-in.",
    response: { id: ids.user, deleted: true },
    errors: { 403: elsewhere, 404: unknown("user") }
  },
  getSignInRules: {
    description: "Returns what the workspace asks of members when they sign in.",
    response: { second_factor_required: true },
    errors: {}
  },
  putSignInRules: {
    description:
      "Changes what the workspace asks of members when they sign in. When a second factor is required from now on, members who have a password and no second factor are signed out, and set one up when they sign in again. Keys are not concerned.",
    request: { second_factor_required: true },
    response: { second_factor_required: true },
    errors: { 400: badBody }
  }
}

const own = { name: "clerk", permissions: ["Processes.read_runs"], built_in: false } as const
const changed = "The caller lacks `Workspace.manage_users`, or a permission that the role has or would get."

export const roles: Documented<typeof Roles> = {
  getRoles: {
    description:
      "Returns all roles. Every workspace has `viewer`, which sees everything but values of secrets, `operator`, which also keeps work going, `builder`, which also changes processes and what belongs to them, and `admin`, which also manages keys, users and roles.",
    response: {
      data: [
        { name: "viewer", permissions: [...builtInRoles.viewer], built_in: true },
        { name: "operator", permissions: [...builtInRoles.operator], built_in: true },
        { name: "builder", permissions: [...builtInRoles.builder], built_in: true },
        { name: "admin", permissions: [...builtInRoles.admin], built_in: true },
        own
      ]
    },
    errors: {}
  },
  putRole: {
    description: "Creates a role, or replaces its permissions. It is in effect within a second.",
    request: { permissions: ["Processes.read_runs"] },
    response: own,
    errors: { 400: badBody, 403: changed, 409: "Every workspace has this role; it cannot be changed." }
  },
  deleteRole: {
    description: "Deletes a role that no user has.",
    response: { name: "clerk", deleted: true },
    errors: {
      403: changed,
      404: unknown("role"),
      409: "A user has the role, or every workspace has it."
    }
  }
}
