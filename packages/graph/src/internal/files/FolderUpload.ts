/**
 * A local folder with all that is in it, into a folder of a drive: what differs is sent. One file that fails does not stop the
 * others, and none fails in silence.
 */
import { check, checkNames, matching, type Rules, whole } from "@signalbox/transport/OptionError"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { DriveAddress, ItemAddress } from "../../Drive.ts"
import type { Conflict } from "../../Drives.ts"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import type { DriveItem } from "../../model/Drive.ts"
import { LocalFailed, type TransferError, transferError } from "../../TransferError.ts"
import * as FileUpload from "./FileUpload.ts"
import { type Differing, type Failure, fields, incomplete, type TransferOptions } from "./FolderReport.ts"
import { localFailed } from "./LocalFile.ts"
import * as LocalFolder from "./LocalFolder.ts"
import * as RemoteFolder from "./RemoteFolder.ts"
import * as UploadStates from "./UploadStates.ts"

export interface UploadFolderOptions extends TransferOptions {
  /**
   * What becomes of a file on the service that has the name of one here, and other contents. Default `replace`: a new version of it;
   * `rename`: the one from here gets another name; `fail`: it stays, and is a failure of the report.
   */
  readonly conflict?: Conflict | undefined
  /** Whether files keep the time of their last change, which costs a further request for each. Default false. */
  readonly times?: boolean | undefined
  /** Bytes per request of a large file, as for one file. Default 10 MiB. */
  readonly fragmentBytes?: number | undefined
  /**
   * A file, outside of the folder, that upload sessions of large files (above 4 MiB) are stored in: a run that was killed then resumes
   * them. Only its owner can read it, since it gives access to these uploads. Default: none, and such files begin anew.
   */
  readonly sessionFile?: string | undefined
}

const names = ["conflict", "concurrency", "verify", "times", "fragmentBytes", "sessionFile", "onProgress"]

const rules: Rules<UploadFolderOptions> = {
  conflict: matching(/^(?:fail|rename|replace)$/, "expected fail, rename or replace"),
  concurrency: whole(1)
}

/** What was sent, what was there, and what failed. */
export const UploadFolderReport = Schema.Struct({
  ...fields,
  /** What is called otherwise on the service, with `conflict: "rename"`. */
  renamed: Schema.Array(Schema.Struct({ path: Schema.String, name: Schema.String }))
})
export interface UploadFolderReport extends Schema.Schema.Type<typeof UploadFolderReport> {}

/** Not all was uploaded. Run it again: what is there is not sent again. */
export class UploadFolderIncomplete extends TaggedError<UploadFolderIncomplete>()("UploadFolderIncomplete", {
  report: UploadFolderReport
}) {
  override get message(): string {
    return incomplete(this.report, "were not uploaded")
  }
}

/** The service does not take these names, so that nothing was sent. `path`: below the folder. Rename them, or move them away. */
export class NamesRefused extends TaggedError<NamesRefused>()("NamesRefused", {
  names: Schema.Array(Schema.Struct({ path: Schema.String, why: Schema.String }))
}) {
  override get message(): string {
    const shown = this.names.slice(0, 10).map(({ path, why }) => `${path}: ${why}`)
    const more = this.names.length - shown.length
    return `the service does not take the names of ${this.names.length} files and folders; nothing was sent. ${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}`
  }
}

/** Something to do: a file to send, or what was found on the way. */
type Found =
  | { readonly _tag: "File"; readonly entry: LocalFolder.LocalEntry; readonly place: FileUpload.Place }
  | { readonly _tag: "Folder" }
  | { readonly _tag: "Failed"; readonly path: string; readonly error: RemoteFolder.TransferFailure }

type Needs = Graph | FileSystem.FileSystem | Path.Path
type Walk = Stream.Stream<Found, never, Needs>

const failedAt = (path: string) => (error: RemoteFolder.TransferFailure) =>
  Effect.succeed(Stream.succeed<Found>({ _tag: "Failed", path: path === "" ? "/" : path, error }))

/** All that is in a local folder and below, folders first made where they are missing on the service. */
const walk = (drive: DriveAddress, local: LocalFolder.LocalFolder, folder: DriveItem, isNew: boolean): Walk => {
  const siblings = isNew
    ? Effect.succeed(RemoteFolder.siblingsOf([]))
    : // A list that breaks off begins anew: half of one would have files sent again.
      RemoteFolder.persistently(() => RemoteFolder.list(drive, folder))
  return Stream.unwrap(
    Effect.map(siblings, (siblings) => {
      const place: FileUpload.Place = { folder, siblings, names: new Set(local.files.map(({ name }) => name)) }
      const files = Stream.fromIterable(local.files.map((entry): Found => ({ _tag: "File", entry, place })))
      const folders = Stream.flatMap(Stream.fromIterable(local.folders), (child) =>
        Stream.unwrap(
          Effect.map(RemoteFolder.ensure(drive, folder, siblings, child.name), ({ isNew, item }) =>
            Stream.concat(Stream.succeed<Found>({ _tag: "Folder" }), walk(drive, child, item, isNew))
          ).pipe(Effect.catch(failedAt(child.path)))
        )
      )
      return Stream.concat(files, folders)
    }).pipe(Effect.catch(failedAt(local.path)))
  )
}

/** The local folder, refused if the service cannot have all of its names. */
const readLocal = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(fs.stat(path), localFailed("read", path))
  if (info.type !== "Directory") {
    const message = `${path} is no folder: upload it with Files.upload`
    return yield* transferError(new LocalFailed({ path, message }))
  }
  const found = yield* LocalFolder.read(path)
  return found.refused.length === 0 ? found : yield* new NamesRefused({ names: found.refused })
})

/** The sessions of a file; it may not lie in the folder that is uploaded with it. */
const statesIn = Effect.fnUntraced(function* (file: string, folder: string) {
  const paths = yield* Path.Path
  const path = paths.resolve(file)
  const from = paths.relative(folder, path)
  if (from !== ".." && !from.startsWith(`..${paths.sep}`) && !paths.isAbsolute(from)) {
    const message = `sessionFile: ${path} would be uploaded with the folder that it is in; name one outside of it`
    return yield* transferError(new LocalFailed({ path, message }))
  }
  return yield* UploadStates.open(path)
})

/**
 * Uploads what is in a local folder into a folder of a drive, with its subfolders. A file that is there already, with the same size
 * and hash, is not sent again, so that a run which failed or was killed continues when it is run again. Fails as `NamesRefused`
 * before anything is sent, and as `UploadFolderIncomplete`, with a report of what was sent and what was not, unless all is there.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Files from "@signalbox/graph/Files"
 * import { layerConfig } from "@signalbox/graph/node"
 * import * as Effect from "effect/Effect"
 *
 * export const script = Files.uploadFolder(
 *   Drive.me,
 *   { path: "/Reports" },
 *   "./reports"
 * ).pipe(
 *   Effect.catchTag("UploadFolderIncomplete", ({ report }) =>
 *     Effect.logWarning(
 *       report.failures
 *         .map(({ error, path }) => `${path}: ${error.message}`)
 *         .join("\n")
 *     )
 *   ),
 *   Effect.provide(layerConfig)
 * )
 * ```
 */
export const uploadFolder = Effect.fn("Files.uploadFolder")(function* (
  drive: DriveAddress,
  address: ItemAddress | DriveItem,
  localPath: string,
  options: UploadFolderOptions = {}
): Effect.fn.Return<UploadFolderReport, GraphError | TransferError | UploadFolderIncomplete | NamesRefused, Needs> {
  checkNames("Files.uploadFolder", options, names)
  check("Files.uploadFolder", options, rules)
  const { concurrency = 4, conflict = "replace", fragmentBytes, onProgress, times = false, verify } = options
  const path = (yield* Path.Path).resolve(localPath)
  const states = options.sessionFile === undefined ? undefined : yield* statesIn(options.sessionFile, path)
  const local = yield* readLocal(path)
  const folder = yield* RemoteFolder.target(drive, address)

  const report = { files: 0, present: 0, folders: 0, bytes: 0 }
  const failures: Array<Failure> = [...local.failures]
  const differing: Array<Differing> = []
  const renamed: Array<{ readonly path: string; readonly name: string }> = []

  const send = Effect.fnUntraced(function* ({ entry, place }: Extract<Found, { readonly _tag: "File" }>) {
    const outcome = yield* FileUpload.send(drive, entry, place, { conflict, fragmentBytes, states, times, verify })
    if (outcome._tag === "Present") {
      report.present++
      return
    }
    const { bytes, item } = outcome
    report.files++
    report.bytes += bytes
    if (item.difference !== null) differing.push({ path: entry.path, difference: item.difference })
    const { name } = item
    if (conflict === "rename" && name !== undefined && name !== null && name !== entry.name) {
      renamed.push({ path: entry.path, name })
    }
    if (onProgress !== undefined) yield* onProgress({ path: entry.path, files: report.files, bytes: report.bytes })
  })

  const take = (found: Found): Effect.Effect<void, never, Needs> => {
    switch (found._tag) {
      case "File":
        return Effect.catch(send(found), (error) =>
          Effect.sync(() => {
            failures.push({ path: found.entry.path, error })
          })
        )
      case "Folder":
        return Effect.sync(() => {
          report.folders++
        })
      case "Failed":
        return Effect.sync(() => {
          failures.push({ path: found.path, error: found.error })
        })
    }
  }

  yield* walk(drive, local.folder, folder, false).pipe(
    Stream.mapEffect(take, { concurrency, unordered: true }),
    Stream.runDrain
  )
  const all: UploadFolderReport = { path, ...report, failures, left: local.left, differing, renamed }
  return failures.length === 0 ? all : yield* new UploadFolderIncomplete({ report: all })
})
