/** Changes of who may do what: each raises the counter that nodes read, so that a lost notification delays it by a second at most. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as Roles from "@signalbox/api/Roles"
import * as Users from "@signalbox/api/Users"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { Notifier } from "../../src/internal/store/database/Notifier.ts"
import { linkOf, member, newLogin, page, password, signIn } from "../support/People.ts"
import { layer, onPostgres, Service } from "../support/Service.ts"

const revision = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ revision: number }>`SELECT revision FROM authorization_revision`
  return Number(row?.revision)
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a change of who may do what", (it) => {
  it.effect("raises the counter", () =>
    Effect.gen(function* () {
      const { cookie, user } = yield* member({ login: newLogin("ada"), role: "viewer" })
      const other = yield* member({ login: newLogin("bob"), role: "viewer" })
      const { id } = yield* ApiKeys.create("ci", ["Processes.read_runs"])
      const link = linkOf(yield* Users.createLink(other.user.id))
      const raises = Effect.fnUntraced(function* <E, R>(what: string, change: Effect.Effect<unknown, E, R>) {
        const before = yield* revision
        yield* change
        assert.isAbove(yield* revision, before, what)
      })
      yield* raises("a role that a user gets", Users.update(user.id, { role: "operator" }))
      yield* raises("a role that changes", Roles.put("own", ["Processes.read_runs"]))
      yield* raises("a key that is handed over", ApiKeys.setOwner(id, user.id))
      yield* raises("a password", page("POST", "/console/link", { link, password: "another long password" }))
      yield* raises("sessions that are ended", Users.endSessions(other.user.id))
      yield* raises("signing out", page("DELETE", "/console/session", undefined, cookie))
      yield* raises("an account that is disabled", Users.update(other.user.id, { disabled: true }))
      yield* raises("a key that is revoked", ApiKeys.remove(id))
      yield* raises("a membership that ends", Users.remove(user.id))
      const before = yield* revision
      yield* signIn(other.user.login, password)
      assert.strictEqual(yield* revision, before, "signing in takes nothing from anybody")
    })
  )

  if (!onPostgres) return

  it.effect("of another node whose notification was lost is noticed, and ends streams", () =>
    Effect.gen(function* () {
      const { origin, workspaceId } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { subscribe } = yield* Notifier
      const { cookie, user } = yield* member({ login: newLogin("eva"), role: "operator" })
      const stream = yield* Effect.promise(() =>
        fetch(`${origin}/api/v1/workspaces/${workspaceId}/changes`, { headers: { cookie } })
      )
      assert.strictEqual(stream.status, 200)
      const reading = stream.text()
      const noticed = yield* Deferred.make<string | null>()
      yield* subscribe("permissions changed", (about) => Effect.asVoid(Deferred.succeed(noticed, about)))
      // As that node does it, without telling this one.
      yield* sql.withTransaction(
        Effect.all([
          sql`UPDATE membership SET role = 'viewer' WHERE account_id = ${user.id}`,
          sql`UPDATE authorization_revision SET revision = revision + 1`
        ])
      )
      assert.isNull(yield* Deferred.await(noticed))
      yield* Effect.promise(() => reading)
    })
  )
})
