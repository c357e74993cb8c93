/** Sessions of the console, as a browser opens and uses them. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as ConsoleTickets from "@signalbox/api/ConsoleTickets"
import * as Roles from "@signalbox/api/Roles"
import * as Users from "@signalbox/api/Users"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { assertError, bodyAs } from "./support/Http.ts"
import { member, newLogin } from "./support/People.ts"
import { layer, layerIn, Service, temporaryFolder } from "./support/Service.ts"

const Session = Schema.Struct({
  workspace: Schema.Struct({ id: Schema.String, name: Schema.String }),
  key: Schema.Struct({ id: Schema.String, name: Schema.String }),
  permissions: Schema.Array(Schema.String),
  expires_at: Schema.String
})

/** What a browser sends with requests of the console itself. */
const own = { "sec-fetch-site": "same-origin", "x-signalbox-console": "1" }
const path = "/console/session"
const cookieIn = (answer: { readonly headers: Readonly<Record<string, unknown>> }) =>
  String(answer.headers["set-cookie"] ?? "")

const open = (json: unknown, headers: Readonly<Record<string, string>> = own) =>
  Effect.flatMap(Service, ({ raw }) => raw("POST", path, { key: null, json, headers }))

/** The cookie of a new session. */
const signedIn = Effect.fnUntraced(function* (key: string) {
  const answer = yield* open({ key })
  assert.strictEqual(answer.status, 200, answer.text)
  return cookieIn(answer).split(";")[0] ?? ""
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a session of the console", (it) => {
  it.effect("is opened by a key, with its permissions, and a cookie that no script can read", () =>
    Effect.gen(function* () {
      const { makeKey, raw, workspaceId } = yield* Service
      const key = yield* makeKey(["Processes.read_runs"])
      const answer = yield* open({ key })
      const session = bodyAs(Session, answer)
      assert.strictEqual(session.workspace.id, workspaceId)
      assert.deepStrictEqual(session.permissions, ["Processes.read_runs"])
      assert.match(
        cookieIn(answer),
        /^signalbox-[0-9a-f]{12}=sbs_\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/
      )
      const cookie = cookieIn(answer).split(";")[0] ?? ""
      const runs = yield* raw("GET", "process-runs", { key: null, headers: { cookie } })
      assert.strictEqual(runs.status, 200, runs.text)
      const denied = yield* raw("GET", "work-items", { key: null, headers: { cookie } })
      assertError(denied, 403, "FORBIDDEN", /Processes.read_work_items/)
      const shown = yield* raw("GET", path, { key: null, headers: { cookie } })
      assert.deepStrictEqual(bodyAs(Session, shown), session)
    })
  )

  it.effect("makes no tickets for further sessions: only a key does, or it would never end", () =>
    Effect.gen(function* () {
      const { key, raw } = yield* Service
      const cookie = yield* signedIn(key)
      const refused = yield* raw("POST", "console-tickets", { key: null, json: {}, headers: { ...own, cookie } })
      assertError(refused, 403, "FORBIDDEN", /created with a key, not in a session/)
    })
  )

  it.effect("is opened once by a ticket of the client", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { ticket, url } = yield* ConsoleTickets.create()
      assert.match(Redacted.value(url), /^http:\/\/127\.0\.0\.1:\d+\/console\/#ticket=sbt_/)
      const both = yield* Effect.all(
        [open({ ticket: Redacted.value(ticket) }), open({ ticket: Redacted.value(ticket) })],
        {
          concurrency: 2
        }
      )
      assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [200, 403])
      const again = yield* open({ ticket: Redacted.value(ticket) })
      assertError(again, 403, "FORBIDDEN", /unknown, used or expired; create a new one with `signalbox open`/)
      assertError(yield* raw("GET", "process-runs", { key: Redacted.value(ticket) }), 403, "FORBIDDEN", /key/)
    })
  )

  it.effect("is not opened by a ticket that has expired", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { ticket } = yield* ConsoleTickets.create()
      yield* sql`UPDATE console_ticket SET expires_at = '2026-01-01T00:00:00.000Z'`
      assertError(yield* open({ ticket: Redacted.value(ticket) }), 403, "FORBIDDEN", /expired/)
    })
  )

  it.effect("changes something for pages of the console alone", () =>
    Effect.gen(function* () {
      const { key, origin, raw } = yield* Service
      const cookie = yield* signedIn(key)
      const host = new URL(origin).host
      const create = (headers: Readonly<Record<string, string>>) =>
        raw("POST", "worker-groups", {
          key: null,
          json: { name: crypto.randomUUID() },
          headers: { cookie, ...headers }
        })
      const header = { "x-signalbox-console": "1" }
      const refused = [
        {},
        header,
        { "sec-fetch-site": "same-origin" },
        { ...header, "sec-fetch-site": "same-site" },
        { ...header, "sec-fetch-site": "cross-site" },
        { ...header, "sec-fetch-site": "none" },
        { ...header, origin: "http://127.0.0.1:1" },
        { ...header, origin: "null" },
        { ...header, origin: `https://${host}.example.com` },
        { ...header, "sec-fetch-site": "cross-site", origin }
      ]
      for (const headers of refused) {
        assertError(yield* create(headers), 403, "FORBIDDEN", /console/)
        assertError(yield* open({ key }, headers), 403, "FORBIDDEN", /console/)
      }
      for (const headers of [own, { ...header, origin }]) {
        const created = yield* create(headers)
        assert.strictEqual(created.status, 200, created.text)
      }
      const read = yield* raw("GET", "worker-groups", {
        key: null,
        headers: { cookie, "sec-fetch-site": "cross-site" }
      })
      assertError(read, 403, "FORBIDDEN", /console/)
    })
  )

  it.effect("is of no importance to a request with a key", () =>
    Effect.gen(function* () {
      const { key, makeKey, raw } = yield* Service
      const cookie = yield* signedIn(key)
      const none = yield* makeKey([])
      assertError(yield* raw("GET", "process-runs", { key: none, headers: { cookie } }), 403, "FORBIDDEN", /read_runs/)
      const token = cookie.split("=")[1] ?? ""
      assertError(yield* raw("GET", "process-runs", { key: token }), 401, "UNAUTHENTICATED", /RC-WSKEY/)
    })
  )

  it.effect("ends when it is closed, when its key is revoked, after an hour of rest and after 12 hours", () =>
    Effect.gen(function* () {
      const { key, makeKey, raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const isOver = Effect.fnUntraced(function* (cookie: string) {
        const answer = yield* raw("GET", "process-runs", { key: null, headers: { cookie } })
        assertError(answer, 401, "UNAUTHENTICATED", /session of the console has ended/)
        const shown = yield* raw("GET", path, { key: null, headers: { cookie } })
        assertError(shown, 401, "UNAUTHENTICATED", /no session/)
        // The browser may have signed in again before this response comes.
        assert.strictEqual(cookieIn(shown), "")
      })
      const closed = yield* signedIn(key)
      yield* raw("DELETE", path, { key: null, headers: { ...own, cookie: closed } })
      yield* isOver(closed)

      const revocable = yield* makeKey(["Processes.read_runs"])
      const revoked = yield* signedIn(revocable)
      yield* raw("DELETE", `api-keys/${revocable.split("_")[1]}`)
      yield* isOver(revoked)

      const idle = yield* signedIn(key)
      yield* sql`UPDATE console_session SET last_used_at = ${new Date(Date.now() - 3_600_001).toISOString()}`
      yield* isOver(idle)

      const old = yield* signedIn(key)
      yield* sql`UPDATE console_session SET expires_at = ${new Date(Date.now() - 1).toISOString()}`
      yield* isOver(old)
    })
  )

  it.effect("leaves nothing behind once it has expired", () =>
    Effect.gen(function* () {
      const { key, retainIn } = yield* Service
      const sql = yield* SqlClient.SqlClient
      yield* signedIn(key)
      yield* ConsoleTickets.create()
      yield* retainIn(13 * 3_600_000)
      assert.deepStrictEqual(yield* sql`SELECT id FROM console_session UNION ALL SELECT id FROM console_ticket`, [])
    })
  )
})

const behindProxy = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, trustedProxies: ["127.0.0.1", "::1"] }))
)

/** An attempt to sign in, as a proxy passes it on. */
const from = (address: string, key: string) => open({ key }, { ...own, "x-forwarded-for": address })

withLayer(behindProxy, { excludeTestServices: true, timeout: "4 minutes" })("an attempt to sign in", (it) => {
  it.effect("is refused after five failed ones of an address, and others behind the proxy are let in", () =>
    Effect.gen(function* () {
      const { key } = yield* Service
      for (const json of [{}, [], { ticket: 1 }, "x"]) {
        assertError(yield* open(json), 400, "INVALID_REQUEST", /\{ticket\} or \{key\}/)
      }
      assert.strictEqual((yield* from("198.51.100.7", key)).status, 200)
      const wrong = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`
      for (let attempt = 0; attempt < 5; attempt++) {
        const answer = yield* from("198.51.100.7", wrong)
        assertError(answer, 403, "FORBIDDEN", /unknown or was revoked/)
        assert.notInclude(answer.text, key.slice(-43, -2))
      }
      assertError(yield* from("198.51.100.7", key), 429, "RATE_LIMITED", /too many attempts; try again in \d+ s/)
      assert.strictEqual((yield* from("198.51.100.8", key)).status, 200)
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("an attempt without known proxies", (it) => {
  it.effect("lets in who has the right key, whatever others behind the same address have tried", () =>
    Effect.gen(function* () {
      const { key } = yield* Service
      const wrong = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`
      for (let attempt = 0; attempt < 10; attempt++)
        assert.strictEqual((yield* from("198.51.100.7", wrong)).status, 403)
      assert.strictEqual((yield* from("198.51.100.8", key)).status, 200)
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a session of a key that a person owns", (it) => {
  it.effect("does no more than its owner, and ends with the key", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const made = yield* ApiKeys.create("console", ["Processes.read_runs", "Processes.read_work_items"])
      const cookie = yield* signedIn(Redacted.value(made.key))
      const get = (what: string) =>
        Effect.map(raw("GET", what, { key: null, headers: { cookie } }), ({ status }) => status)
      const { user } = yield* member({ login: newLogin("ova"), role: "operator" })
      yield* ApiKeys.setOwner(made.id, user.id)
      assert.deepStrictEqual([yield* get("process-runs"), yield* get("work-items")], [200, 200])
      yield* Roles.put("runs", ["Processes.read_runs"])
      yield* Users.update(user.id, { role: "runs" })
      assert.deepStrictEqual([yield* get("process-runs"), yield* get("work-items")], [200, 403])
      yield* Users.update(user.id, { disabled: true })
      assert.strictEqual(yield* get("process-runs"), 401)
      yield* Users.update(user.id, { disabled: false })
      assert.strictEqual(yield* get("process-runs"), 200)
      yield* sql`UPDATE api_key SET expires_at = '2026-01-01T00:00:00.000Z' WHERE id = ${made.id}`
      assert.strictEqual(yield* get("process-runs"), 401)
    })
  )
})
