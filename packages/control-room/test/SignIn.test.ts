/** People sign in to the console with a password, and strangers do not. */
import { assert, describe, it, layer as withLayer, vi } from "@effect/vitest"
import * as ConsoleTickets from "@signalbox/api/ConsoleTickets"
import * as Users from "@signalbox/api/Users"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import * as SqlClient from "effect/sql/SqlClient"
import { type Answer, assertError, bodyAs } from "./support/Http.ts"
import {
  afterPauses,
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
import { layer, layerIn, Service, temporaryFolder } from "./support/Service.ts"

const Session = Schema.Struct({
  user: Schema.Struct({ login: Schema.String, name: Schema.String, role: Schema.NullOr(Schema.String) }),
  workspaces: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })),
  permissions: Schema.Array(Schema.String)
})
const Account = Schema.Struct({
  second_factor: Schema.Boolean,
  sessions: Schema.Array(Schema.Struct({ id: Schema.String, current: Schema.Boolean }))
})

const show = (cookie: string) => page("GET", "/console/session", undefined, cookie)
const runs = (cookie: string) =>
  Effect.flatMap(Service, ({ raw }) => raw("GET", "process-runs", { key: null, headers: { cookie } }))
/** An answer, and how many passwords were computed for it. */
const counted = <E, R>(request: Effect.Effect<Answer, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const scrypt = vi.spyOn(crypto, "scrypt")
      syncBuiltinESMExports()
      return scrypt
    }),
    (scrypt) => Effect.map(request, (answer) => ({ answer, computed: scrypt.mock.calls.length })),
    (scrypt) =>
      Effect.sync(() => {
        scrypt.mockRestore()
        syncBuiltinESMExports()
      })
  )

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("signing in", (it) => {
  it.effect("opens a session with the permissions of the role, whatever the case of the login", () =>
    Effect.gen(function* () {
      const login = newLogin("Ada")
      const { user } = yield* member({ login, first_name: "Ada", last_name: "Lovelace", role: "viewer" })
      const answer = yield* signIn(login.toUpperCase())
      const session = bodyAs(Session, answer)
      assert.deepStrictEqual(session.user, { login, name: "Ada Lovelace", role: "viewer" })
      assert.include(session.permissions, "Processes.read_runs")
      assert.notInclude(session.permissions, "Processes.trigger_processes")
      const cookie = cookiesOf(answer)
      assert.match(answer.headers["set-cookie"] ?? "", /signalbox-\w+=sbu_[^,]*HttpOnly[^,]*SameSite=Strict/i)
      assert.strictEqual((yield* runs(cookie)).status, 200)
      const { raw } = yield* Service
      const denied = yield* raw("POST", "worker-groups", {
        key: null,
        json: { name: "n" },
        headers: { ...own, cookie }
      })
      assertError(
        denied,
        403,
        "FORBIDDEN",
        /your role lacks the permission Workers.write_workers; ask an administrator/
      )
      assert.isNotNull((yield* Users.get(user.id)).last_sign_in_at)
    })
  )

  it.effect("says the same of a wrong password, an unknown login and a disabled account", () =>
    Effect.gen(function* () {
      const { user } = yield* member({ login: newLogin("bob"), role: "viewer" })
      const wrong = yield* signIn(user.login, "not the password of bob")
      const unknown = yield* signIn(newLogin("nobody"))
      yield* Users.update(user.id, { disabled: true })
      const disabled = yield* signIn(user.login)
      for (const answer of [wrong, unknown, disabled]) {
        assertError(answer, 401, "UNAUTHENTICATED", /login, password or code is wrong, or the account is disabled/)
        assert.strictEqual(answer.text, wrong.text)
      }
    })
  )

  it.effect("computes one password at each attempt, whatever is wrong, so that it takes as long", () =>
    Effect.gen(function* () {
      const { user } = yield* member({ login: newLogin("max"), role: "viewer" })
      const disabled = yield* member({ login: newLogin("dis"), role: "viewer" })
      yield* Users.update(disabled.user.id, { disabled: true })
      const invited = yield* Users.invite({ login: newLogin("inv"), role: "viewer" })
      const factor = yield* member({ login: newLogin("fac"), role: "viewer" })
      yield* enrol(factor.cookie)
      const attempts: Readonly<Record<string, ReturnType<typeof signIn>>> = {
        "a wrong password": signIn(user.login, "not the password"),
        "an unknown login": signIn(newLogin("nobody")),
        "a disabled account": signIn(disabled.user.login),
        "an account without a password": signIn(invited.login),
        "a wrong code": signIn(factor.user.login, password, { code: "000000" }),
        "a wrong recovery code": signIn(factor.user.login, password, { code: "AAAA-AAAA-AAAA-AAAA" })
      }
      const texts = new Set<string>()
      for (const [what, attempt] of Object.entries(attempts)) {
        const { answer, computed } = yield* counted(attempt)
        assert.deepStrictEqual([answer.status, computed], [401, 1], what)
        texts.add(answer.text)
      }
      assert.strictEqual(texts.size, 1)
    })
  )

  it.effect("waits after failures, for a login that does not exist as well, and lets a known browser in", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cookie, user } = yield* member({ login: newLogin("eve"), role: "viewer" })
      for (const login of [user.login, newLogin("nobody")]) {
        for (let attempt = 0; attempt < 3; attempt++) yield* signIn(login, "wrong wrong wrong")
        // However slow this machine is.
        yield* sql`UPDATE sign_in_pause SET until = until + 3600000 WHERE until > 0 AND failures > 2`
        assertError(yield* signIn(login), 429, "RATE_LIMITED", /too many attempts; try again in \d+ s/)
      }
      const known = yield* signIn(user.login, password, {}, cookie)
      assert.strictEqual(known.status, 200, known.text)
      // The mark of a browser is of one login.
      const other = yield* member({ login: newLogin("max"), role: "viewer" })
      assertError(yield* signIn(user.login, password, {}, other.cookie), 429, "RATE_LIMITED", /too many attempts/)
    })
  )

  it.effect("is for pages of the console alone", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { cookie, user } = yield* member({ login: newLogin("sam"), role: "admin" })
      const foreign = [
        {},
        { "x-signalbox-console": "1" },
        { "sec-fetch-site": "same-origin" },
        { ...own, "sec-fetch-site": "cross-site" }
      ]
      for (const headers of foreign) {
        const post = (path: string, json: unknown) =>
          raw("POST", path, { key: null, json, headers: { ...headers, cookie } })
        assertError(yield* post("/console/sign-in", { login: user.login, password }), 403, "FORBIDDEN", /console/)
        assertError(yield* post("/console/link", { link: "x" }), 403, "FORBIDDEN", /console/)
        assertError(
          yield* post("/console/account/password", { current: password, password }),
          403,
          "FORBIDDEN",
          /console/
        )
        assertError(yield* post("worker-groups", { name: "n" }), 403, "FORBIDDEN", /console/)
      }
      // A cookie never makes a request with a bad key succeed, and its token is good in the cookie alone.
      const key = "sbk_01900000-0000-7000-8000-000000000000_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      assertError(yield* raw("GET", "process-runs", { key, headers: { cookie } }), 403, "FORBIDDEN", /unknown/)
      const token = /sbu_[^;]+/.exec(cookie)?.[0] ?? ""
      assertError(yield* raw("GET", "process-runs", { key: token }), 401, "UNAUTHENTICATED", /RC-WSKEY/)
    })
  )

  it.effect("gives a new session each time, and ends the one that the browser had", () =>
    Effect.gen(function* () {
      const { cookie, user } = yield* member({ login: newLogin("kim"), role: "viewer" })
      const again = yield* signIn(user.login, password, {}, cookie)
      assert.notStrictEqual(cookiesOf(again).split(";")[0], cookie.split(";")[0])
      assert.strictEqual((yield* runs(cookie)).status, 401)
      assert.strictEqual((yield* runs(cookiesOf(again))).status, 200)
    })
  )

  it.effect("ends after 12 hours, after an hour of rest, and when one signs out", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cookie, user } = yield* member({ login: newLogin("lee"), role: "viewer" })
      const past = (millis: number) => new Date(Date.now() - millis).toISOString()
      yield* sql`UPDATE account_session SET last_used_at = ${past(3_600_001)}`
      assertError(yield* runs(cookie), 401, "UNAUTHENTICATED", /session of the console has ended; sign in again/)
      const old = cookiesOf(yield* signIn(user.login))
      yield* sql`UPDATE account_session SET expires_at = ${past(1)}`
      assert.strictEqual((yield* runs(old)).status, 401)
      const left = cookiesOf(yield* signIn(user.login))
      yield* page("DELETE", "/console/session", undefined, left)
      assert.strictEqual((yield* show(left)).status, 401)
    })
  )

  it.effect("replaces keys and tickets in the console, except that of who operates the room", () =>
    Effect.gen(function* () {
      const { key, makeKey } = yield* Service
      yield* member({ login: newLogin("ann"), role: "viewer" })
      const plain = yield* makeKey(["Processes.read_runs"])
      const opening = yield* page("POST", "/console/session", { key: plain })
      assertError(
        opening,
        403,
        "FORBIDDEN",
        /people sign in with their own login here; keys of the workspace are for programs/
      )
      // The key of the data folder: to let oneself in when nobody else can.
      const { ticket } = yield* ConsoleTickets.create()
      assert.strictEqual((yield* page("POST", "/console/session", { ticket: Redacted.value(ticket) })).status, 200)
      assert.strictEqual((yield* page("POST", "/console/session", { key })).status, 200)
    })
  )
})

/** A room that people reach at this address. */
const reachedAt = (options: Parameters<typeof layerIn>[1]) =>
  Layer.unwrap(Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, ...options })))

describe("a password", () => {
  const attempt = Effect.gen(function* () {
    const link = yield* page("POST", "/console/link", { link: "x", password })
    return [(yield* signIn("ada")).status, link.text.includes("plain http")] as const
  })
  for (const [what, options, expected] of [
    ["over plain http from other machines is refused", { publicUrl: "http://room.example.com" }, [403, true]],
    [
      "is taken where the network is trusted",
      { publicUrl: "http://room.example.com", insecureSignIn: true },
      [401, false]
    ],
    ["is taken over https", { publicUrl: "https://room.example.com" }, [401, false]]
  ] as const) {
    it.live(what, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* attempt, expected)
      }).pipe(Effect.provide(reachedAt(options)))
    )
  }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a link to choose a password", (it) => {
  it.effect("works once, by POST alone, and says whose it is before", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const login = newLogin("ida")
      const { link } = yield* Users.invite({ login, first_name: "Ida", role: "viewer" })
      const text = linkOf(link)
      // What a scanner of mails does: it opens the address, whose fragment stays with it.
      yield* raw("GET", `/console/?link=${text}`, { key: null })
      yield* raw("GET", `/console/link?link=${text}`, { key: null })
      const whose = yield* page("POST", "/console/link", { link: text })
      assert.deepStrictEqual(JSON.parse(whose.text), { login, name: "Ida", signed_in: null, providers: [] })
      assert.strictEqual((yield* page("POST", "/console/link", { link: text, password })).status, 200)
      const again = yield* page("POST", "/console/link", { link: text, password: "another long password" })
      assertError(again, 403, "FORBIDDEN", /unknown, used or expired; ask an administrator/)
      assert.strictEqual((yield* signIn(login)).status, 200)
    })
  )

  it.effect("lets one of two in who use it at the same moment", () =>
    Effect.gen(function* () {
      const login = newLogin("eli")
      const link = linkOf((yield* Users.invite({ login, role: "viewer" })).link)
      const chosen = ["the first long password", "the second long password"]
      const answers = yield* Effect.forEach(
        chosen,
        (given) => page("POST", "/console/link", { link, password: given }),
        {
          concurrency: 2
        }
      )
      assert.sameMembers(
        answers.map(({ status }) => status),
        [200, 403]
      )
      const winner = answers.findIndex(({ status }) => status === 200)
      assert.strictEqual((yield* signIn(login, chosen[winner])).status, 200)
      assert.strictEqual((yield* signIn(login, chosen[1 - winner])).status, 401)
    })
  )

  it.effect("is void when the password changes", () =>
    Effect.gen(function* () {
      const { cookie, user } = yield* member({ login: newLogin("kai"), role: "viewer" })
      const link = linkOf(yield* Users.createLink(user.id))
      const change = { current: password, password: "another long password" }
      assert.strictEqual((yield* page("POST", "/console/account/password", change, cookie)).status, 200)
      assert.strictEqual((yield* page("POST", "/console/link", { link })).status, 403)
      assert.strictEqual(
        (yield* page("POST", "/console/link", { link, password: "a third long password" })).status,
        403
      )
    })
  )

  it.effect("is void when another is made, when it has expired, and when the account is disabled", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { link, ...user } = yield* Users.invite({ login: newLogin("uwe"), role: "viewer" })
      const use = (text: string) => page("POST", "/console/link", { link: text, password })
      const second = linkOf(yield* Users.createLink(user.id))
      assert.strictEqual((yield* use(linkOf(link))).status, 403)
      yield* sql`UPDATE account_link SET expires_at = '2026-01-01T00:00:00.000Z'`
      assert.strictEqual((yield* use(second)).status, 403)
      const third = linkOf(yield* Users.createLink(user.id))
      yield* Users.update(user.id, { disabled: true })
      assert.strictEqual((yield* use(third)).status, 403)
    })
  )

  it.effect("never signs somebody else into it without asking, and ends the sessions of its account", () =>
    Effect.gen(function* () {
      const one = yield* member({ login: newLogin("one"), first_name: "One", role: "viewer" })
      const two = yield* member({ login: newLogin("two"), role: "viewer" })
      const link = linkOf(yield* Users.createLink(two.user.id))
      const choose = (more: object) =>
        page("POST", "/console/link", { link, password: "another long password", ...more }, one.cookie)
      assert.strictEqual(JSON.parse((yield* page("POST", "/console/link", { link }, one.cookie)).text).signed_in, "One")
      assertError(yield* choose({}), 409, "CONFLICT", /One is signed in in this browser; send replace: true/)
      assert.strictEqual((yield* runs(one.cookie)).status, 200)
      const chosen = yield* choose({ replace: true })
      assert.strictEqual(bodyAs(Session, chosen).user.login, two.user.login)
      assert.strictEqual((yield* runs(two.cookie)).status, 401)
    })
  )

  it.effect("takes no password that is short, common, or a name", () =>
    Effect.gen(function* () {
      const login = newLogin("a-long-login")
      const { link } = yield* Users.invite({ login, role: "viewer" })
      const use = (given: string) => page("POST", "/console/link", { link: linkOf(link), password: given })
      for (const given of ["short", "x".repeat(129), "é".repeat(700)]) {
        assertError(yield* use(given), 400, "INVALID_REQUEST", /password: Expected 12 to 128 characters/)
      }
      assertError(yield* use(login.toUpperCase()), 400, "INVALID_REQUEST", /is a name that others can see/)
      for (const given of ["password12345", "aaaaaaaaaaaa", "abcdefghijklmnop", "qwertyuiop123!", "passwordpassword"]) {
        assertError(yield* use(given), 400, "INVALID_REQUEST", /is one that is tried first/)
      }
      assert.strictEqual((yield* use(password)).status, 200)
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("an account of one's own", (it) => {
  it.effect("changes its password with the old one, which ends every other session", () =>
    Effect.gen(function* () {
      const { cookie, user } = yield* member({ login: newLogin("pia"), role: "viewer" })
      const elsewhere = cookiesOf(yield* signIn(user.login))
      const change = (current: string, next: string) =>
        page("POST", "/console/account/password", { current, password: next }, cookie)
      assert.strictEqual((yield* change("not the password", "another long password")).status, 401)
      const changed = yield* change(password, "another long password")
      assert.strictEqual(changed.status, 200, changed.text)
      for (const ended of [cookie, elsewhere]) assert.strictEqual((yield* runs(ended)).status, 401)
      assert.strictEqual((yield* runs(cookiesOf(changed))).status, 200)
      assert.strictEqual((yield* signIn(user.login)).status, 401)
    })
  )

  it.effect("shows its browsers, and signs them out", () =>
    Effect.gen(function* () {
      const { cookie, user } = yield* member({ login: newLogin("tom"), role: "viewer" })
      const elsewhere = cookiesOf(yield* signIn(user.login))
      const { sessions } = bodyAs(Account, yield* page("GET", "/console/account", undefined, cookie))
      assert.deepStrictEqual(
        sessions.map(({ current }) => current),
        [false, true]
      )
      yield* page("DELETE", `/console/account/sessions/${sessions[0]?.id}`, undefined, cookie)
      assert.strictEqual((yield* runs(elsewhere)).status, 401)
      assert.strictEqual((yield* runs(cookie)).status, 200)
    })
  )

  it.effect("asks for a code once an app has given one, and takes no code twice", () =>
    Effect.gen(function* () {
      const { cookie, user } = yield* member({ login: newLogin("zoe"), role: "viewer" })
      const begun = bodyAs(Enrolment, yield* page("POST", "/console/account/second-factor", { password }, cookie))
      assert.match(begun.url, /^otpauth:\/\/totp\/Signalbox/)
      // Nothing is asked for before the first code was right.
      assert.strictEqual((yield* signIn(user.login)).status, 200)
      const wrong = { pending: begun.pending, code: "000000" }
      const refused = yield* page("POST", "/console/account/second-factor/confirm", wrong, cookie)
      assertError(refused, 400, "INVALID_REQUEST", /code: is wrong/)

      const { codes, confirmed, secret } = yield* enrol(cookie)
      assert.lengthOf(codes, 10)
      assert.strictEqual((yield* runs(cookie)).status, 401, "the session before has ended")
      const asked = yield* signIn(user.login)
      assert.deepStrictEqual(JSON.parse(asked.text), { code_needed: true })
      assert.strictEqual(cookiesOf(asked), "")
      const code = codeOf(secret)
      yield* afterPauses
      assert.strictEqual((yield* signIn(user.login, password, { code: "000000" })).status, 401)
      yield* afterPauses
      assert.strictEqual((yield* signIn(user.login, password, { code })).status, 200)
      assert.strictEqual((yield* signIn(user.login, password, { code })).status, 401)
      yield* afterPauses
      const earlier = codeOf(secret, Date.now() - 30_000)
      assert.strictEqual((yield* signIn(user.login, password, { code: earlier })).status, 401)
      assert.isTrue(
        bodyAs(Account, yield* page("GET", "/console/account", undefined, cookiesOf(confirmed))).second_factor
      )
    })
  )

  it.effect("asks for a code after a link too, and takes no secret that it has not made", () =>
    Effect.gen(function* () {
      const { cookie: first, user } = yield* member({ login: newLogin("max"), role: "viewer" })
      const forged = yield* page("POST", "/console/account/second-factor/confirm", { pending: "x", code: "1" }, first)
      assertError(forged, 400, "INVALID_REQUEST", /code: is wrong/)
      yield* enrol(first)
      const link = linkOf(yield* Users.createLink(user.id))
      const chosen = yield* page("POST", "/console/link", { link, password: "another long password" })
      assert.deepStrictEqual([JSON.parse(chosen.text), cookiesOf(chosen)], [{ code_needed: true }, ""])
      const asked = yield* signIn(user.login, "another long password")
      assert.deepStrictEqual(JSON.parse(asked.text), { code_needed: true })
    })
  )

  it.effect(
    "counts neither a password that waits for its code nor its change as a failure, and forgets none of codes",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { cookie: first, user } = yield* member({ login: newLogin("amy"), role: "viewer" })
        const { cookie, codes } = yield* enrol(first)
        const failures = Effect.map(
          sql<{ failures: number }>`SELECT failures FROM sign_in_pause WHERE subject LIKE ${`%${user.login}`}`,
          (rows) => rows.map((row) => Number(row.failures))
        )
        for (let time = 0; time < 4; time++) assert.strictEqual((yield* signIn(user.login)).status, 200)
        assert.deepStrictEqual(yield* failures, [0])
        const change = { current: password, password }
        const changed = yield* page("POST", "/console/account/password", change, cookie)
        assert.strictEqual(changed.status, 200, changed.text)
        assert.deepStrictEqual(yield* failures, [0, 0])
        // Who has the password guesses codes no faster for asking without one in between.
        for (let time = 1; time <= 2; time++) {
          assert.strictEqual((yield* signIn(user.login, password, { code: "000000" })).status, 401)
          assert.strictEqual((yield* signIn(user.login)).status, 200)
          assert.include(yield* failures, time)
        }
        assert.strictEqual((yield* signIn(user.login, password, { code: codes[0] })).status, 200)
        assert.deepStrictEqual(yield* failures, [0])
      })
  )

  it.effect("takes each recovery code once, and removes the second factor with password and code", () =>
    Effect.gen(function* () {
      const { cookie: first, user } = yield* member({ login: newLogin("ben"), role: "viewer" })
      const { codes, cookie } = yield* enrol(first)
      const [one = "", two = "", three = ""] = codes
      assert.strictEqual((yield* signIn(user.login, password, { code: one.toLowerCase() })).status, 200)
      yield* afterPauses
      assert.strictEqual((yield* signIn(user.login, password, { code: one })).status, 401)
      yield* afterPauses
      const both = yield* Effect.all(
        [signIn(user.login, password, { code: three }), signIn(user.login, password, { code: three })],
        { concurrency: 2 }
      )
      assert.sameMembers(
        both.map(({ status }) => status),
        [200, 401]
      )
      yield* afterPauses
      const remove = (code: string) => page("DELETE", "/console/account/second-factor", { password, code }, cookie)
      assert.strictEqual((yield* remove(one)).status, 401)
      yield* afterPauses
      assert.strictEqual((yield* remove(two)).status, 200)
      assert.strictEqual((yield* signIn(user.login)).status, 200)
    })
  )

  it.effect("leaves no password, code or link in the database", () =>
    Effect.gen(function* () {
      const { rows } = yield* Service
      const { cookie: first } = yield* member({ login: newLogin("joy"), role: "viewer" })
      const { codes, cookie, secret } = yield* enrol(first)
      const { link } = yield* Users.invite({ login: newLogin("new"), role: "viewer" })
      const stored = JSON.stringify(yield* rows)
      for (const text of [password, secret, ...codes, linkOf(link).slice(-43), cookie.slice(-43)]) {
        assert.notInclude(stored, text)
      }
    })
  )
})
