/** Users of a workspace over HTTP. */
import { CurrentPrincipal, type Permission } from "@signalbox/api/contract/Authorization"
import type { UserId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { User, UserLink } from "@signalbox/api/contract/Users"
import { defined } from "@signalbox/transport/Defined"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, forbidden, invalidRequest, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { namesOf } from "../engine/Logins.ts"
import * as Standing from "../edge/Standing.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import { Identities } from "../store/access/Identities.ts"
import { type Member, Memberships } from "../store/access/Memberships.ts"
import { Workspaces } from "../store/access/Workspaces.ts"
import { Database } from "../store/database/Database.ts"

const invitationLifetime = Duration.hours(72)
const resetLifetime = Duration.hours(1)

/** Somebody without a password is signed in by others. */
const hasEntered = ({ last_sign_in_at, password }: Member) => password !== null || last_sign_in_at !== null

const view = (member: Member): User => ({
  id: member.id,
  login: member.login,
  first_name: member.first_name,
  last_name: member.last_name,
  email: member.email,
  state: member.disabled ? "disabled" : hasEntered(member) ? "active" : "invited",
  role: member.role,
  manages_room: member.manages_room,
  second_factor: member.totp_secret !== null,
  sign_in_provider: member.provider,
  created_at: member.created_at,
  last_sign_in_at: member.last_sign_in_at
})

interface Params {
  readonly workspace_id: WorkspaceId
  readonly user_id: UserId
}

export const layer = Endpoints.group(
  "users",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const memberships = yield* Memberships
    const sessions = yield* AccountSessions
    const identities = yield* Identities
    const keys = yield* ApiKeys
    const workspaces = yield* Workspaces
    const publicUrl = yield* PublicUrl
    const { transaction } = yield* Database
    const { page } = yield* Pagination

    const find = ({ user_id, workspace_id }: Params) =>
      orNotFound("user", user_id, memberships.find(workspace_id, user_id))

    const roleOf = Effect.fnUntraced(function* (workspace: WorkspaceId, role: string) {
      const permissions = yield* memberships.permissionsOfRole(workspace, role)
      if (permissions !== null) return permissions
      return yield* invalidRequest(`role: this workspace has no role ${role}; \`signalbox roles list\` shows them`)
    })

    /** What a member can do here. A role that was deleted in between permits nothing. */
    const heldBy = Effect.fnUntraced(function* (workspace: WorkspaceId, { manages_room, role }: Member) {
      const held = new Set(yield* memberships.permissionsOfRole(workspace, role))
      return manages_room ? held.add("Room.manage") : held
    })

    /** Refuses to act on who has a permission that the caller lacks. */
    const mayTouch = Effect.fnUntraced(function* (workspace: WorkspaceId, member: Member) {
      const principal = yield* CurrentPrincipal
      const held: ReadonlySet<Permission> = yield* heldBy(workspace, member)
      yield* Standing.covers(principal, held, `${member.login} has the role ${member.role}`)
    })

    /** Whether an account is more than a member of this workspace, so that only who operates the room changes it as a whole. */
    const isOfOthers = Effect.fnUntraced(function* (
      workspace: WorkspaceId,
      { id, manages_room }: Pick<Member, "id" | "manages_room">
    ) {
      if (Standing.managesRoom(yield* CurrentPrincipal)) return false
      return manages_room || (yield* memberships.of(id)).some((one) => one.workspace.id !== workspace)
    })

    const mayTouchWhole = Effect.fnUntraced(function* (workspace: WorkspaceId, member: Member) {
      if (yield* isOfOthers(workspace, member)) {
        return yield* forbidden(
          `${member.login} also belongs to another workspace; who operates the room (Room.manage) can do this`
        )
      }
    })

    /** Refuses to act on an account as a whole, where it is more than a member of this workspace. */
    const mayTouchAccount = Effect.fnUntraced(function* (workspace: WorkspaceId, member: Member) {
      yield* mayTouch(workspace, member)
      yield* mayTouchWhole(workspace, member)
    })

    /** The last who can let others in stays: here, or in every workspace. Who never signed in could not. */
    const keepAdmin = Effect.fnUntraced(function* (member: Member, workspace: WorkspaceId | null) {
      if (member.disabled || member.last_sign_in_at === null) return
      const only = yield* memberships.onlyIn(member.id, "admin")
      const last = workspace === null ? only[0] : only.find(({ id }) => id === workspace)
      if (last === undefined) return
      const message = `${member.login} is the last admin of the workspace ${last.name}; give somebody else the role first`
      return yield* conflict(message)
    })
    const keepManager = Effect.fnUntraced(function* (member: Member) {
      if (!member.manages_room || member.disabled || member.last_sign_in_at === null) return
      if ((yield* accounts.otherManagers(member.id)) > 0) return
      return yield* conflict(`${member.login} is the last who operates the room; let somebody else operate it first`)
    })

    const linkFor = Effect.fnUntraced(function* (member: Pick<Member, "id" | "password">) {
      const lifetime = member.password === null ? invitationLifetime : resetLifetime
      const { expiresAt, link } = yield* sessions.createLink(member.id, lifetime)
      const made: UserLink = { url: Redacted.make(`${publicUrl}/console/#link=${link}`), expires_at: expiresAt }
      return made
    })

    return handlers.handleAll({
      listUsers: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) => memberships.list(params.workspace_id, from),
          (members) => Effect.succeed(members.map(view))
        ),
      getUser: ({ params }) => Effect.map(find(params), view),
      inviteUser: Effect.fnUntraced(function* ({ params, payload }) {
        const workspace = params.workspace_id
        const principal = yield* CurrentPrincipal
        yield* accounts.lock
        const { email = null, first_name, last_name, login, manages_room = false, role } = payload
        yield* Standing.covers(principal, yield* roleOf(workspace, role), `role: ${role} would be given`)
        if (manages_room) yield* Standing.covers(principal, ["Room.manage"], "manages_room: it would be given")
        const known = yield* accounts.byLogin(login)
        if (known !== null && (yield* memberships.find(workspace, known.id)) !== null) {
          return yield* conflict(`login: ${login} is a user of this workspace already; change the role of that user`)
        }
        // A link is as good as the account: invited elsewhere too, it is for who operates the room.
        const mayLink = known === null || (known.password === null && !(yield* isOfOthers(workspace, known)))
        const account =
          known ?? (yield* accounts.create({ login, ...namesOf(login, first_name, last_name), email, manages_room }))
        if (account === null) return yield* conflict(`login: ${login} is taken`)
        yield* memberships.put(workspace, account.id, role)
        if (yield* workspaces.requiresSecondFactor(workspace)) yield* sessions.endWithoutFactor(workspace)
        yield* memberships.changed
        const member = (yield* memberships.find(workspace, account.id)) ?? { ...account, role, provider: null }
        // Who signs in with a provider needs none.
        const link = mayLink && member.provider === null ? yield* linkFor(member) : null
        return { ...view(member), link }
      }, transaction),
      updateUser: Effect.fnUntraced(function* ({ params, payload }) {
        const workspace = params.workspace_id
        const principal = yield* CurrentPrincipal
        yield* accounts.lock
        const member = yield* find(params)
        const { disabled, email, first_name, last_name, manages_room, role } = payload
        const values = defined({ disabled, email, first_name, last_name, manages_room })
        yield* Object.keys(values).length === 0 ? mayTouch(workspace, member) : mayTouchAccount(workspace, member)
        if (role !== undefined && role !== member.role) {
          yield* Standing.covers(principal, yield* roleOf(workspace, role), `role: ${role} would be given`)
          yield* keepAdmin(member, workspace)
          yield* memberships.put(workspace, member.id, role)
        }
        if (manages_room === true) {
          yield* Standing.covers(principal, ["Room.manage"], "manages_room: it would be given")
        }
        if (manages_room === false || disabled === true) yield* keepManager(member)
        if (disabled === true) {
          yield* keepAdmin(member, null)
          yield* sessions.voidLink(member.id)
          yield* sessions.end(member.id, { except: null })
        }
        if (disabled === false) yield* identities.touch(member.id)
        if (Object.keys(values).length > 0) yield* accounts.update(member.id, values)
        yield* memberships.changed
        return view(yield* find(params))
      }, transaction),
      createUserLink: Effect.fnUntraced(function* ({ params }) {
        const member = yield* find(params)
        yield* mayTouchAccount(params.workspace_id, member)
        if (member.disabled) return yield* conflict(`${member.login} is disabled; enable the account first`)
        return yield* linkFor(member)
      }, transaction),
      deleteUser: Effect.fnUntraced(function* ({ params }) {
        const workspace = params.workspace_id
        yield* accounts.lock
        const member = yield* find(params)
        yield* mayTouch(workspace, member)
        yield* keepAdmin(member, workspace)
        for (const { id } of yield* keys.ownedBy(member.id)) yield* keys.remove(workspace, id)
        yield* memberships.remove(workspace, member.id)
        const isElsewhere = (yield* memberships.of(member.id)).length > 0
        if (!isElsewhere && !member.manages_room) yield* accounts.remove(member.id)
        yield* memberships.changed
        return { id: member.id, deleted: true } as const
      }, transaction),
      listUserSessions: Effect.fnUntraced(function* ({ params, query, request }) {
        const member = yield* find(params)
        yield* mayTouch(params.workspace_id, member)
        return yield* page(request, query, (from) => sessions.list(member.id, from), Effect.succeed)
      }),
      endUserSessions: Effect.fnUntraced(function* ({ params }) {
        const member = yield* find(params)
        // Like the revocation of a key, it takes nothing that does not come back: also of who is stronger.
        yield* mayTouchWhole(params.workspace_id, member)
        yield* sessions.end(member.id, { except: null })
        return { id: member.id, deleted: true } as const
      }, transaction),
      deleteUserSecondFactor: Effect.fnUntraced(function* ({ params }) {
        yield* accounts.lock
        const member = yield* find(params)
        yield* mayTouchAccount(params.workspace_id, member)
        yield* accounts.removeSecondFactor(member.id)
        yield* sessions.end(member.id, { except: null })
        return { id: member.id, deleted: true } as const
      }, transaction),
      getSignInRules: ({ params }) =>
        Effect.map(workspaces.requiresSecondFactor(params.workspace_id), (required) => ({
          second_factor_required: required
        })),
      putSignInRules: Effect.fnUntraced(function* ({ params, payload }) {
        yield* accounts.lock
        yield* workspaces.setRequiresSecondFactor(params.workspace_id, payload.second_factor_required)
        if (payload.second_factor_required) yield* sessions.endWithoutFactor(params.workspace_id)
        return payload
      }, transaction)
    })
  })
)
