/** A workspace that requires a second factor, and who helps people that have lost theirs. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as Audit from "@signalbox/api/Audit"
import * as Users from "@signalbox/api/Users"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { assertError, bodyAs } from "./support/Http.ts"
import {
  Codes,
  codeOf,
  cookiesOf,
  enrol,
  Enrolment,
  linkOf,
  member,
  newLogin,
  own,
  page,
  password,
  signIn
} from "./support/People.ts"
import { layer, Service } from "./support/Service.ts"

const Enrolling = Schema.Struct({ enrol: Enrolment })

const status = (cookie: string, path = "process-runs") =>
  Effect.flatMap(Service, ({ raw }) =>
    Effect.map(raw("GET", path, { key: null, headers: { ...own, cookie } }), (answer) => answer.status)
  )

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })(
  "a second factor that a workspace requires",
  (it) => {
    it.effect("signs out who has none, and is set up at the next sign-in, before there is a session", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const without = yield* member({ login: newLogin("ada"), role: "viewer" })
        const has = yield* member({ login: newLogin("bob"), role: "viewer" })
        const { cookie } = yield* enrol(has.cookie)
        const key = yield* ApiKeys.create("ci", ["Processes.read_runs"], { owner: { id: without.user.id } })
        assert.deepStrictEqual(yield* Users.signInRules(), { second_factor_required: false })
        yield* Users.setSignInRules({ second_factor_required: true })
        assert.deepStrictEqual(yield* Users.signInRules(), { second_factor_required: true })
        assert.deepStrictEqual([yield* status(without.cookie), yield* status(cookie)], [401, 200])
        assert.strictEqual((yield* raw("GET", "process-runs", { key: Redacted.value(key.key) })).status, 200)

        const { login } = without.user
        assert.strictEqual((yield* signIn(login, "not the password of ada")).status, 401)
        const asked = yield* signIn(login)
        assert.strictEqual(cookiesOf(asked), "")
        const { pending, secret } = bodyAs(Enrolling, asked).enrol
        const wrong = yield* signIn(login, password, { pending, code: "000000" })
        assertError(wrong, 400, "INVALID_REQUEST", /code: is wrong/)
        // An enrolment of somebody else, and one that nobody began.
        const eve = yield* member({ login: newLogin("eve"), role: "viewer" })
        const ofEve = bodyAs(Enrolling, yield* signIn(eve.user.login)).enrol
        for (const foreign of [
          { pending: ofEve.pending, code: codeOf(ofEve.secret) },
          { pending: "x", code: "1" }
        ]) {
          assertError(yield* signIn(login, password, foreign), 400, "INVALID_REQUEST", /code: is wrong/)
        }
        const entered = yield* signIn(login, password, { pending, code: codeOf(secret, Date.now() - 30_000) })
        assert.lengthOf(bodyAs(Codes, entered).recovery_codes, 10)
        assert.strictEqual(yield* status(cookiesOf(entered)), 200)
        assert.deepStrictEqual(JSON.parse((yield* signIn(login)).text), { code_needed: true })
        assert.strictEqual((yield* signIn(login, password, { code: codeOf(secret) })).status, 200)
        yield* Users.setSignInRules({ second_factor_required: false })
        // It stays where it was set up.
        assert.deepStrictEqual(JSON.parse((yield* signIn(login)).text), { code_needed: true })
      })
    )

    it.effect("is set up after a link too, and again after it was removed", () =>
      Effect.gen(function* () {
        yield* Users.setSignInRules({ second_factor_required: true })
        const login = newLogin("ida")
        const { link } = yield* Users.invite({ login, role: "viewer" })
        const chosen = yield* page("POST", "/console/link", { link: linkOf(link), password })
        assert.strictEqual(cookiesOf(chosen), "")
        const { pending, secret } = bodyAs(Enrolling, chosen).enrol
        const entered = yield* signIn(login, password, { pending, code: codeOf(secret, Date.now() - 30_000) })
        const { recovery_codes } = bodyAs(Codes, entered)
        const cookie = cookiesOf(entered)
        const remove = { password, code: recovery_codes[0] }
        const removed = yield* page("DELETE", "/console/account/second-factor", remove, cookie)
        assert.strictEqual(removed.status, 200, removed.text)
        assert.match(removed.headers["set-cookie"] ?? "", /Max-Age=0/)
        assert.strictEqual(yield* status(cookie), 401)
        bodyAs(Enrolling, yield* signIn(login))
        yield* Users.setSignInRules({ second_factor_required: false })
      })
    )

    it.effect("keeps out a session that began without one, whichever way", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { makeKey, makeWorkspace, raw } = yield* Service
        const { cookie, user } = yield* member({ login: newLogin("kim"), role: "viewer" })
        // A sign-in that was checked before the rule was made, and ends after it.
        yield* sql`UPDATE workspace SET second_factor_required = 1`
        assert.strictEqual(yield* status(cookie), 403)
        yield* sql`UPDATE workspace SET second_factor_required = 0`
        assert.strictEqual(yield* status(cookie), 200)
        // An invitation to a workspace that requires one.
        const other = yield* makeWorkspace
        const key = yield* makeKey(Permission.literals, other)
        const at = `/api/v1/workspaces/${other}`
        yield* raw("POST", `${at}/sign-in-rules`, { key, json: { second_factor_required: true } })
        assert.strictEqual(yield* status(cookie), 200)
        yield* raw("POST", `${at}/users`, { key, json: { login: user.login, role: "viewer" } })
        assert.strictEqual(yield* status(cookie), 401)
        bodyAs(Enrolling, yield* signIn(user.login))
      })
    )
  }
)

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a second factor that was lost", (it) => {
  it.effect("is removed by who may act on the account as a whole, which signs its owner out", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const lost = yield* member({ login: newLogin("zoe"), role: "viewer" })
      const { codes, cookie } = yield* enrol(lost.cookie)
      const clerk = yield* member({ login: newLogin("clerk"), role: "viewer" })
      const remove = (by: { readonly key?: string; readonly cookie?: string }, workspace?: string) =>
        raw(
          "DELETE",
          `${workspace === undefined ? "" : `/api/v1/workspaces/${workspace}/`}users/${lost.user.id}/second-factor`,
          {
            ...(by.key === undefined ? { key: null } : { key: by.key }),
            ...(by.cookie === undefined ? {} : { headers: { ...own, cookie: by.cookie } })
          }
        )
      assertError(yield* remove({ cookie: clerk.cookie }), 403, "FORBIDDEN", /Workspace.manage_users/)
      const other = yield* makeWorkspace
      const foreign = yield* makeKey(
        Permission.literals.filter((one) => one !== "Room.manage"),
        other
      )
      yield* raw("POST", `/api/v1/workspaces/${other}/users`, {
        key: foreign,
        json: { login: lost.user.login, role: "viewer" }
      })
      assertError(yield* remove({ key: foreign }, other), 403, "FORBIDDEN", /also belongs to another workspace/)
      assert.isTrue((yield* Users.get(lost.user.id)).second_factor)
      assert.strictEqual(yield* status(cookie), 200)

      yield* Users.removeSecondFactor(lost.user.id)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT * FROM recovery_code WHERE account_id = ${lost.user.id}`, [])
      assert.isFalse((yield* Users.get(lost.user.id)).second_factor)
      assert.strictEqual(yield* status(cookie), 401)
      const entered = yield* signIn(lost.user.login)
      assert.notStrictEqual(cookiesOf(entered), "")
      // Nor do the recovery codes of the one before count for the next.
      const { cookie: _ } = yield* enrol(cookiesOf(entered))
      assert.strictEqual((yield* signIn(lost.user.login, password, { code: codes[0] })).status, 401)
      const { data } = yield* Audit.list({ action: "deleteUserSecondFactor" })
      assert.deepStrictEqual(
        data.map(({ changes }) => changes),
        [[{ field: "second_factor", before: true, after: false }]]
      )
    })
  )
})
