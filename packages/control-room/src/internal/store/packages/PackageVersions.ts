/**
 * The versions of task packages, and which of them is current. The zip of a version is a file whose owner is the
 * version.
 */
import { TaskPackageId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { PackageAuthor, TaskPackageVersionListed } from "@signalbox/api/contract/TaskPackageVersions"
import type { TaskPackageType } from "@signalbox/api/contract/TaskPackages"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, integer, json, nullable, query, queryOne, Table, text, word } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refused } from "../../engine/Refused.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { Files, type StoredFile } from "../files/Files.ts"

const versionTable = Table("task_package_version", {
  workspace_id: id(WorkspaceId),
  package_id: id(TaskPackageId),
  version: integer,
  id: text,
  digest: text,
  size: integer,
  tasks: json<ReadonlyArray<string>>(),
  rolled_back: flag,
  created_at: text,
  created_by: nullable(json<PackageAuthor>()),
  note: nullable(text)
})

export const packageTable = Table("task_package", {
  id: id(TaskPackageId),
  workspace_id: id(WorkspaceId),
  name: text,
  type: word<TaskPackageType>(),
  created_at: text,
  current_version: nullable(integer),
  current_since: nullable(text),
  current_by: nullable(json<PackageAuthor>())
})

const shownRow = versionTable.pick("id", "version", "digest", "size", "rolled_back", "created_at", "created_by", "note")
const versionRow = shownRow.and({ current: nullable(integer) })

const current = `(
  SELECT current_version FROM task_package WHERE task_package.id = task_package_version.package_id) AS current`

/** A zip that was read completely, and its committed blob. */
export interface NewContent {
  readonly tasks: ReadonlyArray<string>
  readonly digest: string
  readonly size: number
  readonly blob: string
}

/** Content of a package, and where it comes from. */
export interface NewVersion {
  readonly type: TaskPackageType
  readonly content: NewContent
  readonly by: PackageAuthor | null
  readonly note: string | null
  /** `followed`: a branch was polled, without a request of a person. */
  readonly how: "asked" | "followed"
}

/** What a task of a package needs. */
export interface PackageContent {
  readonly packageName: string
  readonly version: number
  /** `sha256:` and the hex digest of the zip. */
  readonly digest: string
  readonly tasks: ReadonlyArray<string>
  readonly file: StoredFile
}

export interface StoredVersion {
  readonly view: TaskPackageVersionListed
  readonly content: PackageContent
}

const view = (row: typeof versionRow.Type): TaskPackageVersionListed => ({
  version: row.version,
  state: row.version === row.current ? "current" : row.rolled_back ? "rolled_back" : "available",
  digest: row.digest,
  size: row.size,
  created_at: row.created_at,
  created_by: row.created_by,
  note: row.note
})

/** The message of the refusal of an upload to a package with a repository. */
export const notUploaded = (name: string) =>
  `the task package "${name}" takes its content from a git repository; change the repository, or upload to another package`

const gone = (id: string) => new Refused({ code: "NOT_FOUND", message: `the task package ${id} no longer exists` })

export class PackageVersions extends Context.Service<
  PackageVersions,
  {
    /**
     * Stores content of a package as its newest version and makes it current, unless it is the current content. What a
     * poll brings is not made current again after it was rolled back. An upload (`zip`) to a package with a repository
     * is refused. Returns the blob if no row names it.
     */
    readonly put: (workspace: WorkspaceId, id: string, added: NewVersion) => Effect.Effect<string | null, Refused>
    readonly get: (workspace: WorkspaceId, id: string, version: number) => Effect.Effect<StoredVersion | null>
    readonly list: (
      workspace: WorkspaceId,
      id: string,
      page: PageRequest
    ) => Effect.Effect<Rows<TaskPackageVersionListed & { readonly id: string }>>
    /** Makes a version current. */
    readonly promote: (
      workspace: WorkspaceId,
      id: string,
      version: number,
      by: PackageAuthor
    ) => Effect.Effect<void, Refused>
    /** Makes the version before the current one current, and returns its number. `from`: the expected current one. */
    readonly rollback: (
      workspace: WorkspaceId,
      id: string,
      from: number | null,
      by: PackageAuthor
    ) => Effect.Effect<number, Refused>
    /** The ids of all versions of a package: the owners of its files. */
    readonly owners: (workspace: WorkspaceId, id: string) => Effect.Effect<ReadonlyArray<string>>
  }
>()("@signalbox/control-room/store/PackageVersions") {
  static readonly layer = Layer.effect(
    PackageVersions,
    Effect.gen(function* () {
      const { newId, now, page, sql, transaction } = yield* Database
      const files = yield* Files
      const forUpdate = Dialect.forUpdate(sql)
      const ofPackage = (workspace: WorkspaceId, id: string) => sql`workspace_id = ${workspace} AND package_id = ${id}`

      /** The package, whose versions no other transaction changes until this one ends. */
      const lock = Effect.fnUntraced(function* (workspace: WorkspaceId, id: string) {
        const known = yield* queryOne(
          packageTable.pick("name", "type", "current_version"),
          sql`
            SELECT name, type, current_version FROM task_package
            WHERE workspace_id = ${workspace} AND id = ${id} ${forUpdate}`
        )
        return known ?? (yield* gone(id))
      })

      const setCurrent = Effect.fnUntraced(function* (id: string, version: number, by: PackageAuthor | null) {
        const changed = { current_version: version, current_since: yield* now, current_by: by }
        yield* sql`UPDATE task_package SET ${packageTable.update(changed)} WHERE id = ${id}`
      })

      /** Makes a version of a locked package current: those after it that were are rolled back. */
      const move = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        id: string,
        to: { readonly from: number | null; readonly version: number; readonly by: PackageAuthor }
      ) {
        yield* sql`
          UPDATE task_package_version SET rolled_back = 1
          WHERE ${ofPackage(workspace, id)} AND version > ${to.version} AND version <= ${to.from ?? 0}`
        yield* sql`UPDATE task_package_version SET rolled_back = 0 WHERE ${ofPackage(workspace, id)} AND version = ${to.version}`
        yield* setCurrent(id, to.version, to.by)
      })

      const newestOf = (workspace: WorkspaceId, id: string) =>
        queryOne(
          versionTable.pick("version", "digest"),
          sql`
            SELECT version, digest FROM task_package_version WHERE ${ofPackage(workspace, id)}
            ORDER BY version DESC LIMIT 1`
        )

      const digestOf = (workspace: WorkspaceId, id: string, version: number | null) =>
        queryOne(
          versionTable.pick("digest"),
          sql`SELECT digest FROM task_package_version WHERE ${ofPackage(workspace, id)} AND version = ${version}`,
          (row) => row.digest
        )

      return PackageVersions.of({
        put: Effect.fnUntraced(function* (workspace, id, { by, content, how, note, type }) {
          const known = yield* lock(workspace, id)
          if (type === "zip" && known.type !== "zip") {
            return yield* new Refused({ code: "CONFLICT", message: notUploaded(known.name) })
          }
          if (type !== known.type) yield* sql`UPDATE task_package SET type = ${type} WHERE id = ${id}`
          const newest = yield* newestOf(workspace, id)
          const current = yield* digestOf(workspace, id, known.current_version)
          const isHeld = how === "followed" && newest?.digest === content.digest
          if (current === content.digest || isHeld) return content.blob
          const version = (newest?.version ?? 0) + 1
          const owner = yield* newId
          const row = {
            workspace_id: workspace,
            package_id: TaskPackageId.make(id),
            version,
            id: owner,
            digest: content.digest,
            size: content.size,
            tasks: content.tasks,
            created_at: yield* now,
            created_by: by,
            note
          }
          yield* sql`INSERT INTO task_package_version ${versionTable.insert(row)}`
          yield* setCurrent(id, version, by)
          return yield* files.putNew(workspace, {
            ownerId: owner,
            name: "package.zip",
            size: content.size,
            blob: content.blob
          })
        }, transaction),
        get: Effect.fnUntraced(function* (workspace, id, version) {
          const row = yield* queryOne(
            versionRow.and({ tasks: json<ReadonlyArray<string>>(), package_name: text }),
            sql`
              SELECT ${shownRow.columns}, ${sql.literal(current)}, tasks, (
                SELECT name FROM task_package WHERE task_package.id = task_package_version.package_id) AS package_name
              FROM task_package_version WHERE ${ofPackage(workspace, id)} AND version = ${version}`
          )
          if (row === null) return null
          const [file] = yield* files.ofOwners([row.id])
          if (file === undefined) return null
          const { digest, package_name: packageName, tasks } = row
          return { view: view(row), content: { packageName, version, digest, tasks, file } }
        }),
        list: (workspace, id, request) =>
          page(
            {
              rows: versionRow,
              select: sql`SELECT ${shownRow.columns}, ${sql.literal(current)} FROM task_package_version`,
              as: (row) => ({ id: row.id, ...view(row) })
            },
            [sql`workspace_id = ${workspace}`, sql`package_id = ${id}`],
            "newest first",
            request
          ),
        promote: Effect.fnUntraced(function* (workspace, id, version, by) {
          const { current_version: from, name } = yield* lock(workspace, id)
          if (from === version) return
          if ((yield* digestOf(workspace, id, version)) === null) {
            const message = `the task package "${name}" has no version ${version}, or it was deleted; list the versions of the package`
            return yield* new Refused({ code: "NOT_FOUND", message })
          }
          yield* move(workspace, id, { from, version, by })
        }, transaction),
        rollback: Effect.fnUntraced(function* (workspace, id, expected, by) {
          const { current_version: from, name } = yield* lock(workspace, id)
          const conflict = (message: string) => new Refused({ code: "CONFLICT", message })
          if (from === null) return yield* conflict(`the task package "${name}" has no content to roll back`)
          if (expected !== null && expected !== from) {
            return yield* conflict(`from: version ${from} of the task package "${name}" is current, not ${expected}`)
          }
          const before = yield* queryOne(
            versionTable.pick("version"),
            sql`
              SELECT version FROM task_package_version
              WHERE ${ofPackage(workspace, id)} AND version < ${from} AND rolled_back = 0
              ORDER BY version DESC LIMIT 1`
          )
          if (before === null) {
            return yield* conflict(
              `the task package "${name}" has no version before ${from} that is not rolled back; promote a version instead`
            )
          }
          yield* move(workspace, id, { from, version: before.version, by })
          return before.version
        }, transaction),
        owners: (workspace, id) =>
          query(
            versionTable.pick("id"),
            sql`SELECT id FROM task_package_version WHERE ${ofPackage(workspace, id)}`,
            (row) => row.id
          )
      })
    })
  ).pipe(Layer.provide(Files.layer))
}
