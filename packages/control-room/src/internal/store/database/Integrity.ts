/** The queries of a check of the whole database. Read-only. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { integer, nullable, query, Row, text, word } from "@signalbox/sql/Table"
import { Database } from "./Database.ts"
import * as MasterKeyRecord from "./MasterKeyRecord.ts"

/** A file according to its row. */
export const namedBlob = Row({
  id: text,
  workspace: text,
  /** The work item, output, asset, version of a task package or step run that owns it. */
  owner: text,
  name: text,
  /** In bytes. */
  size: integer,
  blob: text,
  /** `sha256:` and the hex digest, where it is known: of task packages. */
  digest: nullable(text)
})
export type NamedBlob = typeof namedBlob.Type

/** Runs that were recounted. */
export interface Recount {
  readonly last: string | null
  readonly runs: number
  /** Those whose counters differ from their rows. */
  readonly wrong: ReadonlyArray<string>
}

const countRow = Row({
  kind: word<"run" | "items" | "step runs">(),
  id: text,
  counts: nullable(text),
  step: integer,
  a: integer,
  b: integer,
  c: integer
})
type CountRow = typeof countRow.Type

const StepCounts = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ waiting: Schema.Finite, open: Schema.Finite, live: Schema.Finite, held: Schema.Finite }))
)
const decodeCounts = Schema.decodeUnknownOption(StepCounts)

/** The runs among these rows whose stored counters are not those of their items and step runs. */
const wrongOf = (rows: ReadonlyArray<CountRow>): ReadonlyArray<string> => {
  const ofStep = new Map(
    rows.filter(({ kind }) => kind !== "run").map((row) => [`${row.kind} ${row.id} ${row.step}`, row])
  )
  const failedOf = Map.groupBy(
    rows.filter(({ kind }) => kind === "items"),
    ({ id }) => id
  )
  return rows
    .filter(({ counts, id, kind, a: failed }) => {
      if (kind !== "run") return false
      const steps = Option.getOrNull(decodeCounts(counts))
      const counted = (failedOf.get(id) ?? []).reduce((sum, { c }) => sum + c, 0)
      if (steps === null || counted !== failed) return true
      return steps.some(({ held, live, open, waiting }, step) => {
        const items = ofStep.get(`items ${id} ${step}`)
        const stepRuns = ofStep.get(`step runs ${id} ${step}`)
        return (
          waiting !== (items?.a ?? 0) ||
          open !== (items?.b ?? 0) ||
          live !== (stepRuns?.a ?? 0) ||
          held !== (stepRuns?.b ?? 0)
        )
      })
    })
    .map(({ id }) => id)
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
    /**
     * Compares the counters of runs, and what limits count of them, in the order of their ids after this one, with a recount of their rows. `last`: null when
     * there are no more.
     */
    readonly counters: (after: string, limit: number) => Effect.Effect<Recount, SqlError>
    /** Files in the order of their ids, after this one. */
    readonly blobs: (after: string, limit: number) => Effect.Effect<ReadonlyArray<NamedBlob>, SqlError>
  }
>()("@signalbox/control-room/store/Integrity") {
  static readonly layer = Layer.effect(
    Integrity,
    Effect.gen(function* () {
      const database = yield* Database
      const { client: sql } = database
      const problems = Effect.gen(function* () {
        const checked = yield* query(
          Row({ integrity_check: text }),
          sql.unsafe(`PRAGMA integrity_check(${maxProblems})`),
          (row) => row.integrity_check
        )
        const found = checked.filter((problem) => problem !== "ok")
        // References cannot be followed in damaged pages.
        if (found.length > 0) return found
        const dangling = yield* query(
          Row({ table: text, parent: text, n: integer }),
          sql`SELECT "table", "parent", count(*) AS n FROM pragma_foreign_key_check GROUP BY "table", "parent"`
        )
        return dangling.map(
          ({ n, parent, table }) => `${n} rows of ${table} refer to rows of ${parent} that do not exist`
        )
      })
      /** Runs with items that are counted by a limit and are in no hand, or the reverse, or that wait in no lane. */
      const limitsWrong = (runs: ReadonlyArray<string>) =>
        query(
          Row({ id: text }),
          sql`
            SELECT process_run_id AS id FROM limit_claim
            WHERE ${sql.in("process_run_id", runs)} AND NOT EXISTS (
              SELECT 1 FROM work_item JOIN step_run ON step_run.id = work_item.step_run_id
              WHERE work_item.id = limit_claim.item_id AND work_item.state IN ('pending', 'in_progress')
                AND (step_run.worker_id IS NULL) = (limit_claim.given_at IS NULL))
            UNION
            SELECT process_run_id FROM work_item
            WHERE ${sql.in("process_run_id", runs)} AND state = 'pending' AND step_run_id IS NULL AND not_before IS NULL
              AND lane IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM limit_lane WHERE limit_lane.process_run_id = work_item.process_run_id
                  AND limit_lane.step = work_item.step AND limit_lane.lane = work_item.lane)`,
          (row) => row.id
        )

      return Integrity.of({
        hasTables: sql
          .onDialectOrElse({
            pg: () => sql`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'master_key'`,
            orElse: () => sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'master_key'`
          })
          .pipe(Effect.map((rows) => rows.length > 0)),
        problems: sql.onDialectOrElse({ pg: () => Effect.succeed([]), orElse: () => problems }),
        fingerprint: Effect.provideService(MasterKeyRecord.known, Database, database),
        counters: Effect.fnUntraced(function* (after, limit) {
          const ids = yield* query(
            Row({ id: text }),
            sql`SELECT id FROM process_run WHERE id > ${after} AND deleted_at IS NULL ORDER BY id LIMIT ${limit}`,
            (row) => row.id
          )
          const last = ids.at(-1)
          if (last === undefined) return { last: null, runs: 0, wrong: [] }
          const count = (condition: string) => sql.literal(`sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`)
          // One statement, so that all of it is of one moment while the service writes.
          const rows = yield* query(
            countRow,
            sql`
              SELECT 'run' AS kind, id, counts, 0 AS step, failed AS a, 0 AS b, 0 AS c FROM process_run
                WHERE ${sql.in("id", ids)} AND deleted_at IS NULL
              UNION ALL SELECT 'items', process_run_id, NULL, step,
                  CAST(${count("state = 'pending' AND step_run_id IS NULL")} AS BIGINT),
                  CAST(${count("state IN ('pending', 'in_progress')")} AS BIGINT),
                  CAST(${count("state = 'failed'")} AS BIGINT)
                FROM work_item WHERE ${sql.in("process_run_id", ids)} GROUP BY process_run_id, step
              UNION ALL SELECT 'step runs', process_run_id, NULL, step,
                  CAST(${count("state IN ('new', 'awaiting_worker', 'in_progress')")} AS BIGINT),
                  CAST(${count("state = 'new'")} AS BIGINT), 0
                FROM step_run WHERE ${sql.in("process_run_id", ids)} GROUP BY process_run_id, step`
          )
          return { last, runs: ids.length, wrong: [...new Set([...wrongOf(rows), ...(yield* limitsWrong(ids))])] }
        }),
        blobs: (after, limit) =>
          query(
            namedBlob,
            sql`
              SELECT file.id, file.workspace_id AS workspace, owner_id AS owner, file.name, file.size, blob, digest
              FROM file LEFT JOIN task_package_version ON task_package_version.id = owner_id
              WHERE file.id > ${after} ORDER BY file.id LIMIT ${limit}`
          )
      })
    })
  )
}
