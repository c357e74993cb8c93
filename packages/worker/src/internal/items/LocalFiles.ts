/** Local files that replace a service. */
import type { SizedBytes, UploadSourceError } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { LocalFileError } from "../../RobotError.ts"

const failedAt =
  (path: string) =>
  (error: { readonly message: string }): LocalFileError =>
    new LocalFileError({ path, message: error.message })

const invalid = (path: string, message: string) => new LocalFileError({ path, message: `${path}: ${message}` })

/** A path with `/` below a folder: not empty, not absolute, without `.` and `..`. */
const isBelow = (name: string) => !/\\|^\/|(^|\/)\.{0,2}(\/|$)/.test(name)

/** Reads and writes files; each write is atomic. */
export const make = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Written under a temporary name and renamed, so that readers never see a partial file. */
  const replace = <E>(file: string, write: (part: string) => Effect.Effect<void, E>) => {
    const part = `${file}.${crypto.randomUUID()}.part`
    return fs.makeDirectory(path.dirname(file), { recursive: true }).pipe(
      Effect.andThen(write(part)),
      Effect.andThen(fs.rename(part, file)),
      Effect.onError(() => Effect.ignore(fs.remove(part, { force: true })))
    )
  }

  return {
    path,
    exists: (file: string) => Effect.mapError(fs.exists(file), failedAt(file)),
    /** Reads JSON of a shape; the message about an invalid value names the field, never the value. */
    readJson: Effect.fnUntraced(function* <S extends Schema.ConstraintCodec<unknown, unknown>>(
      file: string,
      schema: S,
      expected: string,
      parse: (text: string) => unknown = JSON.parse
    ): Effect.fn.Return<S["Type"], LocalFileError> {
      const text = yield* Effect.mapError(fs.readFileString(file), failedAt(file))
      const json = yield* Effect.try({ try: () => parse(text), catch: () => invalid(file, `expected ${expected}`) })
      return yield* Effect.mapError(Schema.decodeUnknownEffect(schema)(json), () =>
        invalid(file, `expected ${expected}`)
      )
    }),
    writeText: (file: string, text: string) =>
      Effect.mapError(
        replace(file, (part) => fs.writeFileString(part, text)),
        failedAt(file)
      ),
    write: (file: string, { stream }: SizedBytes): Effect.Effect<void, LocalFileError | UploadSourceError> =>
      replace(file, (part) => Stream.run(stream, fs.sink(part))).pipe(
        Effect.catchTag("PlatformError", (error) => Effect.fail(failedAt(file)(error)))
      ),
    stream: (file: string) => Stream.mapError(fs.stream(file), failedAt(file)),
    size: (file: string) =>
      Effect.mapBoth(fs.stat(file), { onSuccess: (info) => Number(info.size), onFailure: failedAt(file) }),
    /** A file or folder; a missing one is fine. */
    remove: (file: string) => Effect.mapError(fs.remove(file, { recursive: true, force: true }), failedAt(file)),
    /** The name of a file of an item, with the rules of the service. */
    fileName: (name: string) =>
      isBelow(name) && !name.includes("/")
        ? Effect.succeed(name)
        : Effect.fail(invalid(JSON.stringify(name), "expected a file name without a path")),
    /** A path below a folder, for a name from an untrusted source. */
    below: (folder: string, name: string) =>
      isBelow(name)
        ? Effect.succeed(path.join(folder, name))
        : Effect.fail(invalid(JSON.stringify(name), "expected a relative path with `/` and without `..`"))
  }
})

export type LocalFiles = Effect.Success<typeof make>
