/**
 * Files: of work items and outputs, and the content of assets, task packages and artifacts. The bytes are blobs; a row
 * is written after its blob is committed.
 */
import { FileId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { id, integer, query, queryOne, Row, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"

const fileTable = Table("file", {
  id: id(FileId),
  workspace_id: id(WorkspaceId),
  owner_id: text,
  name: text,
  size: integer,
  blob: text,
  created_at: text
})
const fileRow = fileTable.pick("id", "owner_id", "name", "size", "blob")

export interface StoredFile {
  readonly id: FileId
  /** The work item, output, asset, version of a task package or step run that owns it. */
  readonly ownerId: string
  readonly name: string
  readonly size: number
  readonly blob: string
}

const parse = (row: typeof fileRow.Type): StoredFile => ({
  id: row.id,
  ownerId: row.owner_id,
  name: row.name,
  size: row.size,
  blob: row.blob
})

export class Files extends Context.Service<
  Files,
  {
    readonly find: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredFile | null>
    /** The files of all these owners, by name. */
    readonly ofOwners: (owners: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredFile>>
    /** How many files the owner has under other names. */
    readonly countOthers: (owner: string, name: string) => Effect.Effect<number>
    /** Adds a file or replaces the one with its name, and returns the blob that no row names any more. */
    readonly put: (workspace: WorkspaceId, file: StoredFile) => Effect.Effect<string | null>
    /** Like `put`, with a new id. */
    readonly putNew: (workspace: WorkspaceId, file: Omit<StoredFile, "id">) => Effect.Effect<string | null>
    /** Adds separate rows for the files of another owner; they name the same blobs. */
    readonly copy: (workspace: WorkspaceId, from: string, to: string) => Effect.Effect<void>
    /** The files of one owner, newest first. */
    readonly list: (owner: string, page: PageRequest) => Effect.Effect<Rows<StoredFile>>
    /** Deletes the row of one file of an owner, and returns its blob; null when it does not exist. */
    readonly remove: (owner: string, id: string) => Effect.Effect<string | null>
    /** Deletes the rows of all files of these owners, and returns their blobs. */
    readonly removeOwners: (owners: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
    /** Deletes the rows of some files of these owners, and returns their blobs. */
    readonly removeSome: (owners: ReadonlyArray<string>, limit: number) => Effect.Effect<ReadonlyArray<string>>
    /** Returns which of these blobs a file names. */
    readonly referenced: (blobs: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
  }
>()("@signalbox/control-room/store/Files") {
  static readonly layer = Layer.effect(
    Files,
    Effect.gen(function* () {
      const { newId, now, page, sql } = yield* Database
      const put = Effect.fnUntraced(function* (workspace: WorkspaceId, file: StoredFile) {
        const old = yield* queryOne(
          fileTable.pick("blob"),
          sql`DELETE FROM file WHERE owner_id = ${file.ownerId} AND name = ${file.name} RETURNING blob`
        )
        yield* sql`INSERT INTO file ${fileTable.insert({
          id: file.id,
          workspace_id: workspace,
          owner_id: file.ownerId,
          name: file.name,
          size: file.size,
          blob: file.blob,
          created_at: yield* now
        })}`
        return old?.blob ?? null
      })
      return Files.of({
        find: (workspace, id) =>
          queryOne(
            fileRow,
            sql`SELECT ${fileRow.columns} FROM file WHERE workspace_id = ${workspace} AND id = ${id}`,
            parse
          ),
        ofOwners: (owners) =>
          owners.length === 0
            ? Effect.succeed([])
            : query(
                fileRow,
                sql`SELECT ${fileRow.columns} FROM file WHERE ${sql.in("owner_id", owners)} ORDER BY owner_id, name`,
                parse
              ),
        countOthers: (owner, name) =>
          Effect.map(
            queryOne(
              Row({ n: integer }),
              sql`SELECT count(*) AS n FROM file WHERE owner_id = ${owner} AND name <> ${name}`
            ),
            (row) => row?.n ?? 0
          ),
        put,
        putNew: (workspace, file) => Effect.flatMap(newId, (id) => put(workspace, { ...file, id: FileId.make(id) })),
        copy: Effect.fnUntraced(function* (workspace, from, to) {
          const at = yield* now
          const known = yield* query(
            fileRow,
            sql`SELECT ${fileRow.columns} FROM file WHERE owner_id = ${from} ORDER BY id`
          )
          const rows = yield* Effect.forEach(known, ({ blob, name, size }) =>
            Effect.map(newId, (made) => ({
              id: FileId.make(made),
              workspace_id: workspace,
              owner_id: to,
              name,
              size,
              blob,
              created_at: at
            }))
          )
          yield* Chunks.forEach(rows, (some) => sql`INSERT INTO file ${fileTable.insert(some)}`)
        }),
        list: (owner, request) =>
          page(
            { rows: fileRow, select: sql`SELECT ${fileRow.columns} FROM file`, as: parse },
            [sql`owner_id = ${owner}`],
            "newest first",
            request
          ),
        remove: (owner, id) =>
          queryOne(
            fileTable.pick("blob"),
            sql`DELETE FROM file WHERE owner_id = ${owner} AND id = ${id} RETURNING blob`,
            (row) => row.blob
          ),
        removeOwners: (owners) =>
          Effect.map(
            Chunks.flatMap(owners, (some) =>
              query(fileTable.pick("blob"), sql`DELETE FROM file WHERE ${sql.in("owner_id", some)} RETURNING blob`)
            ),
            (rows) => rows.map((row) => row.blob)
          ),
        removeSome: (owners, limit) =>
          owners.length === 0
            ? Effect.succeed([])
            : query(
                fileTable.pick("blob"),
                sql`
                  DELETE FROM file WHERE id IN (
                    SELECT id FROM file WHERE ${sql.in("owner_id", owners)} LIMIT ${limit})
                  RETURNING blob`,
                (row) => row.blob
              ),
        referenced: (blobs) =>
          blobs.length === 0
            ? Effect.succeed(new Set<string>())
            : Effect.map(
                Chunks.flatMap(blobs, (some) =>
                  query(fileTable.pick("blob"), sql`SELECT blob FROM file WHERE ${sql.in("blob", some)}`)
                ),
                (rows) => new Set(rows.map((row) => row.blob))
              )
      })
    })
  )
}
