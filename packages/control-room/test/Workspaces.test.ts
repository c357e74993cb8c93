import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import { firstKeyPermissions } from "@signalbox/api/contract/Authorization"
import { WorkspaceCreated } from "@signalbox/api/contract/Workspaces"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { assertError, bodyAs } from "./support/Http.ts"
import { layer, layerIn, Service, temporaryFolder } from "./support/Service.ts"

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("workspaces", (it) => {
  it.effect(
    "are created by a key that manages keys, with a first key, and are closed to the key that created them",
    () =>
      Effect.gen(function* () {
        const { key: own, makeKey, raw, rows } = yield* Service
        const key = yield* makeKey(["Workspace.manage_api_keys"])
        const answer = yield* raw("POST", "/api/v1/workspaces", { key, json: { name: "staging" } })
        const made = bodyAs(WorkspaceCreated, answer)
        assert.strictEqual(made.name, "staging")
        assert.deepStrictEqual(made.organization, (yield* Workspaces.get).organization)
        assert.deepStrictEqual(made.api_key.permissions, firstKeyPermissions)
        assert.notInclude(made.api_key.permissions, "Vault.read_secret_values")
        const first = Redacted.value(made.api_key.key)
        assert.notInclude(JSON.stringify(yield* rows), first.slice(-43))

        const processes = `/api/v1/workspaces/${made.id}/processes`
        assert.strictEqual(
          (yield* raw("GET", processes, { key: first })).text,
          '{"data":[],"has_more":false,"next":null}'
        )
        for (const other of [key, own])
          assertError(yield* raw("GET", processes, { key: other }), 403, "FORBIDDEN", /workspace/)
        assertError(yield* raw("GET", "processes", { key: first }), 403, "FORBIDDEN", /workspace/)
      })
  )

  it.effect("are created once under one idempotency key", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const make = raw("POST", "/api/v1/workspaces", { json: { name: "once" }, headers: { "idempotency-key": "w1" } })
      const [first, second] = [yield* make, yield* make]
      assert.strictEqual(second.text, first.text)
      assert.strictEqual(second.headers["idempotent-replayed"], "true")
    })
  )

  it.effect("need a name, and nothing is created without one", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const before = yield* rows
      for (const json of [{}, { name: "" }, { name: "x".repeat(256) }]) {
        assertError(yield* raw("POST", "/api/v1/workspaces", { json }), 400, "INVALID_REQUEST", /name/)
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )
})

describe("a control room that does not allow further workspaces", () => {
  it.live("refuses all keys, and creates nothing", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const before = yield* rows
        const answer = yield* raw("POST", "/api/v1/workspaces", { json: { name: "n" } })
        assertError(answer, 403, "FORBIDDEN", /does not allow new workspaces; ask its operator/)
        assert.deepStrictEqual(yield* rows, before)
      }).pipe(Effect.provide(layerIn(folder, { rateLimit: null, createWorkspaces: false })))
    })
  )
})
