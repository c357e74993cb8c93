/** The audit of the room: its accounts, sign-ins, workspaces and restores, for who operates it. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Audit from "@signalbox/api/Audit"
import * as Users from "@signalbox/api/Users"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { RefusedSignIns } from "../src/internal/store/audit/RefusedSignIns.ts"
import { assertError } from "./support/Http.ts"
import { member, newLogin, page, password, signIn } from "./support/People.ts"
import { layer, movedBy, Service } from "./support/Service.ts"

/** Entries of the room about somebody, oldest first: the action, and who did it. */
const about = (user: string) =>
  Effect.map(Audit.list({ chain: "room", resource: user }), ({ data }) =>
    data.map(({ action, actor }) => `${action} by ${actor.type === "user" && actor.id === user ? "self" : actor.name}`)
  ).pipe(Effect.map((lines) => lines.toReversed()))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the audit of the room", (it) => {
  it.effect("has what is done to an account, by whom and in which workspace, and what its owner does", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const { cookie, user } = yield* member({ login: newLogin("ada"), role: "viewer" })
      yield* Users.update(user.id, { first_name: "Ada" })
      const other = "a river under the lantern"
      const json = { current: password, password: other }
      const changed = yield* page("POST", "/console/account/password", json, cookie)
      assert.strictEqual(changed.status, 200, changed.text)
      yield* Users.endSessions(user.id)
      yield* Users.remove(user.id)
      assert.deepStrictEqual(yield* about(user.id), [
        "inviteUser by test",
        "choosePassword by self",
        "openSession by self",
        "updateUser by test",
        "changePassword by self",
        "endUserSessions by test",
        "deleteUser by test"
      ])
      const { data } = yield* Audit.list({ chain: "room", resource: user.id })
      assert.notInclude(JSON.stringify(data), password)
      assert.notInclude(JSON.stringify(data), other)
      const invited = data.find(({ action }) => action === "inviteUser")
      assert.deepStrictEqual(invited?.changes.find(({ field }) => field === "workspace_id")?.after, workspaceId)
      const own = data.find(({ action }) => action === "changePassword")
      assert.strictEqual(own?.address, "127.0.0.1")
      assert.isString(own?.actor.session_id)
      // The workspace has what was asked for in it, and that somebody came.
      const inWorkspace = yield* Audit.list({ resource: user.id })
      assert.deepStrictEqual(inWorkspace.data.map(({ action }) => action).toReversed(), [
        "inviteUser",
        "openSession",
        "updateUser",
        "endUserSessions",
        "deleteUser"
      ])
    })
  )

  it.effect("has refused sign-ins, and not what was typed as the login of nobody", () =>
    Effect.gen(function* () {
      const { user } = yield* member({ login: newLogin("bob"), role: "viewer" })
      const typed = newLogin("my secret word")
      for (const login of [user.login, user.login, typed]) {
        assertError(yield* signIn(login, "not the password"), 401, "UNAUTHENTICATED", /is wrong/)
      }
      yield* Effect.provideService((yield* RefusedSignIns).enter, Clock.Clock, movedBy(yield* Clock.Clock, 60_000))
      const { data } = yield* Audit.list({ chain: "room", action: "refuseSignIn" })
      const attempts = (id: string | null) =>
        data
          .filter(({ resource }) => resource.id === id)
          .flatMap(({ changes }) => changes.filter(({ field }) => field === "attempts"))
          .reduce((sum, { after }) => sum + Number(after), 0)
      assert.deepStrictEqual([attempts(user.id), attempts(null)], [2, 1])
      assert.strictEqual(data[0]?.address, "127.0.0.1")
      assert.notInclude(JSON.stringify(data), typed)
    })
  )

  it.effect("is for who operates the room, with a cursor of its own", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const key = yield* makeKey(["Audit.read_audit"])
      for (const path of ["audit?chain=room", "audit/export?chain=room"]) {
        assertError(yield* raw("GET", path, { key }), 403, "FORBIDDEN", /operates it.*Room\.manage/)
        assert.strictEqual(
          (yield* raw("GET", path, { key: yield* makeKey(["Audit.read_audit", "Room.manage"]) })).status,
          200
        )
      }
      assertError(yield* raw("GET", "audit?chain=other"), 400, "INVALID_REQUEST", /chain/)
      const first = yield* Audit.list({ limit: 1 })
      const cursor = new URL(first.next ?? assert.fail("one page")).searchParams.get("cursor")
      assertError(yield* raw("GET", `audit?chain=room&cursor=${cursor}`), 400, "INVALID_REQUEST", /cursor/)
    })
  )
})
