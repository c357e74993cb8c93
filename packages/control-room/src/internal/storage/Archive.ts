/**
 * The file of a backup: a tar with a description, the database, the blobs, and at last a digest over the path, the size and
 * the bytes of each of these. Memory stays flat in both directions.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tar from "effect/encoding/Tar"
import type { PlatformError } from "effect/PlatformError"
import { createHash, type Hash } from "node:crypto"
import { BlobMissing, type BlobStore } from "../../BlobStore.ts"
import { shardOf } from "../blobs/Shards.ts"

/** A backup cannot be made or restored; nothing was changed, or what was is taken back. */
export class BackupError extends TaggedError<BackupError>()("BackupError", { message: Schema.String }) {}

/** The first entry. */
export const Description = Schema.Struct({
  format: Schema.Literal(1),
  database: Schema.Literals(["sqlite", "postgres"]),
  /** The schema in Postgres; null: SQLite. */
  schema: Schema.NullOr(Schema.String),
  /** The newest migration. */
  migration: Schema.String,
  /** The fingerprint of the master key; null: it has none yet. */
  master_key: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  /** The ends of the audit, for `check --audit-head`; absent in backups of older versions. */
  audit_heads: Schema.optionalKey(
    Schema.Array(Schema.Struct({ workspace_id: Schema.String, number: Schema.Int, mac: Schema.String }))
  )
})
export type Description = typeof Description.Type

/** The last entry. */
const End = Schema.Struct({ files: Schema.Int, sha256: Schema.String })

export const paths = { description: "backup.json", database: "database", end: "end.json" } as const

const encodeDescription = Schema.encodeSync(Schema.fromJsonString(Description))
const decodeDescription = Schema.decodeUnknownEffect(Schema.fromJsonString(Description))
const decodeEnd = Schema.decodeUnknownEffect(Schema.fromJsonString(End))

const pathOfBlob = (blob: string) => `files/${shardOf(blob)}/${blob}`

/** The blob of a path; null: it is not the path of one. */
const blobOf = (path: string): string | null => {
  const [, blob] = /^files\/[0-9a-f]{2}\/([0-9a-f-]{36})$/.exec(path) ?? []
  return blob !== undefined && pathOfBlob(blob) === path ? blob : null
}

type Body<E> = Stream.Stream<Uint8Array, E>

/** Adds what an entry says to the digest, its bytes as they pass. */
const hashing = <E>(hash: Hash, path: string, size: number, body: Body<E>): Body<E> =>
  Stream.suspend(() => {
    hash.update(`${path}\n${size}\n`)
    return Stream.map(body, (chunk) => {
      hash.update(chunk)
      return chunk
    })
  })

export interface Source {
  readonly description: Description
  /** The file of the database. */
  readonly database: string
  /** The names of blobs, each once. */
  readonly blobs: Stream.Stream<string, PlatformError>
  readonly store: BlobStore["Service"]
}

/** Encodes an archive. `missing` receives blobs without a file, which the archive then lacks. */
export const encode = Effect.fnUntraced(function* (
  { blobs, database, description, store }: Source,
  missing: (blob: string) => void
) {
  const fs = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  let files = 0
  const entryOf = <E>(path: string, size: number, body: Body<E>) =>
    Tar.fileStream(path, size, hashing(hash, path, size, body), { mode: 0o600 })
  const text = encodeDescription(description)
  const bytes = Buffer.from(text)
  const first = Tar.fileStream(
    paths.description,
    bytes.length,
    hashing(hash, paths.description, bytes.length, Stream.succeed(bytes))
  )
  const ofDatabase = Effect.map(fs.stat(database), ({ size }) =>
    entryOf(paths.database, Number(size), fs.stream(database))
  )
  const ofBlob = Effect.fnUntraced(
    function* (blob: string) {
      const size = (yield* store.sizeOf(blob)) ?? (yield* new BlobMissing({ blob }))
      // Opened when it is its turn; nothing is removed during a backup.
      const body = Stream.unwrap(Effect.orDie(store.read(blob)))
      files += 1
      return [entryOf(pathOfBlob(blob), size, body)]
    },
    (effect, blob) => Effect.catchTag(effect, "BlobMissing", () => Effect.sync(() => (missing(blob), [])))
  )
  const end = Effect.sync(() => Tar.file(paths.end, JSON.stringify({ files, sha256: hash.digest("hex") })))
  const entries: Stream.Stream<Tar.Entry<PlatformError>, PlatformError> = Stream.succeed(first).pipe(
    Stream.concat(Stream.fromEffect(ofDatabase)),
    Stream.concat(Stream.flattenIterable(Stream.mapEffect(blobs, ofBlob))),
    // Pulled when the bytes of all others have passed, so that the digest is complete.
    Stream.concat(Stream.fromEffect(end))
  )
  return Stream.pipeThroughChannel(entries, Tar.encode<PlatformError, unknown, Tar.Entry<PlatformError>>())
})

/** How reading an entry fails. */
export type ReadError = Tar.TarError | PlatformError

/** What a reader does with the bytes of the database and of each blob. */
export interface Target<E> {
  readonly database: (body: Body<ReadError>) => Effect.Effect<void, E>
  readonly blob: (blob: string, body: Body<ReadError>) => Effect.Effect<void, E>
}

/** Reads the bytes and stores none. */
export const nowhere: Target<ReadError> = {
  database: Stream.runDrain,
  blob: (_, body) => Stream.runDrain(body)
}

const textOf = <E>(body: Body<E>) =>
  Effect.map(
    Stream.runFold(
      body,
      () => "",
      (text, chunk) => text + Buffer.from(chunk).toString()
    ),
    String
  )

/** The descriptions of an archive are short. */
const maxText = 64 * 1024

/** Reads an archive to its end. Fails with `BackupError` when it is cut off or altered. */
export const decode = Effect.fnUntraced(
  function* <E>(file: string, target: Target<E>) {
    const fs = yield* FileSystem.FileSystem
    const hash = createHash("sha256")
    let description: Description | null = null
    let database = false
    let files = 0
    let ended = false
    const refuse = (what: string) => Effect.fail(new BackupError({ message: `${file} ${what}` }))
    const take = Effect.fnUntraced(function* ({ body, header: { path, size } }: Tar.Entry<ReadError>) {
      const hashed = hashing(hash, path, size, body)
      const blob = blobOf(path)
      if (ended) return yield* refuse("has been altered: data follows its end")
      if (description === null) {
        if (path !== paths.description || size > maxText)
          return yield* refuse("is not a backup of a control room: give the file of a backup")
        description = yield* Effect.catchTag(decodeDescription(yield* textOf(hashed)), "SchemaError", () =>
          refuse("is not a backup that this version can read: restore it with the version that created it")
        )
      } else if (path === paths.database && !database) {
        database = true
        yield* target.database(hashed)
      } else if (path === paths.end && size <= maxText) {
        const end = yield* Effect.catchTag(decodeEnd(yield* textOf(body)), "SchemaError", () =>
          refuse("has been altered: its end cannot be read")
        )
        if (end.sha256 !== hash.digest("hex") || end.files !== files) {
          return yield* refuse("has been altered: its bytes do not match its digest; take another backup")
        }
        ended = true
      } else if (blob !== null) {
        files += 1
        yield* target.blob(blob, hashed)
      } else {
        return yield* refuse(`has been altered: it has an unknown entry ${JSON.stringify(path.slice(0, 100))}`)
      }
    })
    yield* fs
      .stream(file)
      .pipe(Stream.pipeThroughChannel(Tar.decode<PlatformError, unknown>()), Stream.runForEach(take))
    if (description === null) return yield* refuse("is not a backup of a control room: give the file of a backup")
    if (!ended || !database) return yield* refuse("is cut off: it has no end; take another backup")
    const found: Description = description
    return { description: found, files }
  },
  (effect, file) =>
    Effect.catchIf(
      effect,
      (error): error is Tar.TarError => Tar.isTarError(error),
      ({ kind }) =>
        Effect.fail(
          new BackupError({
            message:
              kind === "Truncated"
                ? `${file} is cut off; take another backup`
                : `${file} has been altered, or is not a backup of a control room: give the file of a backup`
          })
        )
    )
)
