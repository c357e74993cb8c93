/**
 * What rooms of released versions have stored, as files beside the tests: the rows of every table, the bytes, and the master key.
 * `CAPTURE_RELEASE=1.2.3 npx vitest run --project sqlite packages/control-room/test/Upgrades.test.ts` writes one.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { make } from "@signalbox/sql/Migrations"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import * as Opening from "../../src/internal/storage/Opening.ts"
import { latest, migrations } from "../../src/internal/store/database/Migrations.ts"
import { storageIn } from "./Service.ts"

const Row = Schema.Record(Schema.String, Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])))

const Release = Schema.Struct({
  /** When it was written: a time in it is as long ago, or ahead, when it is restored. */
  at: Schema.String,
  /** The newest migration of that version. */
  migration: Schema.String,
  /** A key with every permission, and its workspace. */
  key: Schema.String,
  workspaceId: Schema.String,
  /** The ids of what the seed has created, by their names in paths. */
  ids: Schema.Record(Schema.String, Schema.String),
  /** The status of each request that reads, by its path. */
  statuses: Schema.Record(Schema.String, Schema.Finite),
  tables: Schema.Record(Schema.String, Schema.Array(Row)),
  /** The files of the data folder but for its database, in base64. */
  files: Schema.Record(Schema.String, Schema.String)
})
export type Release = typeof Release.Type

const folder = join(import.meta.dirname, "..", "releases")
const suffix = ".json.gz"
const codec = Schema.fromJsonString(Release)

/** The versions that have a file. */
export const versions = readdirSync(folder).map((name) => basename(name, suffix))

export const read = (version: string): Release =>
  Schema.decodeSync(codec)(gunzipSync(readFileSync(join(folder, version + suffix))).toString())

const filesIn = (data: string) =>
  readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(data.length + 1))
    .filter((path) => !path.startsWith(Opening.databaseName))

/** Writes what the room of a folder, on SQLite, has stored. */
export const capture = Effect.fnUntraced(function* (
  version: string,
  data: string,
  known: Pick<Release, "ids" | "key" | "statuses" | "workspaceId">
) {
  const sql = yield* SqlClient.SqlClient
  const names = yield* sql<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
  const tables: Record<string, Release["tables"][string]> = {}
  for (const { name } of names) {
    if (name === "migration") continue
    tables[name] = yield* Schema.decodeUnknownEffect(Schema.Array(Row))(yield* sql`SELECT * FROM ${sql(name)}`)
  }
  const files = Object.fromEntries(filesIn(data).map((path) => [path, readFileSync(join(data, path), "base64")]))
  const at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const text = yield* Schema.encodeEffect(codec)({ ...known, at, migration: latest, tables, files })
  writeFileSync(join(folder, version + suffix), gzipSync(text, { level: 9 }))
})

const time = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g

/** The same rows, with all times later by this many milliseconds. */
const shifted = (tables: Release["tables"], millis: number): Release["tables"] =>
  Schema.decodeSync(Schema.fromJsonString(Release.fields.tables))(
    JSON.stringify(tables).replace(time, (text) => new Date(Date.parse(text) + millis).toISOString())
  )

/** The database of a folder without migration. */
export const layerDatabase = (data: string) => Layer.provide(Opening.layerClient(storageIn(data)), NodeServices.layer)

/** Makes a folder, with its database, what it was for that version. */
export const restore = Effect.fnUntraced(function* (data: string, { at, files, migration, tables }: Release) {
  const rowsNow = shifted(tables, (yield* Clock.currentTimeMillis) - Date.parse(at))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(data, dirname(path)), { recursive: true })
    writeFileSync(join(data, path), content, "base64")
  }
  const older = Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= migration))
  const fill = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* make({ table: "migration", migrations: older })
    // Rows refer to each other in any order.
    yield* sql.onDialectOrElse({
      pg: () => sql`SET LOCAL session_replication_role = replica`,
      orElse: () => sql`PRAGMA defer_foreign_keys = ON`
    })
    for (const [table, rows] of Object.entries(rowsNow)) {
      yield* sql`DELETE FROM ${sql(table)}`
      for (const row of rows) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`
    }
  })
  yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(fill)).pipe(
    Effect.provide(layerDatabase(data))
  )
})
