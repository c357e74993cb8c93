/** Makes a backup of a room, which may run meanwhile: first its database, then the blobs that this state of it names. */
import type { PostgresOptions } from "@signalbox/sql/PostgresOptions"
import * as SqliteBackup from "@signalbox/sql/SqliteBackup"
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import { BlobStore } from "../../BlobStore.ts"
import type { StorageOptions } from "../../Options.ts"
import * as BlobHolds from "../blobs/BlobHolds.ts"
import { AuditReading } from "../store/audit/AuditReading.ts"
import { Database } from "../store/database/Database.ts"
import * as MasterKeyRecord from "../store/database/MasterKeyRecord.ts"
import * as Migrations from "../store/database/Migrations.ts"
import * as RoomState from "../store/room/RoomState.ts"
import * as Snapshot from "../store/database/Snapshot.ts"
import * as Archive from "./Archive.ts"
import { BackupError } from "./Archive.ts"
import * as BlobStores from "./BlobStores.ts"
import * as Opening from "./Opening.ts"
import * as PostgresTools from "./PostgresTools.ts"

export interface BackupOptions extends StorageOptions {
  /** The archive to write. */
  readonly file: string
  /** Whether an existing archive is replaced; default: it is refused. */
  readonly force?: boolean
}

/** What a backup holds. */
export interface Made {
  readonly file: string
  readonly bytes: number
  /** Blobs. */
  readonly files: number
  /** Blobs that the database names, and that were missing already. */
  readonly missing: ReadonlyArray<string>
  readonly database: "sqlite" | "postgres"
}

/** The layers of other rooms in the same program have other databases. */
const elsewhere = { local: true } as const

const refuse = (message: string) => Effect.fail(new BackupError({ message }))

/** A backup of other tables could not be restored by this version. */
const checkSchema = Effect.gen(function* () {
  const newest = yield* Effect.map(
    Effect.orElseSucceed(Migrations.newest, () => null),
    (found) => (found === null ? null : Migrations.label(found))
  )
  if (newest === Migrations.latest) return newest
  return yield* refuse(
    newest === null
      ? "no control room found: set its folder with --data, or its database with --database-url"
      : `the schema of the database is at ${newest}, and this version has ${Migrations.latest}: create the backup with the version that serves it, or run \`signalbox migrate\` first`
  )
})

/** Describes the state that is read, and writes the names of its blobs to a file, a line for each. */
const describe = Effect.fnUntraced(function* (names: string, schema: string | null) {
  const fs = yield* FileSystem.FileSystem
  const migration = yield* checkSchema
  yield* fs.writeFile(names, new Uint8Array(), { mode: 0o600 })
  yield* Snapshot.forEachBlob((blobs) =>
    fs.writeFileString(names, blobs.map((blob) => `${blob}\n`).join(""), { flag: "a" })
  )
  const description: Archive.Description = {
    format: 1,
    database: schema === null ? "sqlite" : "postgres",
    schema,
    migration,
    master_key: yield* MasterKeyRecord.known,
    created_at: new Date(yield* Clock.currentTimeMillis).toISOString(),
    audit_heads: yield* Effect.flatMap(AuditReading, ({ heads }) => heads).pipe(Effect.provide(AuditReading.layer))
  }
  return description
})

interface Place {
  readonly database: string
  readonly names: string
}

/** Copies an SQLite file, and pauses the room of the copy. */
const takeSqlite = Effect.fnUntraced(function* (options: StorageOptions, { database, names }: Place) {
  yield* Effect.provide(checkSchema, SqliteClient.layerReadOnly({ filename: Opening.databaseFile(options) }), elsewhere)
  yield* SqliteBackup.copy(Opening.databaseFile(options), database)
  const copied = Effect.andThen(RoomState.pause, describe(names, null))
  return yield* Effect.provide(
    copied,
    Database.layer.pipe(Layer.provideMerge(SqliteClient.layer({ filename: database }))),
    elsewhere
  )
})

/** Dumps a Postgres without the rows that say that the room runs. */
const takePostgres = Effect.fnUntraced(function* (options: PostgresOptions, { database, names }: Place) {
  yield* checkSchema
  const { major, schema } = yield* Snapshot.server
  if (schema === null) return yield* refuse("the database has no tables of a control room: give another address")
  yield* PostgresTools.check("pg_dump", major)
  return yield* Snapshot.exported((snapshot) =>
    Effect.andThen(
      PostgresTools.dump(options, { schema, snapshot, leftOut: RoomState.leftOut, file: database }),
      describe(names, schema)
    )
  )
})

/** What the backup itself uses: the holds, the blobs, and the connection for a snapshot of a Postgres. */
const layerHolding = (options: StorageOptions) =>
  Opening.layerHolds(options).pipe(
    Layer.provideMerge(BlobStores.layer(options)),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(Opening.layerBeside(options))
  )

/** Writes the archive beside its place, and names it when it is whole. */
const write = Effect.fnUntraced(function* (options: BackupOptions, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { database, file, force = false } = options
  const place: Place = { database: path.join(folder, "database"), names: path.join(folder, "names") }
  const stillHeld = yield* BlobHolds.hold
  const description = database === undefined ? yield* takeSqlite(options, place) : yield* takePostgres(database, place)
  const archive = path.join(folder, "archive")
  const missing: Array<string> = []
  let bytes = 0
  const encoded = yield* Archive.encode(
    {
      description,
      database: place.database,
      blobs: fs.stream(place.names).pipe(Stream.decodeText, Stream.splitLines),
      store: yield* BlobStore
    },
    (blob) => missing.push(blob)
  )
  const output = yield* fs.open(archive, { flag: "wx", mode: 0o600 })
  yield* Stream.runForEach(encoded, (chunk) => {
    bytes += chunk.length
    return output.writeAll(chunk)
  })
  yield* output.sync
  if (!(yield* stillHeld)) {
    return yield* refuse(
      "the backup made no progress for minutes, and files may have been deleted in that time: start it again"
    )
  }
  if (force) yield* fs.rename(archive, file)
  // Refuses a file that was created in between.
  else yield* Effect.mapError(fs.link(archive, file), () => exists(file))
  // The name has to be on disk too. Not every system lets folders be opened.
  yield* Effect.ignore(Effect.flatMap(fs.open(path.dirname(file), { flag: "r" }), (opened) => opened.sync))
  const files = yield* countLines(place.names)
  const made: Made = { file, bytes, files: files - missing.length, missing, database: description.database }
  return made
})

const countLines = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Stream.runCount(fs.stream(file).pipe(Stream.decodeText, Stream.splitLines))
})

const exists = (file: string) =>
  new BackupError({ message: `${file} exists: choose another name, or replace it with --force` })

/** A backup that has written nothing for so long was killed: a living one writes on, or is refused after minutes. */
const abandonedAfter = Duration.toMillis("1 hour")

const partial = (file: string, random: string) => `${file}.${random}.partial`

/** Removes what killed backups to the same file have left. */
const removeAbandoned = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const now = yield* Clock.currentTimeMillis
  const [place, name] = [path.dirname(file), path.basename(file)]
  const changedAt = (one: string) =>
    Effect.map(fs.stat(one), ({ mtime }) => Option.getOrElse(mtime, () => new Date(now)).getTime())
  for (const entry of yield* fs.readDirectory(place)) {
    const random = entry.slice(name.length + 1, -".partial".length)
    if (entry !== partial(name, random) || !/^[0-9a-f]{8}$/.test(random)) continue
    const folder = path.join(place, entry)
    const parts = yield* fs.readDirectory(folder)
    const times = yield* Effect.forEach([folder, ...parts.map((part) => path.join(folder, part))], changedAt)
    if (Math.max(...times) < now - abandonedAfter) yield* fs.remove(folder, { recursive: true })
  }
})

/** See `Administration.backup`. */
export const make = Effect.fn("Backup.make")(function* (options: BackupOptions) {
  const fs = yield* FileSystem.FileSystem
  const { data, file, force = false } = options
  if (yield* fs.exists(file)) {
    // It would be replaced by the archive: root may do that even to /dev/null.
    if ((yield* fs.stat(file)).type !== "File") {
      return yield* refuse(`${file} is a folder, a device or a special file: choose the name of a file`)
    }
    if (!force) return yield* exists(file)
  }
  if (!(yield* fs.exists(data))) {
    return yield* refuse(`the folder ${data} does not exist: give the data folder of the control room with --data`)
  }
  // In its folder, so that it can be renamed; a killed backup leaves this and no archive.
  // Another backup to this file may end, and remove its own, at any time.
  yield* Effect.ignore(removeAbandoned(file))
  const folder = partial(file, randomBytes(4).toString("hex"))
  const path = yield* Path.Path
  const unwritable = () =>
    new BackupError({
      message: `cannot write in ${path.dirname(file)}: give a FILE in a folder that exists and that you may write in`
    })
  yield* Effect.acquireRelease(Effect.mapError(fs.makeDirectory(folder, { mode: 0o700 }), unwritable), () =>
    Effect.ignore(fs.remove(folder, { recursive: true }))
  )
  const full = () =>
    new BackupError({
      message: `the disk of ${path.dirname(file)} is full: free space there, or give a FILE on another disk`
    })
  // Of the storage itself a backup only reads.
  const written = Effect.mapError(write(options, folder), (error) =>
    error._tag === "PlatformError" && StorageFailure.of(error)?.kind === "full" ? full() : error
  )
  // The hold ends before the connection by which it does.
  return yield* Effect.provide(Effect.scoped(written), layerHolding(options), elsewhere)
}, Effect.scoped)
