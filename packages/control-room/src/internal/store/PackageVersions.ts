/**
 * The versions of task packages, and which of them is current. The zip of a version is a file whose owner is the
 * version.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { PackageAuthor, TaskPackageVersionListed } from "@signalbox/api/contract/TaskPackageVersions"
import type { TaskPackageType } from "@signalbox/api/contract/TaskPackages"
import * as Dialect from "@signalbox/sql/Dialect"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refused } from "../Refused.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import { Files, type StoredFile } from "./Files.ts"

interface Row {
  readonly id: string
  readonly version: number
  readonly digest: string
  readonly size: number
  readonly rolled_back: number
  readonly created_at: string
  readonly created_by: string | null
  readonly note: string | null
  readonly current: number | null
}

const columns = `id, version, digest, size, rolled_back, created_at, created_by, note, (
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

interface PackageRow {
  readonly name: string
  readonly type: TaskPackageType
  readonly current_version: number | null
}

export const parseAuthor = (by: string | null): PackageAuthor | null => (by === null ? null : JSON.parse(by))

const view = (row: Row): TaskPackageVersionListed => ({
  version: row.version,
  state: row.version === row.current ? "current" : row.rolled_back === 1 ? "rolled_back" : "available",
  digest: row.digest,
  size: row.size,
  created_at: row.created_at,
  created_by: parseAuthor(row.created_by),
  note: row.note
})

/** The message of the refusal of an upload to a package with a repository. */
export const notUploaded = (name: string) =>
  `the task package "${name}" takes its content from a git repository; change it there, or upload to another package`

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
        const [known] = yield* Effect.orDie(
          sql<PackageRow>`
            SELECT name, type, current_version FROM task_package
            WHERE workspace_id = ${workspace} AND id = ${id} ${forUpdate}`
        )
        return known ?? (yield* gone(id))
      })

      const setCurrent = Effect.fnUntraced(function* (id: string, version: number, by: PackageAuthor | null) {
        const current_by = by === null ? null : JSON.stringify(by)
        const changed = { current_version: version, current_since: yield* now, current_by }
        yield* sql`UPDATE task_package SET ${sql.update(changed)} WHERE id = ${id}`
      }, Effect.orDie)

      /** Makes a version of a locked package current: those after it that were are rolled back. */
      const move = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        id: string,
        to: { readonly from: number | null; readonly version: number; readonly by: PackageAuthor }
      ) {
        yield* sql`
          UPDATE task_package_version SET rolled_back = 1
          WHERE ${ofPackage(workspace, id)} AND version > ${to.version} AND version <= ${to.from ?? 0}`
        yield* sql`
          UPDATE task_package_version SET rolled_back = 0 WHERE ${ofPackage(workspace, id)} AND version = ${to.version}`
        yield* setCurrent(id, to.version, to.by)
      }, Effect.orDie)

      const newestOf = (workspace: WorkspaceId, id: string) =>
        Effect.orDie(
          Effect.map(
            sql<Pick<Row, "version" | "digest">>`
              SELECT version, digest FROM task_package_version WHERE ${ofPackage(workspace, id)}
              ORDER BY version DESC LIMIT 1`,
            ([row]) => row ?? null
          )
        )

      const digestOf = (workspace: WorkspaceId, id: string, version: number | null) =>
        Effect.orDie(
          Effect.map(
            sql<{ readonly digest: string }>`
              SELECT digest FROM task_package_version WHERE ${ofPackage(workspace, id)} AND version = ${version}`,
            ([row]) => row?.digest ?? null
          )
        )

      return PackageVersions.of({
        put: Effect.fnUntraced(function* (workspace, id, { by, content, how, note, type }) {
          const known = yield* lock(workspace, id)
          if (type === "zip" && known.type !== "zip") {
            return yield* new Refused({ code: "CONFLICT", message: notUploaded(known.name) })
          }
          if (type !== known.type) yield* Effect.orDie(sql`UPDATE task_package SET type = ${type} WHERE id = ${id}`)
          const newest = yield* newestOf(workspace, id)
          const current = yield* digestOf(workspace, id, known.current_version)
          const isHeld = how === "followed" && newest?.digest === content.digest
          if (current === content.digest || isHeld) return content.blob
          const version = (newest?.version ?? 0) + 1
          const owner = yield* newId
          const row = {
            workspace_id: workspace,
            package_id: id,
            version,
            id: owner,
            digest: content.digest,
            size: content.size,
            tasks: JSON.stringify(content.tasks),
            created_at: yield* now,
            created_by: by === null ? null : JSON.stringify(by),
            note
          }
          yield* Effect.orDie(sql`INSERT INTO task_package_version ${sql.insert(row)}`)
          yield* setCurrent(id, version, by)
          return yield* files.putNew(workspace, {
            ownerId: owner,
            name: "package.zip",
            size: content.size,
            blob: content.blob
          })
        }, transaction),
        get: Effect.fnUntraced(function* (workspace, id, version) {
          const [row] = yield* Effect.orDie(
            sql<Row & { readonly tasks: string; readonly package_name: string }>`
              SELECT ${sql.literal(columns)}, tasks, (
                SELECT name FROM task_package WHERE task_package.id = task_package_version.package_id) AS package_name
              FROM task_package_version WHERE ${ofPackage(workspace, id)} AND version = ${version}`
          )
          if (row === undefined) return null
          const [file] = yield* files.ofOwners([row.id])
          if (file === undefined) return null
          const { digest, package_name: packageName, tasks } = row
          return { view: view(row), content: { packageName, version, digest, tasks: JSON.parse(tasks), file } }
        }),
        list: (workspace, id, request) =>
          Effect.map(
            page<Row>(
              sql`SELECT ${sql.literal(columns)} FROM task_package_version`,
              [sql`workspace_id = ${workspace}`, sql`package_id = ${id}`],
              "newest first",
              request
            ),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map((row) => ({ id: row.id, ...view(row) })) })
          ),
        promote: Effect.fnUntraced(function* (workspace, id, version, by) {
          const { current_version: from, name } = yield* lock(workspace, id)
          if (from === version) return
          if ((yield* digestOf(workspace, id, version)) === null) {
            const message = `the task package "${name}" has no version ${version}, or no longer; list its versions`
            return yield* new Refused({ code: "NOT_FOUND", message })
          }
          yield* move(workspace, id, { from, version, by })
        }, transaction),
        rollback: Effect.fnUntraced(function* (workspace, id, expected, by) {
          const { current_version: from, name } = yield* lock(workspace, id)
          const conflict = (message: string) => new Refused({ code: "CONFLICT", message })
          if (from === null) return yield* conflict(`the task package "${name}" has no content to go back from`)
          if (expected !== null && expected !== from) {
            return yield* conflict(`from: version ${from} of the task package "${name}" is current, not ${expected}`)
          }
          const [before] = yield* Effect.orDie(
            sql<{ readonly version: number }>`
              SELECT version FROM task_package_version
              WHERE ${ofPackage(workspace, id)} AND version < ${from} AND rolled_back = 0
              ORDER BY version DESC LIMIT 1`
          )
          if (before === undefined) {
            return yield* conflict(
              `the task package "${name}" has no version before ${from} that is not rolled back; promote the one that it shall have`
            )
          }
          yield* move(workspace, id, { from, version: before.version, by })
          return before.version
        }, transaction),
        owners: (workspace, id) =>
          Effect.orDie(
            Effect.map(
              sql<{ readonly id: string }>`SELECT id FROM task_package_version WHERE ${ofPackage(workspace, id)}`,
              (rows) => rows.map((row) => row.id)
            )
          )
      })
    })
  ).pipe(Layer.provide(Files.layer))
}
