/**
 * The nodes of a room on Postgres, as rows: each writes every second that it is there, and sees by the way whether a newer version
 * has migrated the database. On SQLite one process has the file, and there is nothing to see but itself.
 */
import type { RoomNode } from "@signalbox/api/contract/Room"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { MigrationError } from "effect/sql/Migrator"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { isPostgres } from "@signalbox/sql/Dialect"
import { flag, integer, nullable, query, queryOne, real, Row, Table, text } from "@signalbox/sql/Table"
import packageJson from "../../../../package.json" with { type: "json" }
import { steady } from "../../background/BackgroundTask.ts"
import { Database } from "../database/Database.ts"
import * as Migrations from "../database/Migrations.ts"
import { channelOf } from "../database/Notifier.ts"

/** How long a node counts that has not said that it ended, in milliseconds: it was killed, or cannot reach the database. */
const alive = 15_000
/** How long a node is listed after it was killed, unless another one of its name takes its place. */
const listed = 24 * 60 * 60 * 1000

const nodeTable = Table("node", { id: text, name: text, version: text, schema_known: text, last_seen_at: text })
const viewRow = nodeTable.pick("id", "name", "version", "last_seen_at")

/** Says that nodes must be stopped first; null where none runs. */
export const runningNodes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!isPostgres(sql)) return null
  const table = yield* queryOne(Row({ there: flag }), sql`SELECT to_regclass('node') IS NOT NULL AS there`)
  if (table?.there !== true) return yield* olderNodes
  const clock = yield* queryOne(
    Row({ millis: real }),
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS millis`
  )
  const since = new Date((clock?.millis ?? 0) - alive).toISOString()
  const nodes = yield* query(
    nodeTable.pick("version"),
    sql`SELECT version FROM node WHERE last_seen_at > ${since} ORDER BY version`
  )
  if (nodes.length === 0) return null
  const versions = [...new Set(nodes.map(({ version }) => version))].join(", ")
  return `nodes use this database (${nodes.length}, of version ${versions}): stop them first; one that was killed counts for 15 seconds`
})

/** The same of versions without these rows: each of their nodes listens for the others, unless it polls. */
const olderNodes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const schema = yield* queryOne(Row({ name: nullable(text) }), sql`SELECT current_schema() AS name`)
  const listening = `LISTEN "${channelOf(schema?.name ?? undefined)}"`
  const nodes = yield* queryOne(
    Row({ n: integer }),
    sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND query = ${listening}`
  )
  const n = nodes?.n ?? 0
  return n === 0 ? null : `nodes of an older version use this database (${n}): stop them first`
})

/** Brings the database to the newest schema. Refuses while nodes run that do not know it: they would write what it does not allow. */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (isPostgres(sql) && (yield* isBehind)) {
    const running = yield* runningNodes
    if (running !== null) {
      const message = `the database must be migrated to ${Migrations.latest}: ${running}`
      return yield* new MigrationError({ kind: "BadState", message })
    }
  }
  return yield* Migrations.migrate
})

const isBehind = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = yield* queryOne(Row({ there: flag }), sql`SELECT to_regclass('migration') IS NOT NULL AS there`)
  if (table?.there !== true) return false
  const newest = yield* Migrations.newest
  return newest !== null && newest[0] < Number.parseInt(Migrations.latest)
})

export const layerMigrated = Layer.effectDiscard(migrate)

export class Nodes extends Context.Service<
  Nodes,
  {
    /** Why this node may do nothing more: the database is of a newer version. Null: it may. */
    readonly outdated: () => string | null
    /**
     * The nodes that run, and those that were killed or cannot reach the database, by name. On SQLite this one.
     */
    readonly list: Effect.Effect<ReadonlyArray<RoomNode>>
    /** Deletes those that gave no sign of life for a day. */
    readonly sweep: Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Nodes") {
  static readonly layer = Layer.effect(
    Nodes,
    Effect.gen(function* () {
      const { client, millis, now, sql } = yield* Database
      let outdated: string | null = null
      const id = randomUUID()
      const row = { name: hostname(), version: packageJson.version, schema_known: Migrations.latest }
      if (!isPostgres(sql)) {
        const { name, version } = row
        const self = Effect.map(now, (at): RoomNode => ({ id, name, version, state: "online", last_seen_at: at }))
        return Nodes.of({ outdated: () => outdated, list: Effect.map(self, (node) => [node]), sweep: Effect.void })
      }
      const before = (age: number) => Effect.map(millis, (time) => new Date(time - age).toISOString())
      const look = Effect.gen(function* () {
        const seen = { id, ...row, last_seen_at: yield* now }
        yield* sql`INSERT INTO node ${nodeTable.insert(seen)}
          ON CONFLICT (id) DO UPDATE SET last_seen_at = excluded.last_seen_at`
        const newest = yield* Migrations.newestOf(sql)
        if (outdated !== null || newest === null || newest[0] <= Number.parseInt(Migrations.latest)) return
        outdated = `the database is of a newer version (its schema is at ${Migrations.label(newest)}, and version ${row.version} knows ${row.schema_known}): this node accepts no more work; replace it with the newer version`
        yield* Effect.logError(outdated)
      })
      yield* look
      yield* Effect.addFinalizer(() => Effect.ignore(client`DELETE FROM node WHERE id = ${id}`))
      yield* look.pipe(
        steady("saying that this node runs"),
        Effect.repeat(Schedule.spaced("1 second")),
        Effect.forkScoped
      )
      const list = Effect.gen(function* () {
        const silentSince = yield* before(alive)
        const nodes = yield* query(
          viewRow,
          sql`SELECT ${viewRow.columns} FROM node ORDER BY name, id`,
          (node): RoomNode => ({ ...node, state: node.last_seen_at > silentSince ? "online" : "offline" })
        )
        // One that was killed and started again is another row of the same machine.
        const running = new Set(nodes.filter(({ state }) => state === "online").map(({ name }) => name))
        return nodes.filter(({ name, state }) => state === "online" || !running.has(name))
      })
      return Nodes.of({
        outdated: () => outdated,
        list,
        sweep: Effect.flatMap(before(listed), (cutoff) =>
          Effect.asVoid(sql`DELETE FROM node WHERE last_seen_at < ${cutoff}`)
        )
      })
    })
  )
}
