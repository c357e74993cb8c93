/** Task packages. `PackageVersions` has their content. */
import { TaskPackageId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { CurrentVersion } from "@signalbox/api/contract/TaskPackageVersions"
import type { TaskPackageSummary, TaskPackageType } from "@signalbox/api/contract/TaskPackages"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refused } from "../../engine/Refused.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { integer, nullable, queryOne, Row, text } from "@signalbox/sql/Table"
import { Files } from "../files/Files.ts"
import { type PackageContent, packageTable, PackageVersions } from "./PackageVersions.ts"

const packageRow = packageTable.pick("id", "name", "type", "current_version", "current_since", "current_by")

export interface StoredPackage {
  readonly id: TaskPackageId
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly type: TaskPackageType
  /** The names of its tasks; empty while it has no content. */
  readonly tasks: ReadonlyArray<string>
  /** Of the current version. */
  readonly content: PackageContent | null
  readonly current: CurrentVersion | null
}

export class TaskPackages extends Context.Service<
  TaskPackages,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredPackage | null>
    /** Returns whether it exists; until the transaction ends, no other transaction deletes it. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<TaskPackageSummary>>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, name: string) => Effect.Effect<StoredPackage | null>
    /** Deletes a package that no step and no assistant names, and returns the blobs that no row names any more. */
    readonly remove: (taskPackage: StoredPackage) => Effect.Effect<ReadonlyArray<string>, Refused>
    /**
     * The content of a package, in the current version or in this one, if it has the task; a missing part is a conflict
     * that names it.
     */
    readonly forTask: (
      workspace: WorkspaceId,
      id: string,
      task: string,
      version: number | null
    ) => Effect.Effect<PackageContent, Refused>
  }
>()("@signalbox/control-room/store/TaskPackages") {
  static readonly layer = Layer.effect(
    TaskPackages,
    Effect.gen(function* () {
      const { newId, now, nullWhenTaken, page, sql, transaction } = yield* Database
      const files = yield* Files
      const versions = yield* PackageVersions
      const forDelete = Dialect.forDelete(sql)
      const forKey = Dialect.forKey(sql)
      const get = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        id: string
      ): Effect.fn.Return<StoredPackage | null> {
        const row = yield* queryOne(
          packageRow.and({ newest: nullable(integer) }),
          sql`
            SELECT ${packageRow.columns}, (SELECT max(version) FROM task_package_version AS known
              WHERE known.workspace_id = task_package.workspace_id AND known.package_id = task_package.id) AS newest
            FROM task_package WHERE workspace_id = ${workspace} AND id = ${id}`
        )
        if (row === null) return null
        const { current_by: by, current_since: since, current_version: version, newest } = row
        const content = version === null ? null : ((yield* versions.get(workspace, id, version))?.content ?? null)
        return {
          id: row.id,
          workspaceId: workspace,
          name: row.name,
          type: row.type,
          tasks: content?.tasks ?? [],
          content,
          current:
            content === null || since === null
              ? null
              : {
                  version: content.version,
                  newest: newest ?? content.version,
                  digest: content.digest,
                  since,
                  by
                }
        }
      })
      /** Whether a step of a process, or of a run that is not completed, names the package. */
      const userOf = Effect.fnUntraced(function* (id: string) {
        const used = yield* queryOne(
          Row({ what: text }),
          sql`
            SELECT 'the process ' || name AS what FROM process WHERE deleted_at IS NULL AND id IN (
              SELECT process_id FROM process_step WHERE package_id = ${id} AND process_run_id IS NULL)
            UNION ALL SELECT 'the assistant ' || name FROM assistant WHERE package_id = ${id}
            UNION ALL SELECT 'the process run ' || id FROM process_run
              WHERE state <> 'completed' AND deleted_at IS NULL
                AND id IN (SELECT process_run_id FROM process_step WHERE package_id = ${id})
            LIMIT 1`
        )
        return used?.what ?? null
      })
      return TaskPackages.of({
        get,
        lock: (workspace, id) =>
          Effect.map(
            sql`SELECT id FROM task_package WHERE workspace_id = ${workspace} AND id = ${id} ${forKey}`,
            (rows) => rows.length === 1
          ),
        list: (workspace, request) =>
          page(
            { rows: packageTable.pick("id", "name", "type"), select: sql`SELECT id, name, type FROM task_package` },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (workspace, name) {
          const id = TaskPackageId.make(yield* newId)
          yield* sql`INSERT INTO task_package ${packageTable.insert({
            id,
            workspace_id: workspace,
            name,
            type: "zip",
            created_at: yield* now
          })}`
          return {
            id,
            workspaceId: workspace,
            name,
            type: "zip",
            tasks: [],
            content: null,
            current: null
          } satisfies StoredPackage
        }, nullWhenTaken),
        remove: Effect.fnUntraced(function* (taskPackage) {
          yield* sql`SELECT id FROM task_package WHERE id = ${taskPackage.id} ${forDelete}`
          const user = yield* userOf(taskPackage.id)
          if (user !== null) {
            return yield* new Refused({
              code: "CONFLICT",
              message: `${user} uses the task package "${taskPackage.name}"; change or delete it first`
            })
          }
          const owners = yield* versions.owners(taskPackage.workspaceId, taskPackage.id)
          yield* sql`DELETE FROM task_package WHERE id = ${taskPackage.id}`
          return yield* files.removeOwners(owners)
        }, transaction),
        forTask: Effect.fnUntraced(function* (workspace, id, task, version) {
          const taskPackage = yield* get(workspace, id)
          const conflict = (message: string) => new Refused({ code: "CONFLICT", message })
          const name = taskPackage?.name ?? id
          const pinned = version === null ? null : yield* versions.get(workspace, id, version)
          if (version !== null && pinned === null) {
            return yield* conflict(
              `the task package "${name}" has no version ${version}; choose another version in the step`
            )
          }
          const content = pinned?.content ?? taskPackage?.content ?? null
          if (content === null) {
            return yield* conflict(
              `the task package "${name}" has no content; first upload its zip, or configure a git repository`
            )
          }
          if (!content.tasks.includes(task)) {
            const which = version === null ? "" : ` in version ${version}`
            const some = content.tasks.slice(0, 10).map((one) => `"${one}"`)
            return yield* conflict(
              `the task package "${name}" has no task "${task}"${which}; it has ${some.join(", ")}`
            )
          }
          return content
        })
      })
    })
  )
}
