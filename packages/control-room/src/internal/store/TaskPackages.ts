/**
 * Task packages. The zip of a package is a file whose owner is the package.
 */
import { TaskPackageId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { TaskPackageSummary, TaskPackageType } from "@signalbox/api/contract/TaskPackages"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refused } from "../Refused.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { Files, type StoredFile } from "./Files.ts"

interface Row {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly type: TaskPackageType
  readonly tasks: string
  readonly digest: string | null
}

/** The zip that a package has now. */
export interface PackageContent {
  readonly file: StoredFile
  /** `sha256:` and the hex digest of the zip. */
  readonly digest: string
}

/** A zip that was read completely, and its committed blob. */
export interface NewContent {
  readonly tasks: ReadonlyArray<string>
  readonly digest: string
  readonly size: number
  readonly blob: string
}

export interface StoredPackage {
  readonly id: TaskPackageId
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly type: TaskPackageType
  /** The names of its tasks; empty while it has no content. */
  readonly tasks: ReadonlyArray<string>
  readonly content: PackageContent | null
}

/** The message of the refusal of an upload to a package with a repository. */
export const notUploaded = (name: string) =>
  `the task package "${name}" takes its content from a git repository; change it there, or upload to another package`

export class TaskPackages extends Context.Service<
  TaskPackages,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredPackage | null>
    /** Returns whether it exists; until the transaction ends, no other transaction deletes it. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<TaskPackageSummary>>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, name: string) => Effect.Effect<StoredPackage | null>
    /**
     * Stores the zip of a package, from a repository or (`zip`) from an upload, which is refused for a package with a
     * repository; returns the blob of the old one, if any.
     */
    readonly put: (
      workspace: WorkspaceId,
      id: string,
      type: TaskPackageType,
      content: NewContent
    ) => Effect.Effect<string | null, Refused>
    /** Deletes a package that no step and no assistant names, and returns the blobs that no row names any more. */
    readonly remove: (taskPackage: StoredPackage) => Effect.Effect<ReadonlyArray<string>, Refused>
    /** The package with its content, if it has the task; a missing part is a conflict that names it. */
    readonly forTask: (
      workspace: WorkspaceId,
      id: string,
      task: string
    ) => Effect.Effect<{ readonly taskPackage: StoredPackage; readonly content: PackageContent }, Refused>
  }
>()("@signalbox/control-room/store/TaskPackages") {
  static readonly layer = Layer.effect(
    TaskPackages,
    Effect.gen(function* () {
      const { newId, now, nullWhenTaken, page, sql, transaction } = yield* Database
      const files = yield* Files
      const forDelete = Dialect.forDelete(sql)
      const forUpdate = Dialect.forUpdate(sql)
      const forKey = Dialect.forKey(sql)
      const get = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        id: string
      ): Effect.fn.Return<StoredPackage | null> {
        const [row] = yield* Effect.orDie(
          sql<Row>`SELECT * FROM task_package WHERE workspace_id = ${workspace} AND id = ${id}`
        )
        if (row === undefined) return null
        const [file] = yield* files.ofOwners([row.id])
        return {
          id: TaskPackageId.make(row.id),
          workspaceId: workspace,
          name: row.name,
          type: row.type,
          tasks: JSON.parse(row.tasks),
          content: file === undefined || row.digest === null ? null : { file, digest: row.digest }
        }
      })
      /** Whether a step of a process, or of a run that is not completed, names the package. */
      const userOf = Effect.fnUntraced(function* (id: string) {
        const [used] = yield* sql<{ readonly what: string }>`
          SELECT 'the process ' || name AS what FROM process WHERE deleted_at IS NULL AND id IN (
            SELECT process_id FROM process_step WHERE package_id = ${id} AND process_run_id IS NULL)
          UNION ALL SELECT 'the assistant ' || name FROM assistant WHERE package_id = ${id}
          UNION ALL SELECT 'the process run ' || id FROM process_run
            WHERE state <> 'completed' AND deleted_at IS NULL
              AND id IN (SELECT process_run_id FROM process_step WHERE package_id = ${id})
          LIMIT 1`
        return used?.what ?? null
      }, Effect.orDie)
      return TaskPackages.of({
        get,
        lock: (workspace, id) =>
          Effect.orDie(
            Effect.map(
              sql`SELECT id FROM task_package WHERE workspace_id = ${workspace} AND id = ${id} ${forKey}`,
              (rows) => rows.length === 1
            )
          ),
        list: (workspace, request) =>
          page<TaskPackageSummary>(
            sql`SELECT id, name, type FROM task_package`,
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (workspace, name) {
          const id = yield* newId
          yield* sql`INSERT INTO task_package ${sql.insert({
            id,
            workspace_id: workspace,
            name,
            type: "zip",
            tasks: "[]",
            created_at: yield* now
          })}`
          return {
            id: TaskPackageId.make(id),
            workspaceId: workspace,
            name,
            type: "zip",
            tasks: [],
            content: null
          } satisfies StoredPackage
        }, nullWhenTaken),
        put: Effect.fnUntraced(function* (workspace, id, type, { blob, digest, size, tasks }) {
          const [known] = yield* Effect.orDie(
            sql<Row>`SELECT * FROM task_package WHERE id = ${id} AND workspace_id = ${workspace} ${forUpdate}`
          )
          if (known === undefined) {
            return yield* new Refused({ code: "NOT_FOUND", message: `the task package ${id} no longer exists` })
          }
          if (type === "zip" && known.type !== "zip") {
            return yield* new Refused({ code: "CONFLICT", message: notUploaded(known.name) })
          }
          yield* Effect.orDie(
            sql`UPDATE task_package SET ${sql.update({ type, digest, tasks: JSON.stringify(tasks) })} WHERE id = ${id}`
          )
          return yield* files.putNew(workspace, { ownerId: id, name: "package.zip", size, blob })
        }, transaction),
        remove: Effect.fnUntraced(function* (taskPackage) {
          yield* Effect.orDie(sql`SELECT id FROM task_package WHERE id = ${taskPackage.id} ${forDelete}`)
          const user = yield* userOf(taskPackage.id)
          if (user !== null) {
            return yield* new Refused({
              code: "CONFLICT",
              message: `${user} uses the task package "${taskPackage.name}"; change or delete that first`
            })
          }
          yield* Effect.orDie(sql`DELETE FROM task_package WHERE id = ${taskPackage.id}`)
          return yield* files.removeOwners([taskPackage.id])
        }, transaction),
        forTask: Effect.fnUntraced(function* (workspace, id, task) {
          const taskPackage = yield* get(workspace, id)
          const content = taskPackage?.content
          if (taskPackage === null || content === null || content === undefined) {
            return yield* new Refused({
              code: "CONFLICT",
              message: `the task package "${taskPackage?.name ?? id}" has no content; first upload its zip, or configure a git repository`
            })
          }
          if (!taskPackage.tasks.includes(task)) {
            return yield* new Refused({
              code: "CONFLICT",
              message: `the task package "${taskPackage.name}" has no task "${task}"; it has ${taskPackage.tasks
                .slice(0, 10)
                .map((name) => `"${name}"`)
                .join(", ")}`
            })
          }
          return { taskPackage, content }
        })
      })
    })
  )
}
