/**
 * Contents of files. What is small stays in memory; the rest lies in a temporary folder that goes with the sandbox, and is
 * streamed in and out.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Blob, ContentSource } from "../model/Model.ts"
import * as QuickXorHash from "./QuickXorHash.ts"

/** Bytes. */
const inMemory = 64 * 1024

export interface Blobs {
  /** Reads to the end; stores nothing when the stream fails. */
  readonly store: <E, R>(
    contents: Stream.Stream<Uint8Array, E, R>,
    length: number | null
  ) => Effect.Effect<Blob, E | PlatformError, R>
  readonly ofBytes: (contents: Uint8Array) => Blob
  /** A file that belongs to somebody else, and is only read. */
  readonly ofFile: (path: string) => Effect.Effect<Blob, PlatformError>
  readonly newPath: () => string
  /** Writes from `offset` on, in a file that is made where there is none. */
  readonly writeAt: <E, R>(
    path: string,
    offset: number,
    contents: Stream.Stream<Uint8Array, E, R>
  ) => Effect.Effect<void, E | PlatformError, R>
  readonly read: (blob: Blob, offset: number, length: number) => Stream.Stream<Uint8Array, PlatformError>
  readonly remove: (path: string) => Effect.Effect<void>
}

const ofBytes = (contents: Uint8Array): Blob => ({
  size: contents.length,
  hash: QuickXorHash.of(contents),
  source: contents
})

export const make: Effect.Effect<Blobs, PlatformError, FileSystem.FileSystem | Path.Path | Scope.Scope> = Effect.gen(
  function* () {
    const fs = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "graph-sandbox-" })
    let files = 0
    const newPath = () => paths.join(folder, String(++files))
    const remove = (path: string) => Effect.ignore(fs.remove(path, { force: true }))

    const hashing = <E, R>(contents: Stream.Stream<Uint8Array, E, R>) => {
      const folded = QuickXorHash.make()
      let size = 0
      return {
        contents: Stream.map(contents, (chunk) => {
          folded.add(chunk, size)
          size += chunk.length
          return chunk
        }),
        blob: (source: ContentSource): Blob => ({ size, hash: QuickXorHash.digest(folded, size), source })
      }
    }

    return {
      newPath,
      remove,
      ofBytes,
      store: Effect.fnUntraced(function* <E, R>(contents: Stream.Stream<Uint8Array, E, R>, length: number | null) {
        if (length !== null && length <= inMemory) {
          const chunks = yield* Stream.runCollect(contents)
          return ofBytes(Buffer.concat(chunks))
        }
        const path = newPath()
        const hashed = hashing(contents)
        yield* Stream.run(hashed.contents, fs.sink(path)).pipe(Effect.onError(() => remove(path)))
        return hashed.blob(path)
      }),
      ofFile: Effect.fnUntraced(function* (path: string) {
        const hashed = hashing(fs.stream(path))
        yield* Stream.runDrain(hashed.contents)
        return hashed.blob(path)
      }),
      writeAt: Effect.fnUntraced(
        function* <E, R>(path: string, offset: number, contents: Stream.Stream<Uint8Array, E, R>) {
          const file = yield* fs.open(path, { flag: (yield* fs.exists(path)) ? "r+" : "w+" })
          yield* file.seek(BigInt(offset), "start")
          yield* Stream.runForEach(contents, (chunk) => file.writeAll(chunk))
        },
        (effect) => Effect.scoped(effect)
      ),
      read: ({ source }: Blob, offset: number, length: number) =>
        typeof source === "string"
          ? fs.stream(source, { offset, bytesToRead: length, chunkSize: 256 * 1024 })
          : Stream.succeed(source.subarray(offset, offset + length))
    }
  }
)
