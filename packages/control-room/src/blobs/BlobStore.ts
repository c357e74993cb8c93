/**
 * The bytes of files. A blob is written to a temporary name, synced, and renamed when it is whole; only then may a row
 * name it. What no row names is swept away.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Files } from "../store/Files.ts"

/** Bytes on the way in: counted as they come, gone with the scope unless kept. */
export interface Staged {
  /** Bytes received. */
  readonly size: number
  /** Where they lie until they are kept or gone. */
  readonly path: string
  /** Makes the blob permanent and answers its name. */
  readonly keep: Effect.Effect<string>
}

export class BlobStore extends Context.Service<
  BlobStore,
  {
    /** Writes a stream down. `E` is how the stream fails; a disk that fails is a defect. */
    readonly stage: <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Effect.Effect<Staged, E, R | Scope.Scope>
    /** The path of a blob on disk, for serving ranges of it. */
    readonly pathOf: (blob: string) => string
    readonly remove: (blob: string) => Effect.Effect<void>
    /** Deletes blobs and temporary files that nothing names; safe at start, before anything is served. */
    readonly sweep: Effect.Effect<number>
  }
>()("@signalbox/control-room/blobs/BlobStore") {
  /** Blobs as files below a folder. */
  static readonly layerDisk = (folder: string) =>
    Layer.effect(
      BlobStore,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const random = yield* SecureRandom.SecureRandom
        const files = yield* Files
        const staging = path.join(folder, "staging")
        const pathOf = (blob: string) => path.join(folder, blob.slice(-2), blob)
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
          const keep = Effect.gen(function* () {
            yield* fs.makeDirectory(path.dirname(pathOf(name)), { recursive: true })
            yield* fs.rename(temporary, pathOf(name))
            return name
          }).pipe(Effect.orDie)
          return { size, path: temporary, keep } satisfies Staged
        })

        const sweep = Effect.gen(function* () {
          let swept = 0
          for (const name of yield* fs.readDirectory(staging)) {
            yield* fs.remove(path.join(staging, name))
            swept++
          }
          for (const shard of yield* fs.readDirectory(folder)) {
            if (!/^[0-9a-f]{2}$/.test(shard)) continue
            const names = yield* fs.readDirectory(path.join(folder, shard))
            const known = yield* files.referenced(names)
            for (const name of names.filter((name) => !known.has(name))) {
              yield* fs.remove(path.join(folder, shard, name))
              swept++
            }
          }
          return swept
        }).pipe(Effect.orDie)

        return BlobStore.of({
          stage,
          pathOf,
          remove: (blob) => Effect.ignore(fs.remove(pathOf(blob))),
          sweep
        })
      })
    ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
