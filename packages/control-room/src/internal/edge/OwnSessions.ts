/** Sessions of people whom the program that embeds the room signs in. */
import type { UserId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { AuditEntries } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import * as MasterKeyRecord from "../store/database/MasterKeyRecord.ts"
import * as Tokens from "../vault/Tokens.ts"
import { cookiesOf } from "./CookieNames.ts"

/** Somebody whom the program has signed in. */
export interface OwnSession {
  /** By which the program knows the person, such as the id of its user. The same subject is the same account for good. */
  readonly subject: string
  /** As the console, runs and the audit show it. */
  readonly name: { readonly first: string; readonly last: string }
  /** The role in each workspace that the person belongs to. */
  readonly roles: ReadonlyArray<{ readonly workspaceId: WorkspaceId; readonly role: string }>
  /** The address under which browsers reach the room, with the path below which it is mounted. */
  readonly publicUrl: string
  /** Where the browser is, and what it says it is, as lists of sessions show it. */
  readonly from?: { readonly address?: string | undefined; readonly browser?: string | undefined } | undefined
}

/** The session was not opened: the account is disabled, or a role does not exist. */
export class SessionRefused extends Data.TaggedError("SessionRefused")<{ readonly message: string }> {}

const refuse = (message: string) => Effect.fail(new SessionRefused({ message }))

export const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const audit = yield* AuditEntries
  const memberships = yield* Memberships
  const sessions = yield* AccountSessions
  const { now, transaction } = yield* Database
  const fingerprint = yield* Effect.provideService(MasterKeyRecord.ofService, Database, yield* Database).pipe(
    Effect.cached
  )

  /** Logins are only shown: nobody is found by one, or an equal login would be an equal person. */
  const create = Effect.fnUntraced(function* ({ name, subject }: OwnSession) {
    const values = { first_name: name.first, last_name: name.last, email: null, manages_room: false, subject }
    const login = subject.slice(0, 100)
    const made =
      (yield* accounts.create({ ...values, login })) ??
      (yield* accounts.create({ ...values, login: `${login}#${crypto.randomUUID()}` }))
    return made ?? (yield* refuse(`the account of ${subject} was not created`))
  })

  /** Those that the program gives, and no others; the last `admin` of a workspace stays. */
  const setRoles = Effect.fnUntraced(function* (account: UserId, roles: OwnSession["roles"]) {
    for (const { role, workspaceId } of roles) {
      if ((yield* memberships.permissionsOfRole(workspaceId, role)) === null) {
        return yield* refuse(`the workspace ${workspaceId} has no role ${role}`)
      }
    }
    const kept = new Set((yield* memberships.onlyIn(account, "admin")).map(({ id }) => id))
    const given = new Map(roles.map(({ role, workspaceId }) => [workspaceId, role]))
    const before = new Map((yield* memberships.of(account)).map(({ role, workspace }) => [workspace.id, role]))
    for (const [workspace] of before) {
      if (!given.has(workspace) && !kept.has(workspace)) yield* memberships.remove(workspace, account)
    }
    const changed = [...given].filter(([workspace, role]) => before.get(workspace) !== role && !kept.has(workspace))
    for (const [workspace, role] of changed) yield* memberships.put(workspace, account, role)
    const isSame = changed.length === 0 && [...before.keys()].every((workspace) => given.has(workspace))
    if (!isSame) yield* memberships.changed
  })

  return Effect.fnUntraced(function* (asked: OwnSession) {
    const { from, name, publicUrl, roles, subject } = asked
    if (subject === "") return yield* refuse("subject: expected a text that is not empty")
    yield* accounts.lock
    const account = (yield* accounts.ofSubject(subject)) ?? (yield* create(asked))
    if (account.disabled) return yield* refuse(`the account of ${subject} is disabled`)
    yield* accounts.update(account.id, {
      first_name: name.first,
      last_name: name.last,
      last_sign_in_at: yield* now
    })
    yield* setRoles(account.id, roles)
    const where = { address: from?.address ?? null, browser: from?.browser ?? "" }
    const token = yield* sessions.open(account.id, where)
    for (const { workspace } of yield* memberships.of(account.id)) {
      yield* audit.write({
        workspaceId: workspace.id,
        actor: { type: "user", id: account.id },
        origin: { sessionId: Tokens.parse(token)?.id ?? null, address: where.address, requestId: null },
        action: "openSession",
        resource: { type: "user", id: account.id, name: null },
        before: null,
        after: null
      })
    }
    return Redacted.make(cookiesOf(publicUrl, yield* fingerprint).cookie(token))
  }, transaction)
})
