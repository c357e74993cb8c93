/**
 * Which versions of task packages are used: by the step runs that workers have, by runs of assistants, and by steps that
 * name them. Versions that are old and not used are deleted.
 */
import { StepRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Run, StepRun } from "../../engine/State.ts"
import { Database } from "../database/Database.ts"
import { Files } from "../files/Files.ts"

/** How many of the newest versions of a package are retained, used or not. */
export const keptVersions = 20

/** A version that a step run is given. */
export interface GivenVersion {
  readonly version: number
  readonly digest: string
}

export class PackageUses extends Context.Service<
  PackageUses,
  {
    /**
     * The versions that step runs get: of these packages the current one, and those that steps name. Until the transaction
     * ends, no other transaction deletes one.
     */
    readonly given: (
      workspace: WorkspaceId,
      wanted: ReadonlyArray<{ readonly id: string; readonly pin: number | null }>
    ) => Effect.Effect<(id: string, pin: number | null) => GivenVersion | null>
    /** Those of these step runs of a run whose version was rolled back, and whose step does not name it. */
    readonly rolledBack: (
      run: Run,
      stepRuns: ReadonlyArray<Pick<StepRun, "id" | "step">>
    ) => Effect.Effect<ReadonlySet<StepRunId>>
    /** The packages that may have more versions than are retained. */
    readonly crowded: Effect.Effect<ReadonlyArray<{ readonly workspace: WorkspaceId; readonly id: string }>>
    /** Deletes the versions of a package that are not retained, and returns the blobs that no row names any more. */
    readonly removeOld: (workspace: WorkspaceId, id: string) => Effect.Effect<ReadonlyArray<string>>
  }
>()("@signalbox/control-room/store/PackageUses") {
  static readonly layer = Layer.effect(
    PackageUses,
    Effect.gen(function* () {
      const { sql, transaction } = yield* Database
      const files = yield* Files
      const forDelete = Dialect.forDelete(sql)
      const forKey = Dialect.forKey(sql)
      const ofPackage = (workspace: WorkspaceId, id: string) => sql`workspace_id = ${workspace} AND package_id = ${id}`
      return PackageUses.of({
        given: Effect.fnUntraced(function* (workspace, wanted) {
          if (wanted.length === 0) return () => null
          const ids = [...new Set(wanted.map(({ id }) => id))]
          const pins = [...new Set(wanted.flatMap(({ pin }) => pin ?? []))]
          const named = pins.length === 0 ? [] : [sql.in("found.version", pins)]
          const rows = yield* query(
            Row({ id: text, current_version: nullable(integer), version: integer, digest: text }),
            sql`
              SELECT task_package.id, task_package.current_version, found.version, found.digest
              FROM task_package JOIN task_package_version AS found
                ON found.workspace_id = task_package.workspace_id AND found.package_id = task_package.id
              WHERE task_package.workspace_id = ${workspace} AND ${sql.in("task_package.id", ids)}
                AND ${sql.or([sql`found.version = task_package.current_version`, ...named])}
              ${forKey}`
          )
          return (id: string, pin: number | null) => {
            const row = rows.find((one) => one.id === id && one.version === (pin ?? one.current_version))
            return row === undefined ? null : { version: row.version, digest: row.digest }
          }
        }),
        rolledBack: Effect.fnUntraced(function* (run, stepRuns) {
          const following = stepRuns.filter(({ step: index }) => {
            const step = run.steps[index]
            return step?.task.package_id !== undefined && (step.task_package_version ?? null) === null
          })
          if (following.length === 0) return new Set<StepRunId>()
          const ids = following.map(({ id }) => id)
          const rows = yield* query(
            Row({ id: id(StepRunId) }),
            sql`
              SELECT step_run.id FROM step_run JOIN task_package_version AS held
                ON held.workspace_id = step_run.workspace_id AND held.package_id = step_run.package_id
                  AND held.version = step_run.package_version
              WHERE ${sql.in("step_run.id", ids)} AND held.rolled_back = 1`
          )
          return new Set(rows.map((row) => row.id))
        }),
        crowded: query(
          Row({ workspace: id(WorkspaceId), id: text }),
          sql`
            SELECT workspace_id AS workspace, package_id AS id FROM task_package_version
            GROUP BY workspace_id, package_id HAVING count(*) > ${keptVersions}`
        ),
        removeOld: Effect.fnUntraced(function* (workspace, id) {
          // Who makes use of a version locks its package too, so whatever does is seen by the next statement.
          const known = yield* queryOne(
            Row({ current_version: nullable(integer) }),
            sql`SELECT current_version FROM task_package WHERE workspace_id = ${workspace} AND id = ${id} ${forDelete}`
          )
          if (known === null) return []
          const same = sql.literal("package_version = task_package_version.version")
          const removed = yield* query(
            Row({ id: text }),
            sql`
              DELETE FROM task_package_version
              WHERE ${ofPackage(workspace, id)} AND version <> ${known.current_version}
                AND version <= (SELECT version FROM task_package_version WHERE ${ofPackage(workspace, id)}
                  ORDER BY version DESC LIMIT 1 OFFSET ${keptVersions})
                AND NOT EXISTS (
                  SELECT 1 FROM process_step LEFT JOIN process_run ON process_run.id = process_step.process_run_id
                  WHERE process_step.package_id = ${id} AND ${same}
                    AND (process_step.process_run_id IS NULL OR process_run.state <> 'completed'))
                AND NOT EXISTS (
                  SELECT 1 FROM step_run
                  WHERE step_run.workspace_id = ${workspace} AND step_run.package_id = ${id} AND ${same}
                    AND state IN ('awaiting_worker', 'in_progress') AND package_version IS NOT NULL)
                AND NOT EXISTS (
                  SELECT 1 FROM assistant_run JOIN assistant ON assistant.id = assistant_run.assistant_id
                  WHERE assistant.package_id = ${id} AND ${same} AND assistant_run.state = 'in_progress')
              RETURNING id`
          )
          return yield* files.removeOwners(removed.map((row) => row.id))
        }, transaction)
      })
    })
  ).pipe(Layer.provide(Files.layer))
}
