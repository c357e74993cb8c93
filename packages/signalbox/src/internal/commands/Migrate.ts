/**
 * `signalbox migrate`: the database at the newest schema. `up` does the same by itself; this is for those who want to do it
 * apart.
 */
import * as Migrations from "@signalbox/control-room/store/Migrations"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Settings from "../Settings.ts"
import { layerSql } from "../Storage.ts"

const label = (id: number, name: string) => `${String(id).padStart(4, "0")}_${name}`

const migrated = Effect.gen(function* () {
  const applied = yield* Migrations.migrate
  const sql = yield* SqlClient.SqlClient
  const [newest] = yield* sql<{ readonly migration_id: number; readonly name: string }>`
    SELECT migration_id, name FROM migration ORDER BY migration_id DESC LIMIT 1`
  return {
    applied: applied.map(([id, name]) => label(id, name)),
    schema: newest === undefined ? null : label(newest.migration_id, newest.name)
  }
})

export const migrate = Command.make(
  "migrate",
  {
    ...Settings.storageFlags,
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ json, ...given }) {
    const settings = yield* Settings.read(given)
    const result = yield* Effect.provide(migrated, layerSql(settings))
    if (json) return yield* Console.log(JSON.stringify(result))
    for (const name of result.applied) yield* Console.log(`applied ${name}`)
    const done = result.applied.length === 0 ? "; nothing to do" : ""
    yield* Console.log(`the schema is at ${result.schema}${done}`)
  })
).pipe(
  Command.withDescription("Brings the database to the newest schema; `up` does so by itself. Stop the service first"),
  Command.withExamples([
    { command: "signalbox migrate --data .signalbox", description: "Says what it applied" },
    { command: "SIGNALBOX_DATABASE_URL=postgres://... signalbox migrate", description: "Before the nodes are updated" }
  ])
)
