/** People sign in with a provider, a real one in a process: which account they have, and which roles. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as Users from "@signalbox/api/Users"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { StaleAccounts } from "../src/internal/runs/StaleAccounts.ts"
import { assertError, bodyAs } from "./support/Http.ts"
import { linkOf, member, newLogin, page, password, signIn } from "./support/People.ts"
import * as Provider from "./support/Provider.ts"
import { movedBy, Service } from "./support/Service.ts"

const Session = Schema.Struct({
  user: Schema.Struct({
    id: Schema.String,
    login: Schema.String,
    name: Schema.String,
    role: Schema.NullOr(Schema.String)
  })
})
const SignedOut = Schema.Struct({ closed: Schema.Boolean, continue_at: Schema.optionalKey(Schema.String) })
const Begun = Schema.Struct({ address: Schema.String })

const userOf = (cookie: string) => Effect.map(Provider.sessionOf(cookie), (answer) => bodyAs(Session, answer).user)

/** Signs somebody in, who is let in. */
const entered = Effect.fnUntraced(function* (provider: Provider.Provider, login: string, cookie = "") {
  const answer = yield* Provider.enter(provider, login, cookie)
  assert.strictEqual(answer.status, 200, answer.text)
  return { ...answer, user: yield* userOf(answer.cookie) }
})

const accountOf = (login: string) =>
  Effect.map(Users.list({ limit: 100 }), ({ data }) => data.find((user) => user.login === login))

/** Opens an invitation and begins to sign in with a provider. */
const accept = (provider: Provider.Provider, link: string, more: object = {}, cookie = "") =>
  page("POST", `/console/sign-in/provider/${provider.id}`, { link, ...more }, cookie)

withLayer(Provider.layer, { excludeTestServices: true, timeout: "4 minutes" })("signing in with a provider", (it) => {
  it.effect("makes an account with the role of a group, and finds it again", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const name = newLogin("ada")
      const first = yield* entered(real, `${name}~staff~unknown`)
      assert.deepInclude(first.user, { login: name, name: `${name} Person`, role: "viewer" })
      assert.deepInclude(yield* accountOf(name), {
        email: `${name}@example.com`,
        state: "active",
        sign_in_provider: "real"
      })
      const second = yield* entered(real, `${name}~staff`, first.cookie)
      assert.strictEqual(second.user.id, first.user.id)
      // The session of the browser before has ended.
      assert.strictEqual((yield* Provider.sessionOf(first.cookie)).status, 401)
    })
  )

  it.effect("never takes an account of the same login and address", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const name = newLogin("bob")
      const { user } = yield* member({ login: name, email: `${name}@example.com`, role: "admin" })
      const other = yield* entered(real, `${name}~staff`)
      assert.notStrictEqual(other.user.id, user.id)
      assert.deepInclude(other.user, { login: `${name}+real`, role: "viewer" })
    })
  )

  it.effect("gives the roles of groups anew at each sign-in, and leaves those that a person gave", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const name = newLogin("cleo")
      yield* entered(real, `${name}~staff`)
      const raised = yield* entered(real, `${name}~staff~admins`)
      assert.strictEqual(raised.user.role, "admin")
      const account = yield* accountOf(name)
      assert.strictEqual(account?.id, raised.user.id)
      const gone = yield* Provider.enter(real, `${name}~strangers~<b>`)
      assert.strictEqual(gone.status, 403)
      assert.include(gone.text, "You have no access to this control room")
      assert.include(gone.text, "<code>strangers</code>, <code>&#60;b&#62;</code>")
      assert.strictEqual(gone.cookie, "")
      assert.isUndefined(yield* accountOf(name))
      const back = yield* entered(real, `${name}~staff`)
      assert.strictEqual(back.user.id, raised.user.id)
      if (account !== undefined) yield* Users.update(account.id, { role: "operator" })
      assert.strictEqual((yield* entered(real, `${name}~admins`)).user.role, "operator")
      assert.strictEqual((yield* entered(real, name)).user.role, "operator")
    })
  )

  it.effect("keeps the last admin of a workspace, whatever the groups say", () =>
    Effect.gen(function* () {
      const { makeWorkspace } = yield* Service
      yield* makeWorkspace
      const real = yield* Provider.Real
      const name = newLogin("lona")
      assert.strictEqual((yield* entered(real, `${name}~lone`)).user.role, "admin")
      assert.strictEqual((yield* entered(real, name)).user.role, "admin")
      const second = newLogin("lena")
      yield* entered(real, `${second}~lone`)
      assert.strictEqual((yield* Provider.enter(real, name)).status, 403)
    })
  )

  it.effect("lets nobody in by a group that makes no accounts, or gives a role that does not exist", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      for (const groups of ["guests", "lost", "strangers"]) {
        const answer = yield* Provider.enter(real, `${newLogin("eve")}~${groups}`)
        assert.strictEqual(answer.status, 403)
        assert.include(answer.text, `sent these groups: <code>${groups}</code>`)
      }
    })
  )

  it.effect("says what is wrong with groups that do not come, and reads those of the user info", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const name = newLogin("finn")
      const wrong = [
        ["overage", /You are in too many groups/],
        ["hasGroups", /You are in too many groups/]
      ] as const
      for (const [behaviour, text] of wrong) {
        yield* real.behave(behaviour)
        const answer = yield* Provider.enter(real, `${name}~staff`)
        assert.strictEqual(answer.status, 403)
        assert.match(answer.text, text)
      }
      yield* real.behave("thin")
      const thin = yield* Effect.ensuring(entered(real, `${name}~staff`), real.behave())
      assert.deepInclude(thin.user, { name: `${name} Person`, role: "viewer" })
    }).pipe(Effect.ensuring(Effect.flatMap(Provider.Real, (real) => real.behave())))
  )

  it.effect("is bound to an account by its invitation, once", () =>
    Effect.gen(function* () {
      const other = yield* Provider.Other
      const name = newLogin("gina")
      const uninvited = yield* Provider.enter(other, name)
      assert.strictEqual(uninvited.status, 403)
      assert.include(uninvited.text, "were not invited")
      const invited = yield* Users.invite({ login: newLogin("invited"), role: "builder" })
      const link = linkOf(invited.link)
      const begun = yield* accept(other, link)
      const back = yield* Provider.signInAt(bodyAs(Begun, begun).address, name)
      const answer = yield* Provider.comeBack(back, Provider.cookiesOf(begun))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude(yield* userOf(Provider.cookiesOf(answer)), { id: invited.id, role: "builder" })
      assertError(yield* accept(other, link), 403, "FORBIDDEN", /the link is unknown, used or expired/)
      // From now on without an invitation.
      assert.strictEqual((yield* entered(other, name)).user.id, invited.id)
      // Nobody has two accounts.
      const second = yield* Users.invite({ login: newLogin("second"), role: "viewer" })
      const again = yield* accept(other, linkOf(second.link))
      const refused = yield* Provider.comeBack(
        yield* Provider.signInAt(bodyAs(Begun, again).address, name),
        Provider.cookiesOf(again)
      )
      assert.strictEqual(refused.status, 403)
      assert.include(refused.text, "You have another account")
    })
  )

  it.effect("accepts no invitation that was used in between, and none for who has a password", () =>
    Effect.gen(function* () {
      const other = yield* Provider.Other
      const { link, ...invited } = yield* Users.invite({ login: newLogin("hugo"), role: "viewer" })
      const begun = yield* accept(other, linkOf(link))
      const back = yield* Provider.signInAt(bodyAs(Begun, begun).address, newLogin("hugo"))
      // Another link makes this one void.
      const next = yield* Users.createLink(invited.id)
      const refused = yield* Provider.comeBack(back, Provider.cookiesOf(begun))
      assert.strictEqual(refused.status, 403)
      assert.include(refused.text, "This invitation has ended")
      const { cookie, user } = yield* member({ login: newLogin("ivan"), role: "viewer" })
      const reset = yield* Users.createLink(user.id)
      assertError(yield* accept(other, linkOf(reset)), 409, "CONFLICT", /the account has one/)
      assertError(yield* accept(other, linkOf(next), {}, cookie), 409, "CONFLICT", /is signed in in this browser/)
      assert.strictEqual((yield* accept(other, linkOf(next), { replace: true }, cookie)).status, 200)
    })
  )

  it.effect("lets in nobody whose account is disabled", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const name = newLogin("jana")
      const { cookie, user } = yield* entered(real, `${name}~staff`)
      const account = yield* accountOf(name)
      assert.strictEqual(account?.id, user.id)
      if (account !== undefined) yield* Users.update(account.id, { disabled: true })
      assert.strictEqual((yield* Provider.sessionOf(cookie)).status, 401)
      const answer = yield* Provider.enter(real, `${name}~staff`)
      assert.strictEqual(answer.status, 403)
      assert.include(answer.text, "Your account is disabled")
    })
  )

  it.effect("signs out here first, and then leads to the provider", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const real = yield* Provider.Real
      const { cookie } = yield* entered(real, `${newLogin("kim")}~staff`)
      const out = bodyAs(SignedOut, yield* page("DELETE", "/console/session", undefined, cookie))
      const address = new URL(out.continue_at ?? "")
      assert.strictEqual(`${address.origin}${address.pathname}`, `${real.origin}/session/end`)
      assert.strictEqual(address.searchParams.get("post_logout_redirect_uri"), `${origin}/console/`)
      assert.strictEqual((yield* Provider.sessionOf(cookie)).status, 401)
      const local = yield* member({ login: newLogin("lea"), role: "viewer" })
      assert.deepStrictEqual(bodyAs(SignedOut, yield* page("DELETE", "/console/session", undefined, local.cookie)), {
        closed: true
      })
    })
  )

  it.effect(
    "disables accounts that have not signed in for thirty days, with their keys, and not those with a password",
    () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const real = yield* Provider.Real
        const name = newLogin("mia")
        const { user } = yield* entered(real, `${name}~admins`)
        // Signs in with a provider, and may with a password as well.
        const local = yield* entered(real, `${newLogin("nils")}~admins`)
        const both = yield* accountOf(local.user.login)
        if (both !== undefined) {
          const link = linkOf(yield* Users.createLink(both.id))
          assert.strictEqual((yield* page("POST", "/console/link", { link, password })).status, 200)
        }
        const account = yield* accountOf(name)
        assert.strictEqual(account?.id, user.id)
        if (account === undefined) return
        const { key } = yield* ApiKeys.create(name, ["Processes.read_runs"], { owner: { id: account.id } })
        const runs = raw("GET", "process-runs", { key: Redacted.value(key) })
        assert.strictEqual((yield* runs).status, 200)
        const { tick } = yield* StaleAccounts
        const clock = yield* Clock.Clock
        const tickIn = (days: number) => Effect.provideService(tick, Clock.Clock, movedBy(clock, days * 86_400_000))
        yield* tickIn(29)
        assert.strictEqual((yield* accountOf(name))?.state, "active")
        yield* tickIn(31)
        assert.strictEqual((yield* accountOf(name))?.state, "disabled")
        assert.strictEqual((yield* runs).status, 403)
        assert.strictEqual((yield* accountOf(local.user.login))?.state, "active")
        assert.strictEqual((yield* signIn(local.user.login)).status, 200)
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          UPDATE account_identity SET last_sign_in_at = '2020-01-01T00:00:00.000Z' WHERE account_id = ${account.id}`
        yield* Users.update(account.id, { disabled: false })
        yield* tickIn(0)
        assert.strictEqual((yield* accountOf(name))?.state, "active")
      }).pipe(Effect.provide(StaleAccounts.layer()))
  )
})
