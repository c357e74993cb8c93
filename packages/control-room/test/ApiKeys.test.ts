import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import { ApiKeyCreated } from "@signalbox/api/contract/ApiKeys"
import { Permission } from "@signalbox/api/contract/Authorization"
import { ApiKeyId } from "@signalbox/api/contract/Ids"
import * as Deferred from "effect/Deferred"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { ApiKeys as Store } from "../src/internal/store/access/ApiKeys.ts"
import { Database } from "../src/internal/store/database/Database.ts"
import { Notifier } from "../src/internal/store/database/Notifier.ts"
import * as Tokens from "../src/internal/vault/Tokens.ts"
import { assertError, bodyAs } from "./support/Http.ts"
import { layer, Service } from "./support/Service.ts"

const nobody = "01900000-0000-7000-8000-000000000000"

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("API keys", (it) => {
  it.effect("are created, work, are listed without their text, and are refused once revoked", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const made = yield* ApiKeys.create("ci", ["Processes.read_processes", "Processes.read_processes"])
      assert.strictEqual(made.name, "ci")
      assert.deepStrictEqual(made.permissions, ["Processes.read_processes"])
      const key = Redacted.value(made.key)
      const list = () => raw("GET", "processes", { key })
      assert.strictEqual((yield* list()).status, 200)
      assert.strictEqual((yield* raw("GET", "work-items", { key })).status, 403)

      const page = yield* raw("GET", "api-keys")
      assert.include(page.text, made.id)
      assert.notInclude(page.text, key.slice(-43))
      assert.notInclude(page.text, "hash")
      assert.notInclude(JSON.stringify(yield* rows), key.slice(-43))
      const { key: _, ...listed } = made
      const all = yield* Stream.runCollect(ApiKeys.stream({ limit: 1 }))
      assert.match(all[0]?.last_used_at ?? "", /:00\.000Z$/)
      assert.strictEqual(JSON.stringify({ ...all[0], last_used_at: null }), JSON.stringify(listed))

      yield* ApiKeys.remove(made.id)
      assertError(yield* list(), 403, "FORBIDDEN", /revoked/)
      assertError(yield* raw("DELETE", `api-keys/${made.id}`), 404, "NOT_FOUND", new RegExp(made.id))
      assert.isFalse((yield* Stream.runCollect(ApiKeys.stream())).some(({ id }) => id === made.id))
    })
  )

  it.effect("grant only what their maker has, and reading the values of secrets", () =>
    Effect.gen(function* () {
      const { makeKey, raw, rows } = yield* Service
      const key = yield* makeKey(["Workspace.manage_api_keys", "Vault.read_secrets"])
      const create = (permissions: ReadonlyArray<string>) =>
        raw("POST", "api-keys", { key, json: { name: "n", permissions } })
      const before = yield* rows
      assertError(yield* create(["Vault.write_secrets"]), 403, "FORBIDDEN", /permissions: .*lacks Vault.write_secrets/)
      assertError(yield* create([...Permission.literals]), 403, "FORBIDDEN", /Assets.write_asset_storage_assets/)
      assertError(yield* create(["Vault.read_everything"]), 400, "INVALID_REQUEST", /permissions.0/)
      assertError(yield* create([]), 400, "INVALID_REQUEST", /permissions/)
      assertError(
        yield* raw("POST", "api-keys", { key, json: { name: "", permissions: ["Vault.read_secrets"] } }),
        400,
        "INVALID_REQUEST",
        /name/
      )
      assert.deepStrictEqual(yield* rows, before)

      const made = bodyAs(ApiKeyCreated, yield* create(["Vault.read_secrets", "Vault.read_secret_values"]))
      // The key can use what it was granted, but not grant it: it does not manage keys.
      const given = Redacted.value(made.key)
      assert.strictEqual((yield* raw("GET", "secrets", { key: given })).status, 200)
      assert.strictEqual((yield* raw("GET", "api-keys", { key: given })).status, 403)
    })
  )

  it.effect("may revoke themselves, but nothing of another workspace", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const key = yield* makeKey(["Workspace.manage_api_keys"])
      const own = ApiKeyId.make(Tokens.parse(key)?.id ?? "")
      const other = yield* makeWorkspace
      const foreign = yield* makeKey(["Workspace.manage_api_keys"], other)
      const path = `/api/v1/workspaces/${other}/api-keys/${own}`
      assertError(yield* raw("DELETE", path, { key: foreign }), 404, "NOT_FOUND", /API key/)
      assert.strictEqual((yield* raw("GET", "api-keys", { key })).status, 200)
      assert.strictEqual((yield* raw("DELETE", `api-keys/${own}`, { key })).text, `{"id":"${own}","deleted":true}`)
      assert.strictEqual((yield* raw("GET", "api-keys", { key })).status, 403)
      assert.strictEqual((yield* raw("DELETE", `api-keys/${nobody}`)).status, 404)
    })
  )

  it.effect("are read from the database once, and never after a revocation", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const sql = yield* SqlClient.SqlClient
      // A separate store, whose queries are counted.
      const store = Context.get(yield* Layer.build(Layer.fresh(Store.layer).pipe(Layer.provide(Database.layer))), Store)
      const { key, view } = yield* store.create(workspaceId, "cached", ["Vault.read_secrets"])
      const token = Tokens.parse(key)
      if (token === null) return assert.fail("no token")
      assert.strictEqual((yield* store.authenticate(token))?.id, view.id)
      assert.isNull(yield* store.authenticate({ ...token, secret: token.secret.toLowerCase() }))
      // Without notifying it: its cached key still works.
      yield* sql`UPDATE api_key SET permissions = '[]' WHERE id = ${view.id}`
      assert.deepStrictEqual([...((yield* store.authenticate(token))?.permissions ?? [])], ["Vault.read_secrets"])
      assert.isTrue(yield* store.remove(workspaceId, view.id))
      assert.isNull(yield* store.authenticate(token))
      assert.isFalse(yield* store.remove(workspaceId, view.id))
    })
  )

  it.effect("change on every node within a second, even when no notification arrives", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const deaf = Layer.succeed(Notifier, {
        shared: true,
        subscribe: () => Effect.void,
        suspect: () => Effect.void,
        notify: () => Effect.void
      })
      const node = Layer.fresh(Store.layer).pipe(Layer.provide([Database.layer, deaf]))
      const store = Context.get(yield* Layer.build(node), Store)
      const { key, view } = yield* store.create(workspaceId, "elsewhere", ["Vault.read_secrets"])
      const token = Tokens.parse(key)
      if (token === null) return assert.fail("no token")
      const permissions = Effect.map(store.authenticate(token), (found) => found && [...found.permissions])
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* permissions, ["Vault.read_secrets"])
        yield* sql`UPDATE api_key SET permissions = '[]' WHERE id = ${view.id}`
        yield* TestClock.adjust("999 millis")
        assert.deepStrictEqual(yield* permissions, ["Vault.read_secrets"])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* permissions, [])
        yield* sql`DELETE FROM api_key WHERE id = ${view.id}`
        yield* TestClock.adjust("1 second")
        assert.isNull(yield* permissions)
      }).pipe(Effect.provide(TestClock.layer()))
    })
  )

  it.effect("are not remembered by a request that began before their revocation", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const database = yield* Effect.provide(Database, Database.layer)
      const [read, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      // A database whose lookups return when the test allows it.
      const slow = new Proxy(database.sql, {
        apply: (target, self, given) => {
          const statement: Effect.Effect<unknown> = Reflect.apply(target, self, given)
          const lookUp = String(given[0]).includes(" WHERE api_key.id = ")
          return lookUp
            ? Effect.tap(statement, () => Effect.andThen(Deferred.succeed(read, undefined), Deferred.await(go)))
            : statement
        }
      })
      const store = Context.get(
        yield* Layer.build(
          Layer.fresh(Store.layer).pipe(Layer.provide(Layer.succeed(Database, { ...database, sql: slow })))
        ),
        Store
      )
      const { key, view } = yield* store.create(workspaceId, "race", ["Vault.read_secrets"])
      const token = Tokens.parse(key)
      if (token === null) return assert.fail("no token")
      const before = yield* Effect.forkChild(store.authenticate(token))
      yield* Deferred.await(read)
      assert.isTrue(yield* store.remove(workspaceId, view.id))
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* Fiber.join(before))?.id, view.id)
      assert.isNull(yield* store.authenticate(token))
    })
  )
})
