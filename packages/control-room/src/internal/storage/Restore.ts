/** Restores a backup into an empty place. The room is paused: backups leave out what says that it runs. */
import { direct, type PostgresOptions } from "@signalbox/sql/PostgresOptions"
import * as PostgresDriver from "@signalbox/sql/PostgresDriver"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { BlobStore } from "../../BlobStore.ts"
import type { StorageOptions } from "../../Options.ts"
import { shardOf } from "../blobs/Shards.ts"
import { Database } from "../store/database/Database.ts"
import * as Migrations from "../store/database/Migrations.ts"
import * as Snapshot from "../store/database/Snapshot.ts"
import * as Archive from "./Archive.ts"
import { BackupError } from "./Archive.ts"
import * as BlobStores from "./BlobStores.ts"
import * as DataFolder from "./DataFolder.ts"
import * as MasterKeyFile from "./MasterKeyFile.ts"
import * as Opening from "./Opening.ts"
import * as PostgresTools from "./PostgresTools.ts"

export interface RestoreOptions extends StorageOptions {
  /** The archive. */
  readonly file: string
}

/** What was restored. */
export interface Restored {
  /** When the backup was made; ISO 8601, UTC. */
  readonly created_at: string
  /** Blobs. */
  readonly files: number
  /** Whether the master key has to be put there: its file is not in a backup. */
  readonly needs_master_key: boolean
  readonly database: "sqlite" | "postgres"
  /** The API keys, with what was revoked since the backup: they are valid again. Times are ISO 8601, UTC. */
  readonly keys: ReadonlyArray<Snapshot.RestoredKey>
  /** The accounts, with those that were disabled or removed since the backup, and with the passwords of then. */
  readonly accounts: ReadonlyArray<Snapshot.RestoredAccount>
}

const refuse = (message: string) => Effect.fail(new BackupError({ message }))

/** What may be in the folder before: the key is put there by hand. */
const mayBeThere: ReadonlyArray<string> = [MasterKeyFile.fileName, "lost+found"]

const checkFolder = Effect.fnUntraced(function* (data: string) {
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(DataFolder.restoring(data))) {
    return yield* refuse(
      `${data} has files of another restore: wait for it or, if it was stopped, remove \`restoring\` and \`files\` there, or give another folder`
    )
  }
  const names = (yield* fs.exists(data)) ? yield* fs.readDirectory(data) : []
  const [found] = names.filter((name) => !mayBeThere.includes(name))
  if (found !== undefined) {
    return yield* refuse(`${data} is not empty, it has ${found}: give a folder that is empty or does not exist`)
  }
})

const schemaOf = ({ schema = "signalbox" }: PostgresOptions) => schema

const checkDatabase = Effect.fnUntraced(function* (database: PostgresOptions) {
  const { major } = yield* Snapshot.server
  yield* PostgresTools.check("pg_restore", major)
  if ((yield* Snapshot.schemaState(schemaOf(database))).tables > 0) {
    return yield* refuse(
      `the database has tables in its schema ${schemaOf(database)} already: use a database without a control room`
    )
  }
})

/** Whether the archive fits to the place and to this version. */
const checkDescription = (
  file: string,
  { database, migration, schema }: Archive.Description,
  target: PostgresOptions | undefined
) => {
  if (database === "sqlite" && target !== undefined) {
    return refuse(`${file} is of a room on SQLite: restore it with --data alone, without a Postgres`)
  }
  if (database === "postgres" && target === undefined) {
    return refuse(
      `${file} is of a room on Postgres: give an empty database with --database-url or SIGNALBOX_DATABASE_URL`
    )
  }
  if (target !== undefined && schema !== schemaOf(target)) {
    return refuse(`${file} is of the schema ${schema}, which cannot be restored as ${schemaOf(target)}`)
  }
  // Names begin with their number, and have the same length.
  if (migration > Migrations.latest) {
    return refuse(`${file} is of a newer version (${migration}): restore it with that version or a later one`)
  }
  return Effect.void
}

/** Writes a new file. */
const write = <E>(fs: FileSystem.FileSystem, to: string, body: Stream.Stream<Uint8Array, E>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(to, { flag: "wx", mode: 0o600 })
      yield* Stream.runForEach(body, (chunk) => file.writeAll(chunk))
      yield* file.sync
    })
  )

/** Where the blobs of an archive are written. */
interface Target {
  readonly prepare: Effect.Effect<void, PlatformError>
  readonly blob: Archive.Target<Archive.ReadError>["blob"]
  /** Moves the blobs to where the room looks for them. */
  readonly finish: Effect.Effect<void, PlatformError>
  /** Removes everything that was written. */
  readonly undo: Effect.Effect<void>
}

/** A folder beside that of the room, which replaces it at the end. */
const folderTarget = Effect.fnUntraced(function* (options: StorageOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = path.join(DataFolder.restoring(options.data), "files")
  const place = BlobStores.folderOf(options)
  const target: Target = {
    prepare: fs.makeDirectory(files, { mode: options.database === undefined ? 0o700 : 0o770 }),
    blob: Effect.fnUntraced(function* (blob, body) {
      const folder = path.join(files, shardOf(blob))
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      yield* write(fs, path.join(folder, blob), body)
    }),
    finish: Effect.gen(function* () {
      yield* fs.remove(place, { recursive: true })
      yield* fs.rename(files, place)
    }),
    undo: Effect.ignore(fs.remove(place, { recursive: true }))
  }
  return target
})

/** A bucket, which may have no blobs yet: no row names those that are written before the database is. */
const bucketTarget = Effect.gen(function* () {
  const { names, remove, stage } = yield* BlobStore
  if (Option.isSome(yield* Stream.runHead(Stream.filter(names, (page) => page.length > 0)))) {
    return yield* refuse("the bucket has files of a room below this prefix already: give another prefix")
  }
  const target: Target = {
    prepare: Effect.void,
    blob: (blob, body) => Effect.scoped(Effect.flatMap(stage(body, blob), ({ commit }) => commit)),
    finish: Effect.void,
    undo: Stream.runForEach(names, (page) => Effect.forEach(page, remove, { discard: true, concurrency: 8 }))
  }
  return target
})

const layerTarget = (database: PostgresOptions) =>
  Database.layer.pipe(
    Layer.provideMerge(Layer.unwrap(Effect.map(PostgresDriver.load, (postgres) => postgres.layer(direct(database)))))
  )

/** Creates the schema and fills it; drops it again when that fails. */
const fill = Effect.fnUntraced(
  function* (database: PostgresOptions, file: string) {
    const schema = schemaOf(database)
    if (!(yield* Snapshot.schemaState(schema)).there) yield* Snapshot.createSchema(schema)
    yield* Effect.onError(PostgresTools.restore(database, schema, file), () =>
      Effect.ignore(Snapshot.dropSchema(schema))
    )
  },
  (effect, database) => Effect.provide(effect, layerTarget(database), { local: true })
)

/** Extracts into a folder of its own, which becomes that of the room when everything is there. */
const extract = Effect.fnUntraced(function* (options: RestoreOptions, target: Target) {
  const { data, database, file } = options
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const isNew = !(yield* fs.exists(data))
  const folder = DataFolder.restoring(data)
  const undo = Effect.gen(function* () {
    yield* Effect.ignore(fs.remove(folder, { recursive: true }))
    yield* target.undo
    if (isNew) yield* Effect.ignore(fs.remove(data, { recursive: true }))
  })
  const steps = Effect.gen(function* () {
    yield* DataFolder.prepare(data, database !== undefined)
    yield* fs.makeDirectory(folder, { mode: 0o700 })
    yield* target.prepare
    const dump = path.join(folder, "database")
    const read = yield* Archive.decode(file, { database: (body) => write(fs, dump, body), blob: target.blob })
    yield* target.finish
    // The database last: there is no room before it.
    if (database === undefined) yield* fs.rename(dump, path.join(data, Opening.databaseName))
    else yield* fill(database, dump)
    const { created_at, migration } = read.description
    const settled = Snapshot.settle(migration, created_at)
    const valid = yield* Effect.provide(settled, Opening.layerClient(options), { local: true })
    yield* fs.remove(folder, { recursive: true })
    return { files: read.files, ...valid }
  })
  return yield* Effect.onExit(steps, (exit) => (Exit.isFailure(exit) ? undo : Effect.void))
})

/** See `Administration.restore`. */
export const run = Effect.fn("Restore.run")(function* (options: RestoreOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { data, database, file } = options
  if (!(yield* fs.exists(file))) return yield* refuse(`${file} does not exist: give the file of a backup`)
  yield* checkFolder(data)
  // Read to its end before anything is written.
  const { description } = yield* Archive.decode(file, Archive.nowhere)
  yield* checkDescription(file, description, database)
  if (database !== undefined) yield* Effect.provide(checkDatabase(database), layerTarget(database), { local: true })
  const intoTarget = (target: Target) => extract(options, target)
  const { accounts, files, keys } = yield* options.s3 === undefined
    ? Effect.flatMap(folderTarget(options), intoTarget)
    : Effect.provide(Effect.flatMap(bucketTarget, intoTarget), BlobStores.layer(options), { local: true })
  const keyFile = path.join(data, MasterKeyFile.fileName)
  const restored: Restored = {
    created_at: description.created_at,
    files,
    needs_master_key: Opening.hasKeyFile(options) && description.master_key !== null && !(yield* fs.exists(keyFile)),
    database: description.database,
    keys,
    accounts
  }
  return restored
})
