/** Users of a workspace, their roles, and who may act on whom. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { builtInRoles, Permission } from "@signalbox/api/contract/Authorization"
import { UserId } from "@signalbox/api/contract/Ids"
import * as Roles from "@signalbox/api/Roles"
import * as Users from "@signalbox/api/Users"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { endpoints, fill } from "./support/Endpoints.ts"
import { assertError, errorOf } from "./support/Http.ts"
import { member, newLogin, own, page, password, signIn } from "./support/People.ts"
import { layer, Service } from "./support/Service.ts"

const nobody = "01900000-0000-7000-8000-000000000000"

/** A request of somebody who is signed in. */
const by = (cookie: string, method: string, path: string, json?: unknown) =>
  Effect.flatMap(Service, ({ raw }) =>
    raw(method, path, { key: null, headers: { ...own, cookie }, ...(json === undefined ? {} : { json }) })
  )

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("users", (it) => {
  it.effect("are invited, listed, changed and removed", () =>
    Effect.gen(function* () {
      const login = newLogin("ada")
      const invited = yield* Users.invite({ login, first_name: "Ada", last_name: "Lovelace", role: "viewer" })
      const { link: _, ...user } = invited
      assert.deepInclude(user, { login, first_name: "Ada", last_name: "Lovelace", role: "viewer", state: "invited" })
      assert.deepStrictEqual(yield* Users.get(user.id), user)
      const all = yield* Stream.runCollect(Users.stream({ limit: 1 }))
      assert.deepStrictEqual(
        all.find(({ id }) => id === user.id),
        user
      )
      const changed = yield* Users.update(user.id, { role: "operator", email: "ada@example.com" })
      assert.deepStrictEqual(changed, { ...user, role: "operator", email: "ada@example.com" })
      const again = yield* Effect.flip(Users.invite({ login: login.toUpperCase(), role: "viewer" }))
      assert.strictEqual(again._tag, "Conflict")
      yield* Users.remove(user.id)
      assert.strictEqual((yield* Effect.flip(Users.get(user.id)))._tag, "NotFound")
      // Nothing is left of who belonged to this workspace alone.
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT id FROM account WHERE id = ${user.id}`, [])
    })
  )

  it.effect("have a name that is never null, and the login where none was given", () =>
    Effect.gen(function* () {
      const login = newLogin("noname")
      const { first_name, last_name } = yield* Users.invite({ login, role: "viewer" })
      assert.deepStrictEqual([first_name, last_name], [login, ""])
    })
  )

  it.effect("start runs in their own name", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = JSON.parse(
        (yield* raw("POST", "processes", {
          json: { name: newLogin("p"), steps: [{ name: "s", task: { name: "t" } }] }
        })).text
      ).id
      const { cookie, user } = yield* member({
        login: newLogin("ida"),
        first_name: "Ida",
        last_name: "Rhodes",
        role: "operator"
      })
      const started = yield* by(cookie, "POST", `processes/${process}/process-runs`, {})
      assert.strictEqual(started.status, 200, started.text)
      const run = yield* ProcessRuns.get(JSON.parse(started.text).id)
      assert.deepStrictEqual(run.started_by, {
        type: "user",
        details: { id: user.id, first_name: "Ida", last_name: "Rhodes" }
      })
      const paused = yield* by(cookie, "POST", `processes/${process}/pause`, { note: "n" })
      assert.deepStrictEqual(JSON.parse(paused.text).paused.by, { type: "user", id: user.id, name: "Ida Rhodes" })
    })
  )

  it.effect("may do what their role permits, at every endpoint, and so may their keys, which were given more", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      const ofKeys = endpoints.filter(({ door, path }) => door === "key" && path.includes(":workspace_id"))
      const idle = yield* Roles.put(
        "starts-nothing",
        builtInRoles.admin.filter((permission) => permission !== "Processes.trigger_processes")
      )
      const roles = [...Object.entries(builtInRoles), [idle.name, idle.permissions] as const]
      yield* member({ login: newLogin("keeper"), role: "admin" })
      for (const [role, permissions] of roles) {
        const { cookie, user } = yield* member({ login: newLogin(role), role: "admin" })
        const { key } = yield* ApiKeys.create("of an admin then", builtInRoles.admin, { owner: { id: user.id } })
        yield* Users.update(user.id, { role })
        const held = new Set<string>(permissions)
        for (const { identifier, method, needed, path } of ofKeys) {
          // Ends the session, or answers as long as it is read.
          if (identifier === "watchChanges" || identifier === "createConsoleTicket") continue
          const at = fill(path, (name) => (name === "workspace_id" ? workspaceId : nobody))
          const json = method === "GET" ? {} : { json: { unknown: nobody } }
          const lacking = needed.filter((permission) => !held.has(permission))
          for (const [who, words, credential] of [
            ["session", "your role lacks the permission", { key: null, headers: { ...own, cookie } }],
            ["key", "the key lacks the permission", { key: Redacted.value(key) }]
          ] as const) {
            const answer = yield* raw(method, at, { ...credential, ...json })
            const refused = answer.status === 403 && errorOf(answer).message.includes(words)
            const what = `${who} of ${role}, ${identifier}: ${answer.status} ${answer.text}`
            assert.strictEqual(refused, lacking.length > 0, what)
            if (refused) assert.include(errorOf(answer).message, lacking[0] ?? "", what)
          }
        }
      }
    })
  )

  it.effect("give no role with a permission that they lack, and touch nobody who is stronger", () =>
    Effect.gen(function* () {
      yield* Roles.put("clerk", ["Workspace.read_users", "Workspace.manage_users", "Processes.read_runs"])
      const clerk = yield* member({ login: newLogin("clerk"), role: "clerk" })
      const admin = yield* member({ login: newLogin("admin"), role: "admin" })
      const weaker = yield* Users.invite({ login: newLogin("weak"), role: "clerk" })
      const users = (method: string, path: string, json?: unknown) => by(clerk.cookie, method, `users${path}`, json)
      assertError(
        yield* users("POST", "", { login: newLogin("x"), role: "viewer" }),
        403,
        "FORBIDDEN",
        /role: viewer would be given.*you lack/
      )
      assertError(
        yield* users("POST", "", { login: newLogin("x"), role: "clerk", manages_room: true }),
        403,
        "FORBIDDEN",
        /Room.manage/
      )
      for (const answer of [
        yield* users("POST", `/${admin.user.id}`, { role: "clerk" }),
        yield* users("POST", `/${admin.user.id}`, { disabled: true }),
        yield* users("POST", `/${admin.user.id}/link`),
        yield* users("DELETE", `/${admin.user.id}`),
        yield* users("DELETE", `/${admin.user.id}/second-factor`)
      ]) {
        assertError(answer, 403, "FORBIDDEN", /has the role admin, which needs all of its permissions, and you lack/)
      }
      // Signing somebody out is always possible, as a leaked key can always be revoked.
      assert.strictEqual((yield* users("DELETE", `/${admin.user.id}/sessions`)).status, 200)
      assert.strictEqual((yield* by(admin.cookie, "GET", "process-runs")).status, 401)
      assertError(
        yield* users("POST", `/${weaker.id}`, { role: "admin" }),
        403,
        "FORBIDDEN",
        /role: admin would be given/
      )
      assert.strictEqual((yield* users("POST", `/${weaker.id}/link`)).status, 200)
      assert.strictEqual((yield* users("DELETE", `/${weaker.id}`)).status, 200)
      // A role is as strong as what it has and would get.
      const put = (name: string, permissions: ReadonlyArray<string>) =>
        by(clerk.cookie, "POST", `roles/${name}`, { permissions })
      assertError(yield* put("clerk", ["Vault.write_secrets"]), 403, "FORBIDDEN", /you lack Vault.write_secrets/)
      yield* Roles.put("stronger", ["Vault.write_secrets"])
      assertError(yield* put("stronger", ["Processes.read_runs"]), 403, "FORBIDDEN", /you lack Vault.write_secrets/)
    })
  )

  it.effect("of another workspace too are touched as a whole by who operates the room alone", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const other = yield* makeWorkspace
      const both = yield* member({ login: newLogin("both"), role: "viewer" })
      const foreign = yield* makeKey(
        [...Permission.literals].filter((one) => one !== "Room.manage"),
        other
      )
      const joined = yield* raw("POST", `/api/v1/workspaces/${other}/users`, {
        key: foreign,
        json: { login: both.user.login, role: "admin" }
      })
      assert.strictEqual(JSON.parse(joined.text).link, null, joined.text)
      const act = (path: string, json?: unknown) =>
        raw("POST", `/api/v1/workspaces/${other}/users/${both.user.id}${path}`, { key: foreign, json })
      for (const answer of [
        yield* act("/link"),
        yield* act("", { disabled: true }),
        yield* act("", { first_name: "Eve" })
      ]) {
        assertError(
          answer,
          403,
          "FORBIDDEN",
          /also belongs to another workspace; who operates the room \(Room.manage\) can do this/
        )
      }
      assert.strictEqual((yield* act("", { role: "viewer" })).status, 409, "the last admin there")
      // The room's operator may.
      yield* Users.createLink(both.user.id)
    })
  )

  it.effect("keep the last admin, also when two remove each other at once", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const workspace = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, workspace)
      const invite = Effect.fnUntraced(function* (name: string) {
        const answer = yield* raw("POST", `/api/v1/workspaces/${workspace}/users`, {
          key,
          json: { login: newLogin(name), role: "admin" }
        })
        const { id, link } = JSON.parse(answer.text)
        const chosen = yield* page("POST", "/console/link", { link: link.url.split("#link=")[1], password })
        assert.strictEqual(chosen.status, 200)
        const { login } = JSON.parse(chosen.text).user
        const cookie = /signalbox-[^;,]*=sbu_[^;]*/.exec(chosen.headers["set-cookie"] ?? "")?.[0] ?? ""
        return { id, login, cookie }
      })
      const one = yield* invite("one")
      const two = yield* invite("two")
      const removal = (actor: string, id: string) => by(actor, "DELETE", `/api/v1/workspaces/${workspace}/users/${id}`)
      const answers = yield* Effect.all([removal(one.cookie, two.id), removal(two.cookie, one.id)], { concurrency: 2 })
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
      const left = answers[0]?.status === 200 ? one : two
      for (const answer of [
        yield* removal(left.cookie, left.id),
        yield* by(left.cookie, "POST", `/api/v1/workspaces/${workspace}/users/${left.id}`, { role: "viewer" }),
        yield* by(left.cookie, "POST", `/api/v1/workspaces/${workspace}/users/${left.id}`, { disabled: true })
      ]) {
        assertError(answer, 409, "CONFLICT", /is the last admin of the workspace .*; give somebody else the role first/)
      }
    })
  )

  it.effect("keep the last who operates the room, also when two end that for each other at once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const manager = (name: string) => member({ login: newLogin(name), role: "admin", manages_room: true })
      const one = yield* manager("one")
      const two = yield* manager("two")
      const end = ({ cookie }: { readonly cookie: string }, { user }: typeof one) =>
        by(cookie, "POST", `users/${user.id}`, { manages_room: false })
      const answers = yield* Effect.all([end(one, two), end(two, one)], { concurrency: 2 })
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
      const left = answers[0]?.status === 200 ? one : two
      for (const answer of [
        yield* end(left, left),
        yield* by(left.cookie, "POST", `users/${left.user.id}`, { disabled: true })
      ]) {
        assertError(answer, 409, "CONFLICT", /is the last who operates the room; let somebody else operate it first/)
      }
      // Removed from the workspace, the account goes on to operate the room.
      yield* member({ login: newLogin("keeper"), role: "admin" })
      yield* Users.remove(left.user.id)
      assert.lengthOf(yield* sql`SELECT id FROM account WHERE id = ${left.user.id} AND manages_room = 1`, 1)
    })
  )

  it.effect("who have never signed in are not the admin that a workspace keeps", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const workspace = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, workspace)
      const users = (method: string, path: string, json?: unknown) =>
        raw(method, `/api/v1/workspaces/${workspace}/users${path}`, { key, ...(json === undefined ? {} : { json }) })
      const invite = Effect.suspend(() =>
        Effect.map(users("POST", "", { login: newLogin("adm"), role: "admin" }), ({ text }) => JSON.parse(text))
      )
      const one = yield* invite
      const two = yield* invite
      const chosen = yield* page("POST", "/console/link", { link: one.link.url.split("#link=")[1], password })
      assert.strictEqual(chosen.status, 200)
      assertError(yield* users("DELETE", `/${one.id}`), 409, "CONFLICT", /is the last admin/)
      assertError(yield* users("POST", `/${one.id}`, { role: "viewer" }), 409, "CONFLICT", /is the last admin/)
      assert.strictEqual((yield* users("DELETE", `/${two.id}`)).status, 200, "an invitation is taken back")
      // Nor disabled from another workspace, where the same account is a member.
      const here = yield* Users.invite({ login: one.login, role: "viewer" })
      const disabled = yield* raw("POST", `users/${here.id}`, { json: { disabled: true } })
      assertError(disabled, 409, "CONFLICT", /is the last admin of the workspace/)
    })
  )

  it.effect("invited to another workspace are not taken over by an invitation to this one", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const other = yield* makeWorkspace
      const login = newLogin("new")
      yield* Users.invite({ login, role: "admin" })
      const foreign = yield* makeKey(
        [...Permission.literals].filter((one) => one !== "Room.manage"),
        other
      )
      const invite = (key: string) =>
        raw("POST", `/api/v1/workspaces/${other}/users`, { key, json: { login, role: "viewer" } })
      const joined = yield* invite(foreign)
      assert.strictEqual(joined.status, 200)
      assert.isNull(JSON.parse(joined.text).link)
    })
  )

  it.effect("lose at once what their role loses, in sessions and streams", () =>
    Effect.gen(function* () {
      const { origin, workspaceId } = yield* Service
      const { cookie, user } = yield* member({ login: newLogin("max"), role: "operator" })
      const stream = yield* Effect.promise(() =>
        fetch(`${origin}/api/v1/workspaces/${workspaceId}/changes`, { headers: { cookie } })
      )
      assert.strictEqual(stream.status, 200)
      const reading = stream.text()
      yield* Users.update(user.id, { role: "viewer" })
      // It ends, for the caller may do less than when it began.
      yield* Effect.promise(() => reading)
      const denied = yield* by(cookie, "POST", `processes/${nobody}/process-runs`, {})
      assertError(denied, 403, "FORBIDDEN", /your role lacks the permission Processes.trigger_processes/)
      yield* Users.update(user.id, { disabled: true })
      assert.strictEqual((yield* by(cookie, "GET", "process-runs")).status, 401)
      yield* Users.update(user.id, { disabled: false })
      assert.strictEqual((yield* by(cookie, "GET", "process-runs")).status, 401, "sessions do not come back")
      assert.strictEqual((yield* signIn(user.login)).status, 200)
    })
  )

  it.effect("are not invited with a role that does not exist", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const before = yield* rows
      const invite = (json: object) => raw("POST", "users", { json: { login: newLogin("x"), role: "viewer", ...json } })
      assertError(yield* invite({ role: "boss" }), 400, "INVALID_REQUEST", /role: this workspace has no role boss/)
      assertError(
        yield* invite({ login: "with space" }),
        400,
        "INVALID_REQUEST",
        /login: Expected a login without spaces/
      )
      assertError(yield* invite({ email: "none" }), 400, "INVALID_REQUEST", /email/)
      assert.deepStrictEqual(yield* rows, before)
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("roles", (it) => {
  it.effect("are those that every workspace has, and its own", () =>
    Effect.gen(function* () {
      const permissions = ["Processes.read_runs"] as const
      assert.deepStrictEqual(yield* Roles.put("auditor", permissions), {
        name: "auditor",
        permissions,
        built_in: false
      })
      const roles = yield* Roles.all()
      assert.deepStrictEqual(
        roles.map(({ name }) => name),
        ["viewer", "operator", "builder", "admin", "auditor"]
      )
      assert.strictEqual((yield* Effect.flip(Roles.put("admin", permissions)))._tag, "Conflict")
      assert.strictEqual((yield* Effect.flip(Roles.remove("viewer")))._tag, "Conflict")
      const user = yield* Users.invite({ login: newLogin("aud"), role: "auditor" })
      assert.strictEqual((yield* Effect.flip(Roles.remove("auditor")))._tag, "Conflict")
      yield* Users.remove(user.id)
      yield* Roles.remove("auditor")
      assert.strictEqual((yield* Effect.flip(Roles.remove("auditor")))._tag, "NotFound")
    })
  )

  it.effect("give values of secrets and the room to nobody by themselves", () =>
    Effect.sync(() => {
      for (const permissions of Object.values(builtInRoles)) {
        assert.notInclude(permissions, "Vault.read_secret_values")
        assert.notInclude(permissions, "Room.manage")
      }
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("values of secrets", (it) => {
  it.effect("are given by keys older than the first account, by who has them, and by who operates the room", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const values = "Vault.read_secret_values"
      const managing = ["Workspace.manage_api_keys", "Vault.read_secrets"] as const
      const gives = (key: string, permissions: ReadonlyArray<string> = [values]) =>
        Effect.map(raw("POST", "api-keys", { key, json: { name: "k", permissions } }), ({ status }) => status === 200)
      const older = yield* makeKey(managing)
      assert.isTrue(yield* gives(older))
      yield* Users.invite({ login: newLogin("first"), role: "viewer" })
      assert.isTrue(yield* gives(older))
      // A key of now, which would be a way round: whoever makes it would give what they lack.
      const newer = yield* makeKey(managing)
      assert.isFalse(yield* gives(newer))
      assert.isTrue(yield* gives(newer, managing))
      assert.isTrue(yield* gives(yield* makeKey([...managing, values])))
      assert.isTrue(yield* gives(yield* makeKey(["Workspace.manage_api_keys", "Room.manage"])))
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a key of a user", (it) => {
  const keyOf = Effect.fnUntraced(function* (owner: UserId, permissions: ReadonlyArray<Permission>) {
    const { id, key } = yield* ApiKeys.create("of a user", permissions, { owner: { id: owner } })
    const text = Redacted.value(key)
    const { raw } = yield* Service
    return { id, runs: raw("GET", "process-runs", { key: text }), items: raw("GET", "work-items", { key: text }) }
  })

  it.effect("never does more than its owner, and ends with them", () =>
    Effect.gen(function* () {
      yield* Roles.put("runs", ["Processes.read_runs"])
      const { user } = yield* member({ login: newLogin("eva"), role: "operator" })
      const { items, runs } = yield* keyOf(user.id, ["Processes.read_runs", "Processes.read_work_items"])
      assert.deepStrictEqual([(yield* runs).status, (yield* items).status], [200, 200])
      yield* Users.update(user.id, { role: "runs" })
      assert.deepStrictEqual([(yield* runs).status, (yield* items).status], [200, 403])
      yield* Roles.put("runs", ["Processes.read_work_items"])
      assert.deepStrictEqual([(yield* runs).status, (yield* items).status], [403, 200])
      yield* Users.update(user.id, { disabled: true })
      assertError(yield* items, 403, "FORBIDDEN", /unknown or was revoked/)
      yield* Users.update(user.id, { disabled: false })
      assert.strictEqual((yield* items).status, 200)
      yield* Users.remove(user.id)
      assertError(yield* items, 403, "FORBIDDEN", /unknown or was revoked/)
    })
  )

  it.effect("is handed over to who has all its permissions, or to the workspace", () =>
    Effect.gen(function* () {
      const from = yield* member({ login: newLogin("from"), role: "operator" })
      const to = yield* member({ login: newLogin("to"), role: "viewer" })
      const { id, runs } = yield* keyOf(from.user.id, ["Processes.read_runs", "Processes.trigger_processes"])
      const refused = yield* Effect.flip(ApiKeys.setOwner(id, to.user.id))
      assert.match(refused.message, /owner.id: the role viewer of .* lacks Processes.trigger_processes/)
      assert.match(
        (yield* Effect.flip(ApiKeys.setOwner(id, UserId.make(nobody)))).message,
        /this workspace has no user/
      )
      assert.isNull((yield* ApiKeys.setOwner(id, null)).owner)
      yield* Users.remove(from.user.id)
      assert.strictEqual((yield* runs).status, 200)
    })
  )

  it.effect("says who made it, whoever owns it later", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const { cookie, user } = yield* member({
        login: newLogin("ada"),
        first_name: "Ada",
        last_name: "L",
        role: "admin"
      })
      const json = { name: "hers", permissions: ["Processes.read_runs"] }
      const hers = yield* by(cookie, "POST", "api-keys", json)
      const author = { type: "user", id: user.id, name: "Ada L" } as const
      assert.deepStrictEqual(JSON.parse(hers.text).created_by, author)
      yield* ApiKeys.setOwner(JSON.parse(hers.text).id, null)
      const listed = yield* Stream.runCollect(ApiKeys.stream())
      assert.deepInclude(listed.find(({ name }) => name === "hers")?.created_by, author)
      const key = yield* makeKey(["Workspace.manage_api_keys", "Processes.read_runs"])
      const made = JSON.parse((yield* raw("POST", "api-keys", { key, json })).text)
      assert.deepInclude(made.created_by, { type: "api_key", name: "test" })
    })
  )

  it.effect("is made by a person as their own, and is refused once it has expired", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { raw } = yield* Service
      const { cookie, user } = yield* member({ login: newLogin("own"), role: "admin" })
      const expires_at = new Date(Date.now() + 3_600_000).toISOString()
      const create = (json: object) =>
        by(cookie, "POST", "api-keys", { name: "n", permissions: ["Processes.read_runs"], ...json })
      const made = JSON.parse((yield* create({ expires_at })).text)
      assert.deepStrictEqual(made.owner, { id: user.id, login: user.login })
      assert.strictEqual(made.expires_at, expires_at)
      const runs = raw("GET", "process-runs", { key: made.key })
      assert.strictEqual((yield* runs).status, 200)
      assertError(
        yield* create({ expires_at: "2020-01-01T00:00:00Z" }),
        400,
        "INVALID_REQUEST",
        /expires_at: Expected a time in the future/
      )
      assertError(
        yield* create({ permissions: ["Vault.read_secret_values"] }),
        403,
        "FORBIDDEN",
        /you can grant only permissions that you have/
      )
      const listed = (yield* ApiKeys.list()).data.find(({ id }) => id === made.id)
      assert.match(listed?.last_used_at ?? "", /^20\d\d-/)
      yield* sql`UPDATE api_key SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${made.id}`
      // As a node does that was told.
      yield* Users.update(user.id, { first_name: "Own" })
      assertError(yield* runs, 403, "FORBIDDEN", /unknown or was revoked/)
    })
  )
})
