/** Which account somebody of a provider has, and the roles that their groups give it. */
import type { UserId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { GroupRole } from "../../Options.ts"
import { type Claims, groupsOf, personOf, rolesOf, subjectOf } from "../providers/Claims.ts"
import type { Provider } from "../providers/Providers.ts"
import { type Account, Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { type Identity, Identities } from "../store/access/Identities.ts"
import { type Membership, Memberships } from "../store/access/Memberships.ts"
import type { Begun } from "../store/access/ProviderSignIns.ts"
import { Workspaces } from "../store/access/Workspaces.ts"
import { AuditEntries, type Origin } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"

/** Why somebody whom the provider has let in is not let in here. */
export type Denial =
  | { readonly reason: "no subject"; readonly claim: string }
  | { readonly reason: "no groups claim" | "too many groups"; readonly claim: string }
  /** `groups`: null where roles do not come from groups. */
  | { readonly reason: "no access"; readonly groups: ReadonlyArray<string> | null }
  | { readonly reason: "link" | "bound" | "disabled" }

export type Admission = { readonly account: Account } | { readonly denied: Denial }

const denied = (denied: Denial): Admission => ({ denied })

/** What a person gets from groups in one workspace. */
interface Given {
  readonly workspace: WorkspaceId
  readonly role: string
  readonly createAccounts: boolean
}

export class ProviderAccounts extends Context.Service<
  ProviderAccounts,
  {
    /** In a transaction, which commits also when nobody is let in: roles of groups that one has left are gone. */
    readonly admit: (provider: Provider, claims: Claims, begun: Begun, origin: Origin) => Effect.Effect<Admission>
  }
>()("@signalbox/control-room/edge/ProviderAccounts") {
  static readonly layer = Layer.effect(
    ProviderAccounts,
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const audit = yield* AuditEntries
      const identities = yield* Identities
      const memberships = yield* Memberships
      const sessions = yield* AccountSessions
      const workspaces = yield* Workspaces
      const { transaction } = yield* Database

      /** The roles that the settings give to these groups, where workspace and role exist. */
      const givenTo = Effect.fnUntraced(function* (roles: ReadonlyArray<GroupRole>, groups: ReadonlyArray<string>) {
        const given: Array<Given> = []
        for (const { createAccounts = true, role, workspace } of rolesOf(roles, groups)) {
          const found = yield* workspaces.named(workspace)
          const permissions = found === null ? null : yield* memberships.permissionsOfRole(found.id, role)
          if (found !== null && permissions !== null) {
            // One may be named by its id and by its name.
            const isGiven = given.some((one) => one.workspace === found.id)
            if (!isGiven) given.push({ workspace: found.id, role, createAccounts })
            continue
          }
          const missing = found === null ? `workspace ${workspace}` : `role ${role} in the workspace ${workspace}`
          yield* Effect.logWarning(`a provider gives a role that cannot be: there is no ${missing}`)
        }
        return given
      })

      /** A new account with the first login that nobody has. An account with the same address is somebody else's until it is bound. */
      const create = Effect.fnUntraced(function* (claims: Claims, provider: string, identity: Identity) {
        const { logins, ...person } = personOf(claims, provider, identity.subject)
        for (const login of logins) {
          const account = yield* accounts.create({ ...person, login, manages_room: false })
          if (account === null) continue
          yield* identities.bind(identity, provider, account.id)
          return account
        }
        return null
      })

      /** The account that the identity is bound to; null: none. */
      const knownAs = Effect.fnUntraced(function* (identity: Identity): Effect.fn.Return<Admission | null> {
        const id = yield* identities.find(identity)
        const account = id === null ? null : yield* accounts.find(id)
        if (account === null) return null
        return account.disabled ? denied({ reason: "disabled" }) : { account }
      })

      /** Binds the identity to the account whose invitation was opened, once. */
      const accept = Effect.fnUntraced(function* (identity: Identity, provider: string, account: UserId, link: string) {
        const found = yield* accounts.find(account)
        // With a password, the second factor of an account would be passed by.
        if (found === null || found.disabled || found.password !== null) return denied({ reason: "link" })
        const bound = yield* identities.find(identity)
        if (bound !== null && bound !== account) return denied({ reason: "bound" })
        if (!(yield* sessions.useOpenedLink(account, link))) return denied({ reason: "link" })
        if (bound === null) yield* identities.bind(identity, provider, account)
        return { account: found }
      })

      const entry = (
        account: Account,
        origin: Origin,
        workspaceId: WorkspaceId,
        before: { readonly role: string } | null,
        after: { readonly role: string; readonly provider: string } | null
      ) =>
        audit.write({
          workspaceId,
          actor: { type: "user", id: account.id },
          origin,
          action: before === null ? "inviteUser" : after === null ? "deleteUser" : "updateUser",
          resource: { type: "user", id: account.id, name: account.login },
          before,
          after
        })

      /** The last who can let others in stays. */
      const mayLose = (account: Account, { role, workspace }: Membership) =>
        role === "admin"
          ? Effect.map(memberships.onlyIn(account.id, role), (only) => !only.some(({ id }) => id === workspace.id))
          : Effect.succeed(true)

      /** The roles of this provider become those that are given now. What people gave, and other providers, stays. */
      const assign = Effect.fnUntraced(function* (
        account: Account,
        provider: string,
        given: ReadonlyArray<Given>,
        origin: Origin
      ) {
        const held = yield* memberships.of(account.id)
        let changes = 0
        for (const one of held.filter((one) => one.provider === provider)) {
          const role = given.find(({ workspace }) => workspace === one.workspace.id)?.role
          if (role === one.role || !(yield* mayLose(account, one))) continue
          changes++
          yield* role === undefined
            ? memberships.remove(one.workspace.id, account.id)
            : memberships.put(one.workspace.id, account.id, role, provider)
          const after = role === undefined ? null : { role, provider }
          yield* entry(account, origin, one.workspace.id, { role: one.role }, after)
        }
        for (const { role, workspace } of given) {
          if (held.some((one) => one.workspace.id === workspace)) continue
          changes++
          yield* memberships.put(workspace, account.id, role, provider)
          yield* entry(account, origin, workspace, null, { role, provider })
        }
        if (changes > 0) yield* memberships.changed
      })

      const admit = Effect.fnUntraced(function* (
        { groupsClaim, settings, subjectClaim }: Provider,
        claims: Claims,
        { account_id, link_id }: Begun,
        origin: Origin
      ): Effect.fn.Return<Admission> {
        const subject = subjectOf(claims, subjectClaim)
        if (subject === null) return denied({ reason: "no subject", claim: subjectClaim })
        const { id, issuer, roles = [] } = settings
        const groups = roles.length === 0 ? null : groupsOf(claims, groupsClaim)
        if (groups?.kind === "missing") return denied({ reason: "no groups claim", claim: groupsClaim })
        if (groups?.kind === "too many") return denied({ reason: "too many groups", claim: groupsClaim })
        const names = groups === null ? null : groups.names
        const identity = { issuer, claim: subjectClaim, subject }

        yield* accounts.lock
        const given = yield* givenTo(roles, names ?? [])
        const found =
          account_id === null ? yield* knownAs(identity) : yield* accept(identity, id, account_id, link_id ?? "")
        if (found !== null && "denied" in found) return found
        const account =
          found?.account ?? (given.some((one) => one.createAccounts) ? yield* create(claims, id, identity) : null)
        if (account === null) return denied({ reason: "no access", groups: names })
        yield* identities.signedIn(identity)
        yield* assign(account, id, given, origin)
        const isMember = (yield* memberships.of(account.id)).length > 0
        return isMember || account.manages_room ? { account } : denied({ reason: "no access", groups: names })
      }, transaction)

      return ProviderAccounts.of({ admit })
    })
  )
}
