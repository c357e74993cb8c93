/**
 * The bytes of files. A blob is written where no reader finds it, and committed when it is complete; only then may a row
 * name it. Blobs that no row names are swept.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { PlatformError } from "effect/PlatformError"
import { isShard, shardOf } from "./internal/blobs/Shards.ts"

/** Size of the file that is written to find out whether there is space. */
const probeBytes = 65_536

/** Bytes of an upload: counted as they arrive, deleted with the scope unless committed. */
export interface Staged {
  /** Bytes received. */
  readonly size: number
  /** Commits the blob and returns its name. */
  readonly commit: Effect.Effect<string>
}

/** Bytes of an upload that can be read as a file before they are committed. */
export interface StagedFile extends Staged {
  /** Path of a temporary file with the bytes, until they are committed or deleted. */
  readonly path: string
}

/** A part of a blob, in bytes. */
export interface Range {
  readonly offset: number
  readonly length: number
}

/** No bytes have this name. */
export class BlobMissing extends TaggedError<BlobMissing>()("BlobMissing", { blob: Schema.String }) {
  override get message(): string {
    return `the blob ${this.blob} does not exist`
  }
}

/** A bucket did not do what it was asked; the message has its code, and no part of a credential. */
export class BucketError extends TaggedError<BucketError>()("BucketError", {
  /** Cannot be reached, is full, or refuses these credentials. */
  kind: Schema.Literals(["bucket", "bucketFull", "bucketRefused"]),
  message: Schema.String
}) {}

/**
 * Where the bytes of files are: a folder, or a bucket (`StorageOptions.s3`). A failure of the disk or of the bucket is a
 * defect, which requests answer with 503 or 507.
 */
export class BlobStore extends Context.Service<
  BlobStore,
  {
    /**
     * Receives a stream, to be committed as `blob`, by default under a new name. `E` is how the stream fails.
     */
    readonly stage: <E, R>(
      bytes: Stream.Stream<Uint8Array, E, R>,
      blob?: string
    ) => Effect.Effect<Staged, E, R | Scope.Scope>
    /** Like `stage`, and has the bytes in a temporary file too. */
    readonly stageFile: <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Effect.Effect<StagedFile, E, R | Scope.Scope>
    /** The path of a blob on disk, which is the fastest way to serve it; null: the store has no files. */
    readonly pathOf: (blob: string) => string | null
    /** Opens a blob, or a range of it that lies within. Resolves when it is known that it exists. */
    readonly read: (blob: string, range?: Range) => Effect.Effect<Stream.Stream<Uint8Array>, BlobMissing>
    /** Bytes of a blob; null: it does not exist. */
    readonly sizeOf: (blob: string) => Effect.Effect<number | null>
    /** Emits the names of all blobs, in pages. */
    readonly names: Stream.Stream<ReadonlyArray<string>>
    readonly remove: (blob: string) => Effect.Effect<void>
    /** Writes something small; fails as an upload would. */
    readonly probe: Effect.Effect<void, PlatformError | BucketError>
    /**
     * Deletes blobs and unfinished uploads that no row names and that are older than the store's limit, and returns how
     * many. `named` returns those of the given blobs that a row names. The store has the id of the first `room` that
     * sweeps it, and keeps everything from sweeps of others, whose rows name other blobs.
     */
    readonly sweep: (
      named: (blobs: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>,
      room?: string
    ) => Effect.Effect<number>
  }
>()("@signalbox/control-room/BlobStore") {
  /**
   * Blobs as files below a folder, which several nodes may share. Creates nothing before the first upload. `sweepAfter`:
   * how old a file must be before no open transaction can be about to name it; zero for a folder of one process, which
   * sweeps before it serves.
   */
  static readonly layerDisk = (folder: string, sweepAfter: Duration.Duration = Duration.zero) =>
    Layer.effect(
      BlobStore,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const random = yield* SecureRandom.SecureRandom
        const staging = path.join(folder, "staging")
        const roomFile = path.join(folder, "room")
        const pathOf = (blob: string) => path.join(folder, shardOf(blob), blob)

        /** The disk failed: no caller handles that, so it is a defect. */
        const onDisk = <A, R>(effect: Effect.Effect<A, PlatformError, R>) => Effect.orDie(effect)
        const unlessMissing =
          <B>(otherwise: Effect.Effect<B>) =>
          <A>(effect: Effect.Effect<A, PlatformError>): Effect.Effect<A | B> =>
            Effect.catch(effect, (error) => (error.reason._tag === "NotFound" ? otherwise : Effect.die(error)))

        /** Creates a temporary file, deleted with the scope. */
        const openTemporary = Effect.gen(function* () {
          const temporary = path.join(staging, yield* random.uuidV7())
          yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary)))
          const open = fs.open(temporary, { flag: "wx" })
          const file = yield* Effect.catchIf(
            open,
            ({ reason }) => reason._tag === "NotFound",
            () => Effect.andThen(fs.makeDirectory(staging, { recursive: true }), open)
          )
          return { file, temporary }
        })

        const stageFile = Effect.fnUntraced(function* <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, given?: string) {
          const { file, temporary } = yield* onDisk(openTemporary)
          const blob = given ?? path.basename(temporary)
          let size = 0
          yield* Stream.runForEach(bytes, (chunk) => {
            size += chunk.length
            return onDisk(file.writeAll(chunk))
          })
          yield* onDisk(file.sync)
          const commit = Effect.gen(function* () {
            yield* fs.makeDirectory(path.dirname(pathOf(blob)), { recursive: true })
            yield* fs.rename(temporary, pathOf(blob))
            return blob
          }).pipe(onDisk)
          return { size, path: temporary, commit } satisfies StagedFile
        })

        const sizeOf = (blob: string) =>
          fs.stat(pathOf(blob)).pipe(
            Effect.map(({ size }) => Number(size)),
            unlessMissing(Effect.succeed(null))
          )

        const read = Effect.fnUntraced(function* (blob: string, range?: Range) {
          if ((yield* sizeOf(blob)) === null) return yield* new BlobMissing({ blob })
          const part = range === undefined ? {} : { offset: range.offset, bytesToRead: range.length }
          return Stream.orDie(fs.stream(pathOf(blob), part))
        })

        const list = (folder: string) => unlessMissing(Effect.succeed([]))(fs.readDirectory(folder))
        const names = Stream.fromIterableEffect(Effect.map(list(folder), (shards) => shards.filter(isShard))).pipe(
          Stream.mapEffect((shard) => list(path.join(folder, shard)))
        )

        const removeOld = Effect.fnUntraced(function* (file: string) {
          const cutoff = (yield* Clock.currentTimeMillis) - Duration.toMillis(sweepAfter)
          const { mtime } = yield* fs.stat(file)
          if (Option.isSome(mtime) && mtime.value.getTime() > cutoff) return 0
          yield* fs.remove(file)
          return 1
        })
        /** Another node may sweep it at the same time. */
        const removeIfOld = (file: string) => unlessMissing(Effect.succeed(0))(removeOld(file))
        const isOf = Effect.fnUntraced(function* (room: string) {
          const known = yield* unlessMissing(Effect.succeed(null))(fs.readFileString(roomFile))
          if (known !== null) return known === room
          yield* fs.makeDirectory(folder, { recursive: true })
          yield* fs.writeFileString(roomFile, room, { mode: 0o640 })
          return true
        }, onDisk)
        const sweep = Effect.fnUntraced(function* (
          named: (blobs: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>,
          room?: string
        ) {
          if (room !== undefined && !(yield* isOf(room))) {
            yield* Effect.logError(
              `${folder} has the files of another room, whose id is in ${roomFile}: give each room a separate folder and database; unfinished uploads are not deleted`
            )
            return 0
          }
          let swept = 0
          for (const name of yield* list(staging)) swept += yield* removeIfOld(path.join(staging, name))
          yield* Stream.runForEach(
            names,
            Effect.fnUntraced(function* (page) {
              const known = yield* named(page)
              for (const name of page.filter((name) => !known.has(name))) swept += yield* removeIfOld(pathOf(name))
            })
          )
          return swept
        })

        const probe = Effect.gen(function* () {
          const { file } = yield* openTemporary
          yield* file.writeAll(new Uint8Array(probeBytes))
          yield* file.sync
        }).pipe(Effect.scoped)

        return BlobStore.of({
          stage: stageFile,
          stageFile,
          probe,
          pathOf,
          read,
          sizeOf,
          names,
          remove: (blob) => Effect.ignore(fs.remove(pathOf(blob))),
          sweep
        })
      })
    ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
