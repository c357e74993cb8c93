/**
 * The bytes of files. A blob is written under a temporary name, synced, and renamed when it is complete; only then may
 * a row name it. Blobs that no row names are swept.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { PlatformError } from "effect/PlatformError"
import { shardOf } from "./internal/Shards.ts"

/** Size of the file that is written to find out whether there is space. */
const probeBytes = 65_536

/** Bytes of an upload: counted as they arrive, deleted with the scope unless committed. */
export interface Staged {
  /** Bytes received. */
  readonly size: number
  /** Path of the temporary file until it is committed or deleted. */
  readonly path: string
  /** Commits the blob and returns its name. */
  readonly commit: Effect.Effect<string>
}

export class BlobStore extends Context.Service<
  BlobStore,
  {
    /** Writes a stream to a temporary file. `E` is how the stream fails; a failure of the disk is a defect. */
    readonly stage: <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Effect.Effect<Staged, E, R | Scope.Scope>
    /** The path of a blob on disk, for serving ranges of it. */
    readonly pathOf: (blob: string) => string
    readonly remove: (blob: string) => Effect.Effect<void>
    /** Writes a temporary file and removes it; fails as an upload would. */
    readonly probe: Effect.Effect<void, PlatformError>
    /**
     * Deletes blobs and temporary files that no row names and that are older than the store's limit, and returns how
     * many. `named` returns those of the given blobs that a row names.
     */
    readonly sweep: (
      named: (blobs: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
    ) => Effect.Effect<number>
  }
>()("@signalbox/control-room/BlobStore") {
  /**
   * Blobs as files below a folder, which several nodes may share. `sweepAfter`: how old a file must be before no open
   * transaction can be about to name it; zero for a folder of one process, which sweeps before it serves.
   */
  static readonly layerDisk = (folder: string, sweepAfter: Duration.Duration = Duration.zero) =>
    Layer.effect(
      BlobStore,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const random = yield* SecureRandom.SecureRandom
        const staging = path.join(folder, "staging")
        const pathOf = (blob: string) => path.join(folder, shardOf(blob), blob)
        yield* fs.makeDirectory(staging, { recursive: true })

        const stage = Effect.fnUntraced(function* <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) {
          const name = yield* random.uuidV7()
          const temporary = path.join(staging, name)
          yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary)))
          const file = yield* Effect.orDie(fs.open(temporary, { flag: "wx" }))
          let size = 0
          yield* Stream.runForEach(bytes, (chunk) => {
            size += chunk.length
            return Effect.orDie(file.writeAll(chunk))
          })
          yield* Effect.orDie(file.sync)
          const commit = Effect.gen(function* () {
            yield* fs.makeDirectory(path.dirname(pathOf(name)), { recursive: true })
            yield* fs.rename(temporary, pathOf(name))
            return name
          }).pipe(Effect.orDie)
          return { size, path: temporary, commit } satisfies Staged
        })

        /** Another node has swept it. */
        const removeOld = Effect.fnUntraced(function* (file: string) {
          const cutoff = (yield* Clock.currentTimeMillis) - Duration.toMillis(sweepAfter)
          const { mtime } = yield* fs.stat(file)
          if (Option.isSome(mtime) && mtime.value.getTime() > cutoff) return 0
          yield* fs.remove(file)
          return 1
        })
        const removeIfOld = (file: string) =>
          Effect.catchIf(
            removeOld(file),
            ({ reason }) => reason._tag === "NotFound",
            () => Effect.succeed(0)
          )
        const sweep = Effect.fnUntraced(function* (
          named: (blobs: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
        ) {
          let swept = 0
          for (const name of yield* fs.readDirectory(staging)) {
            swept += yield* removeIfOld(path.join(staging, name))
          }
          for (const shard of yield* fs.readDirectory(folder)) {
            if (!/^[0-9a-f]{2}$/.test(shard)) continue
            const names = yield* fs.readDirectory(path.join(folder, shard))
            const known = yield* named(names)
            for (const name of names.filter((name) => !known.has(name))) {
              swept += yield* removeIfOld(path.join(folder, shard, name))
            }
          }
          return swept
        }, Effect.orDie)

        const probe = Effect.gen(function* () {
          const temporary = path.join(staging, yield* random.uuidV7())
          yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary)))
          const file = yield* fs.open(temporary, { flag: "wx" })
          yield* file.writeAll(new Uint8Array(probeBytes))
          yield* file.sync
        }).pipe(Effect.scoped)

        return BlobStore.of({
          stage,
          probe,
          pathOf,
          remove: (blob) => Effect.ignore(fs.remove(pathOf(blob))),
          sweep
        })
      })
    ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
