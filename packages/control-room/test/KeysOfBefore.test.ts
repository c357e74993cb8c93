/** Keys that were made before there were permissions of operations. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { ApiKeys } from "../src/internal/store/ApiKeys.ts"
import { statements } from "../src/internal/store/migrations/Operations.ts"
import { Workspaces } from "../src/internal/store/Workspaces.ts"
import { database } from "./support/Storage.ts"

const first = Permission.literals.indexOf("Schedules.read_schedules")
const before = Permission.literals.slice(0, first)
const ofOperations = Permission.literals.slice(first, Permission.literals.indexOf("Alerts.write_alerts") + 1)

withLayer(database, { excludeTestServices: true, timeout: "4 minutes" })("the migration of permissions", (it) => {
  it.effect("gives those of operations to keys that manage keys, and to no others", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* (yield* Workspaces).firstOr("w")
      yield* keys.create(workspace.id, "manages", ["Workspace.manage_api_keys"])
      yield* keys.create(workspace.id, "first", before)
      yield* keys.create(workspace.id, "none", [])
      yield* keys.create(workspace.id, "other", ["Vault.read_secrets", "Workers.write_workers"])
      for (const statement of statements) yield* sql.unsafe(statement)
      const { rows } = yield* keys.list(workspace.id, { after: null, limit: 10 })
      assert.deepStrictEqual(Object.fromEntries(rows.map(({ name, permissions }) => [name, permissions])), {
        manages: ["Workspace.manage_api_keys", ...ofOperations],
        first: [...before, ...ofOperations],
        none: [],
        other: ["Vault.read_secrets", "Workers.write_workers"]
      })
    })
  )
})
