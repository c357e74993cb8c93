/** Files of this machine, on both ends of a transfer. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeFileSystem from "@signalbox/platform/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { basename, dirname, join, sep } from "node:path"
import type { File } from "../../contract/Files.ts"
import type { WorkItemId } from "../../contract/Ids.ts"
import { ControlRoom } from "../../ControlRoom.ts"
import type { Conflict, ControlRoomError, InvalidRequest, NotFound } from "../../ControlRoomError.ts"
import { download, type DownloadError } from "../../Files.ts"
import { open, type SizedBytes, type UploadSource, UploadSourceError } from "../../Upload.ts"
import { attachFile } from "../../WorkItems.ts"
import { names, refusing } from "../calls/Known.ts"

/** A file could not be written on this machine. Nothing is left of it; an older one at its place stays. */
export class LocalFailed extends TaggedError<LocalFailed>()("LocalFailed", {
  path: Schema.String,
  message: Schema.String
}) {}

const unreadable = (path: string) => (error: { readonly message: string }) =>
  new UploadSourceError({ name: basename(path), message: `cannot read ${path}: ${error.message}` })

/** Opens a path for an upload. */
export const openPath = (fs: FileSystem.FileSystem, path: string): Effect.Effect<SizedBytes, UploadSourceError> =>
  Effect.map(Effect.mapError(fs.stat(path), unreadable(path)), (info) => ({
    name: basename(path),
    size: Number(info.size),
    stream: Stream.mapError(fs.stream(path), unreadable(path))
  }))

/** A name that cannot leave its folder. */
const localName = (name: string): string => {
  const safe = name.replace(/[/\\\0]/g, "_")
  return /^\.{0,2}$/.test(safe) ? "_" : safe
}

const failed = (path: string) => (error: PlatformError) =>
  new LocalFailed({ path, message: `cannot write ${path}: ${error.message}` })

/** Where a file goes: into a folder under its own name, or to a path. */
const targetOf = (fs: FileSystem.FileSystem, to: string, name: string) => {
  const within = join(to, localName(name))
  if (to.endsWith("/") || to.endsWith(sep)) return Effect.succeed(within)
  return fs.stat(to).pipe(
    Effect.map(({ type }) => (type === "Directory" ? within : to)),
    Effect.orElseSucceed(() => to)
  )
}

/** Written under a temporary name and renamed, so that nobody ever finds a part of the file. */
const writeWhole = Effect.fnUntraced(function* <E, R>(
  fs: FileSystem.FileSystem,
  path: string,
  size: number,
  bytes: Stream.Stream<Uint8Array, E, R>
) {
  const temporary = join(dirname(path), `.${crypto.randomUUID()}.part`)
  const write = Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.mapError(fs.open(temporary, { flag: "wx" }), failed(path))
      let written = 0
      yield* Stream.runForEach(bytes, (chunk) => {
        written += chunk.length
        return Effect.mapError(file.writeAll(chunk), failed(path))
      })
      if (written !== size) {
        const message = `cannot write ${path}: ${written} bytes arrived, the file has ${size}; download it again`
        return yield* new LocalFailed({ path, message })
      }
      yield* Effect.mapError(file.sync, failed(path))
    })
  )
  yield* write.pipe(
    Effect.andThen(Effect.mapError(fs.rename(temporary, path), failed(path))),
    Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
  )
})

/**
 * Downloads a file of a work item or output to a path, or into a folder under its own name, and returns the path. A folder is one that
 * exists, or a path that ends with `/`; folders that are missing are made. The file is there once it is whole; an older one is
 * replaced. The address in the file is valid for one hour; get the item again after that.
 *
 * ```ts
 * import type { WorkItemId } from "@signalbox/api/contract/Ids"
 * import { downloadTo } from "@signalbox/api/node"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 * import * as Effect from "effect/Effect"
 *
 * export const fetchAll = Effect.fn(function* (item: WorkItemId) {
 *   const { files } = yield* WorkItems.get(item)
 *   return yield* Effect.forEach(files, (file) => downloadTo(file, "./in/"))
 * })
 * ```
 */
export const downloadTo = Effect.fn("Files.downloadTo")(function* (
  file: Pick<File, "name" | "size" | "download">,
  to: string
): Effect.fn.Return<string, DownloadError | LocalFailed, ControlRoom | FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* targetOf(fs, to, file.name)
  yield* Effect.mapError(fs.makeDirectory(dirname(path), { recursive: true }), failed(path))
  yield* writeWhole(fs, path, file.size, download(file))
  return path
}, Effect.provide(NodeFileSystem.layer))

/** How far an upload of several files is. */
export interface UploadProgress {
  /** The name of the file that is being sent. */
  readonly file: string
  /** Files that were sent, and all of them. */
  readonly filesSent: number
  readonly files: number
  /** Bytes that were passed to the socket, and all of them. */
  readonly bytesSent: number
  readonly bytes: number
}

/** How files are uploaded. */
export interface UploadAllOptions {
  readonly onProgress?: ((progress: UploadProgress) => Effect.Effect<void>) | undefined
}

/** A file that was uploaded; `size` is in bytes. */
export interface Uploaded {
  readonly name: string
  readonly size: number
}

const refuse = (name: string, message: string) => new UploadSourceError({ name, message })

/** The files of a folder, by their names. */
const filesOf = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, folder: string) {
  const found = yield* Effect.mapError(fs.readDirectory(folder), unreadable(folder))
  const paths = found.toSorted().map((name) => join(folder, name))
  for (const path of paths) {
    const { type } = yield* Effect.mapError(fs.stat(path), unreadable(path))
    if (type === "File") continue
    return yield* refuse(
      basename(path),
      `${path} is no file; work items have no folders, so give the files that are meant`
    )
  }
  return paths
})

/** All sources, opened, so that one that cannot be read fails before anything is sent. */
const openAll = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  from: string | ReadonlyArray<UploadSource>
): Effect.fn.Return<ReadonlyArray<SizedBytes>, UploadSourceError> {
  const sources = typeof from === "string" ? yield* filesOf(fs, from) : from
  const opened = yield* Effect.forEach(sources, (source) => open({ openPath: (path) => openPath(fs, path) }, source))
  const twice = opened.find(({ name }, index) => opened.findIndex((other) => other.name === name) < index)
  if (twice === undefined) return opened
  return yield* refuse(twice.name, `two files are called ${twice.name}; a work item has one of each name`)
})

/**
 * Uploads the files of a folder, or several sources, to a work item, one after the other, and returns their names and sizes. A file of
 * the same name is replaced, so it is safe to repeat. Fails with `UploadSourceError` before anything is sent when one cannot be read,
 * when the folder has folders, and when two have the same name.
 *
 * ```ts
 * import type { WorkItemId } from "@signalbox/api/contract/Ids"
 * import { uploadAll } from "@signalbox/api/node"
 * import * as Console from "effect/Console"
 *
 * export const attachScans = (item: WorkItemId) =>
 *   uploadAll(item, "./scans", {
 *     onProgress: ({ bytes, bytesSent, file }) =>
 *       Console.log(`${file}: ${bytesSent} of ${bytes} bytes`)
 *   })
 * ```
 */
export const uploadAll = Effect.fn("Files.uploadAll")(
  function* (
    item: WorkItemId,
    from: string | ReadonlyArray<UploadSource>,
    options: UploadAllOptions = {}
  ): Effect.fn.Return<
    ReadonlyArray<Uploaded>,
    Conflict | ControlRoomError | InvalidRequest | NotFound | UploadSourceError,
    ControlRoom | FileSystem.FileSystem
  > {
    const fs = yield* FileSystem.FileSystem
    const { onProgress } = options
    const sources = yield* openAll(fs, from)
    const bytes = sources.reduce((sum, { size }) => sum + size, 0)
    let before = 0
    for (const [filesSent, source] of sources.entries()) {
      const report = (filesSent: number, sent: number) =>
        onProgress === undefined
          ? Effect.void
          : onProgress({ file: source.name, filesSent, files: sources.length, bytesSent: before + sent, bytes })
      yield* attachFile(item, source, { onProgress: (sent) => report(filesSent, sent) })
      yield* report(filesSent + 1, source.size)
      before += source.size
    }
    return sources.map(({ name, size }) => ({ name, size }))
  },
  refusing("files.uploadAll", { 2: names<UploadAllOptions>("option", { onProgress: 1 }) }),
  Effect.provide(NodeFileSystem.layer)
)
