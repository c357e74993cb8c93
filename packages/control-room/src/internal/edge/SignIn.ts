/** Signing in with a password: one answer to whatever is wrong, and a wait that grows with what was wrong before. */
import type { UserId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Refusal, refuse } from "./Failures.ts"
import { type Account, Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { EntryOfRequest } from "../store/audit/AuditEntries.ts"
import { RefusedSignIns } from "../store/audit/RefusedSignIns.ts"
import { SignInPauses } from "../store/access/SignInPauses.ts"
import { Database } from "../store/database/Database.ts"
import { loginKey } from "../engine/Logins.ts"
import { Passwords, refusalOf } from "../vault/Passwords.ts"
import type * as Tokens from "../vault/Tokens.ts"
import { type Enrolment, SecondFactor } from "./SecondFactor.ts"

export interface Attempt {
  readonly login: string
  readonly password: string
  /** Of the second factor; undefined: it was not asked for yet. */
  readonly code: string | undefined
}

/** Where an attempt comes from. */
export interface From {
  readonly address: string | null
  readonly browser: string
  /** Whether the account has signed in with this browser before: it does not wait for what strangers get wrong. */
  readonly isKnown: boolean
  /** The provider that has let the person in; default: none, they gave a password. */
  readonly provider?: string | undefined
}

const busy = () =>
  Effect.fail(
    refuse(429, "RATE_LIMITED", "too many people sign in at this moment; try again in 2 s", { "retry-after": "2" })
  )

/** Of a link that lets nobody choose a password. */
export const badLink = () =>
  refuse(403, "FORBIDDEN", "the link is unknown, used or expired; ask an administrator for another")

const wrong = () =>
  refuse(
    401,
    "UNAUTHENTICATED",
    "login, password or code is wrong, or the account is disabled; an administrator can make a link to choose a new password"
  )

export class SignIn extends Context.Service<
  SignIn,
  {
    /**
     * Returns the account, or that it wants a code too: then the password was right, which neither counts as a failure nor forgets those of
     * codes.
     */
    readonly check: (attempt: Attempt, from: From) => Effect.Effect<Account | "code needed", Refusal>
    /** A second factor that a workspace of the account requires, to be set up before it is let in; null: none. */
    readonly enrolment: (account: Account) => Effect.Effect<Enrolment | null>
    /** Lets an account in: the text of its new session. */
    readonly enter: (account: UserId, from: From) => Effect.Effect<string>
    /**
     * Stores a new password, ends all sessions of the account, makes its links void, and writes the entry of the request. Fails with a 400 that says why the password may
     * not be chosen.
     */
    readonly setPassword: (account: Account, password: string) => Effect.Effect<void, Refusal>
    /** The same by a link, which is used up with it. Fails with a 403 when it has been used meanwhile. */
    readonly setPasswordBy: (link: Tokens.Token, account: Account, password: string) => Effect.Effect<void, Refusal>
  }
>()("@signalbox/control-room/edge/SignIn") {
  static readonly layer = Layer.effect(
    SignIn,
    Effect.gen(function* () {
      const { now, transaction } = yield* Database
      const accounts = yield* Accounts
      const sessions = yield* AccountSessions
      const pauses = yield* SignInPauses
      const refused = yield* RefusedSignIns
      const passwords = yield* Passwords
      const memberships = yield* Memberships
      const hash = (password: string) => Effect.catchTag(passwords.hash(password), "TooManyAtOnce", busy)
      const compare = (password: string, stored: string | null) =>
        Effect.catchTag(passwords.matches(password, stored), "TooManyAtOnce", busy)
      const secondFactor = yield* SecondFactor

      /** A password as it is stored, when it may be chosen. It is computed outside of transactions, which would wait for it. */
      const chosen = Effect.fnUntraced(function* (account: Account, password: string) {
        const { email, first_name, id, last_name, login } = account
        const workspaces = (yield* memberships.of(id)).map(({ workspace }) => workspace.name)
        const refusal = refusalOf(password, [login, email ?? "", `${first_name} ${last_name}`.trim(), ...workspaces])
        return yield* refusal === null ? hash(password) : refuse(400, "INVALID_REQUEST", refusal)
      })

      const store = (id: UserId, password: string) =>
        Effect.all([
          accounts.update(id, { password }),
          sessions.voidLink(id),
          sessions.end(id, { except: null }),
          Effect.flatten(EntryOfRequest)
        ])

      return SignIn.of({
        check: Effect.fnUntraced(function* ({ code, login, password }, { address, isKnown }) {
          const subject = `${isKnown ? "known browser of" : "login"} ${loginKey(login)}`
          const wait = yield* pauses.begin(subject)
          if (wait > 0) {
            const seconds = Math.ceil(wait / 1000)
            return yield* refuse(429, "RATE_LIMITED", `too many attempts; try again in ${seconds} s`, {
              "retry-after": String(seconds)
            })
          }
          const account = yield* accounts.byLogin(login)
          const { isWeak, matches } = yield* compare(password, account?.password ?? null)
          // Whether the login exists or not, the same is done.
          const refuseIt = Effect.andThen(refused.count(account, address), Effect.fail(wrong()))
          if (account === null || !matches || account.disabled) return yield* refuseIt
          if (account.totp_secret !== null && code === undefined) {
            yield* pauses.uncount(subject)
            return "code needed"
          }
          if (code !== undefined && !(yield* secondFactor.accept(account, code))) return yield* refuseIt
          yield* pauses.succeeded(subject)
          if (isWeak) yield* accounts.update(account.id, { password: yield* hash(password) })
          return account
        }),
        enrolment: Effect.fnUntraced(function* (account) {
          if (account.totp_secret !== null || !(yield* memberships.needsSecondFactor(account.id))) return null
          return yield* secondFactor.begin(account)
        }),
        enter: Effect.fnUntraced(function* (account, from) {
          yield* accounts.update(account, { last_sign_in_at: yield* now })
          return yield* sessions.open(account, from)
        }, transaction),
        setPassword: Effect.fnUntraced(function* (account, password) {
          yield* transaction(store(account.id, yield* chosen(account, password)))
        }),
        setPasswordBy: Effect.fnUntraced(function* (link, account, password) {
          const stored = yield* chosen(account, password)
          yield* transaction(
            Effect.gen(function* () {
              if (!(yield* sessions.useLink(link))) return yield* badLink()
              yield* store(account.id, stored)
            })
          )
        })
      })
    })
  ).pipe(Layer.provideMerge(Layer.merge(Passwords.layer, SecondFactor.layer)))
}
