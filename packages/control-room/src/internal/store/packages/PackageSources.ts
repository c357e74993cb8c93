/** The git repositories of task packages, and when they are polled next. */
import { TaskPackageId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { TaskPackageType } from "@signalbox/api/contract/TaskPackages"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Refused } from "../../engine/Refused.ts"
import { Database } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, integer, nullable, query, queryOne, Table, text, word } from "@signalbox/sql/Table"
import { type NewContent, PackageVersions } from "./PackageVersions.ts"

/** The interval of polling a branch. */
const pollInterval = Duration.minutes(1)
/** Longer than a poll takes: after that another node polls, in case the one that claimed it was killed. */
const claimTime = Duration.minutes(10)

const sourceTable = Table("package_source", {
  package_id: id(TaskPackageId),
  workspace_id: id(WorkspaceId),
  version: integer,
  repository: text,
  directory: nullable(text),
  credentials_secret: nullable(text),
  mode: word<"attached" | "detached">(),
  reference: text,
  automatic: flag,
  commit_id: text,
  fetched_at: text,
  error: nullable(text),
  failed_at: nullable(text),
  look_at: nullable(text)
})
type SourceRow = typeof sourceTable.Type

/** The settings of a source. */
export interface SourceSettings {
  readonly repository: string
  readonly directory: string | null
  readonly credentialsSecret: string | null
  readonly mode: "attached" | "detached"
  readonly reference: string
  /** Whether the service polls it. */
  readonly automatic: boolean
}

export interface Source extends SourceSettings {
  readonly packageId: TaskPackageId
  readonly workspaceId: WorkspaceId
  /** Increases with every change of the settings, so that a poll of older settings stores nothing. */
  readonly version: number
  readonly commit: string
  readonly fetchedAt: string
  readonly error: { readonly message: string; readonly failedAt: string } | null
}

const parse = (row: SourceRow): Source => ({
  packageId: row.package_id,
  workspaceId: row.workspace_id,
  version: row.version,
  repository: row.repository,
  directory: row.directory,
  credentialsSecret: row.credentials_secret,
  mode: row.mode,
  reference: row.reference,
  automatic: row.automatic,
  commit: row.commit_id,
  fetchedAt: row.fetched_at,
  error: row.error === null || row.failed_at === null ? null : { message: row.error, failedAt: row.failed_at }
})

/** The files of a commit: the package's new content. */
export interface Fetched {
  readonly commit: string
  readonly author: string | null
  /** The first line of the message of the commit. */
  readonly subject: string | null
  readonly content: NewContent
}

/** Where the version of a commit comes from. */
const originOf = ({ author, commit, subject }: Fetched) =>
  ({ by: { type: "commit", id: commit, name: author }, note: subject }) as const

export class PackageSources extends Context.Service<
  PackageSources,
  {
    readonly get: (taskPackage: string) => Effect.Effect<Source | null>
    /** Stores the source of a package and what was fetched from it, and returns the blob if no row names it. */
    readonly configure: (
      taskPackage: { readonly id: TaskPackageId; readonly workspaceId: WorkspaceId },
      type: Exclude<TaskPackageType, "zip">,
      settings: SourceSettings,
      fetched: Fetched
    ) => Effect.Effect<string | null, Refused>
    /** Claims the sources due for polling; other nodes skip them. */
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Source>>
    /**
     * Stores the result of polling a claimed source; does nothing when the source was changed. Returns the blob if no row
     * names it.
     */
    readonly deploy: (source: Source, type: TaskPackageType, fetched: Fetched) => Effect.Effect<string | null, Refused>
    /** Records a poll without new content: the branch has not moved, or (`error`) could not be read. */
    readonly recordPoll: (source: Source, error: string | null) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/PackageSources") {
  static readonly layer = Layer.effect(
    PackageSources,
    Effect.gen(function* () {
      const { millis, now, sql, transaction } = yield* Database
      const versions = yield* PackageVersions
      const select = sql`SELECT ${sourceTable.columns} FROM package_source`
      const forUpdate = Dialect.forUpdate(sql)
      const skipLocked = Dialect.skipLocked(sql, "package_source")
      const inFuture = (duration: Duration.Duration) =>
        Effect.map(millis, (time) => new Date(time + Duration.toMillis(duration)).toISOString())

      /** The source if its settings are those that the poll began with, locked until the transaction ends. */
      const unchanged = ({ packageId, version }: Source) =>
        Effect.map(
          sql`SELECT package_id FROM package_source
            WHERE package_id = ${packageId} AND version = ${version} ${forUpdate}`,
          (rows) => rows.length === 1
        )

      return PackageSources.of({
        get: (taskPackage) => queryOne(sourceTable, sql`${select} WHERE package_id = ${taskPackage}`, parse),
        configure: Effect.fnUntraced(function* ({ id, workspaceId }, type, settings, fetched) {
          const { commit, content } = fetched
          const unused = yield* versions.put(workspaceId, id, { type, content, ...originOf(fetched), how: "asked" })
          const values = {
            repository: settings.repository,
            directory: settings.directory,
            credentials_secret: settings.credentialsSecret,
            mode: settings.mode,
            reference: settings.reference,
            automatic: settings.automatic,
            commit_id: commit,
            fetched_at: yield* now,
            error: null,
            failed_at: null,
            look_at: settings.automatic ? yield* inFuture(pollInterval) : null
          }
          // The row of the package is locked, so no other transaction inserts one in between.
          const changed = yield* sql`UPDATE package_source SET ${sourceTable.update(values)}, version = version + 1
              WHERE package_id = ${id} RETURNING package_id`
          if (changed.length === 0) {
            const row = { ...values, package_id: id, workspace_id: workspaceId, version: 1 }
            yield* sql`INSERT INTO package_source ${sourceTable.insert(row)}`
          }
          return unused
        }, transaction),
        claim: Effect.fnUntraced(function* (limit) {
          const rows = yield* query(
            sourceTable,
            sql`
              ${select} WHERE look_at <= ${yield* now}
              ORDER BY look_at LIMIT ${limit} ${skipLocked}`
          )
          const until = yield* inFuture(claimTime)
          for (const row of rows) {
            yield* sql`UPDATE package_source SET look_at = ${until} WHERE package_id = ${row.package_id}`
          }
          return rows.map(parse)
        }, transaction),
        deploy: Effect.fnUntraced(function* (source, type, fetched) {
          const { commit, content } = fetched
          if (!(yield* unchanged(source))) return content.blob
          const added = { type, content, ...originOf(fetched), how: "followed" } as const
          const unused = yield* versions.put(source.workspaceId, source.packageId, added)
          const values = {
            commit_id: commit,
            fetched_at: yield* now,
            error: null,
            failed_at: null,
            look_at: yield* inFuture(pollInterval)
          }
          yield* sql`UPDATE package_source SET ${sourceTable.update(values)} WHERE package_id = ${source.packageId}`
          return unused
        }, transaction),
        recordPoll: Effect.fnUntraced(function* (source, error) {
          const values = {
            error,
            failed_at: error === null ? null : yield* now,
            look_at: yield* inFuture(pollInterval)
          }
          yield* sql`UPDATE package_source SET ${sourceTable.update(values)}
              WHERE package_id = ${source.packageId} AND version = ${source.version}`
        }, transaction)
      })
    })
  )
}
