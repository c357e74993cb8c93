/** The queries of a check of the whole database. Read-only. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { Database } from "./Database.ts"
import * as MasterKeyRecord from "./MasterKeyRecord.ts"

/** A file according to its row. */
export interface NamedBlob {
  readonly id: string
  readonly workspace: string
  /** The work item, output, asset, task package or step run that owns it. */
  readonly owner: string
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly blob: string
}

/** How many problems one check reports at most. */
const maxProblems = 20

export class Integrity extends Context.Service<
  Integrity,
  {
    /** Whether the tables of the service exist. */
    readonly hasTables: Effect.Effect<boolean, SqlError>
    /** What SQLite finds wrong with its pages, indexes and references; empty on Postgres, which checks pages itself. */
    readonly problems: Effect.Effect<ReadonlyArray<string>, SqlError>
    /** The fingerprint of the master key that the database belongs to; null before the first start. */
    readonly fingerprint: Effect.Effect<string | null, SqlError>
    /** Files in the order of their ids, after this one. */
    readonly blobs: (after: string, limit: number) => Effect.Effect<ReadonlyArray<NamedBlob>, SqlError>
  }
>()("@signalbox/control-room/store/Integrity") {
  static readonly layer = Layer.effect(
    Integrity,
    Effect.gen(function* () {
      const database = yield* Database
      const { sql } = database
      const problems = Effect.gen(function* () {
        const checked = yield* sql.unsafe<{ readonly integrity_check: string }>(
          `PRAGMA integrity_check(${maxProblems})`
        )
        const found = checked.map((row) => row.integrity_check).filter((text) => text !== "ok")
        // References cannot be followed in damaged pages.
        if (found.length > 0) return found
        const dangling = yield* sql<{ readonly table: string; readonly parent: string; readonly n: number }>`
          SELECT "table", "parent", count(*) AS n FROM pragma_foreign_key_check GROUP BY "table", "parent"`
        return dangling.map(
          ({ n, parent, table }) => `${n} rows of ${table} refer to rows of ${parent} that do not exist`
        )
      })
      return Integrity.of({
        hasTables: sql
          .onDialectOrElse({
            pg: () => sql`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'master_key'`,
            orElse: () => sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'master_key'`
          })
          .pipe(Effect.map((rows) => rows.length > 0)),
        problems: sql.onDialectOrElse({ pg: () => Effect.succeed([]), orElse: () => problems }),
        fingerprint: Effect.provideService(MasterKeyRecord.known, Database, database),
        blobs: (after, limit) => sql<NamedBlob>`
          SELECT id, workspace_id AS workspace, owner_id AS owner, name, size, blob FROM file
          WHERE id > ${after} ORDER BY id LIMIT ${limit}`
      })
    })
  )
}
