/**
 * A folder with all that is in it. One file that fails does not stop the others, and none fails in silence.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath } from "../../Drive.ts"
import * as Drives from "../../Drives.ts"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import type { DriveItem } from "../../model/Drive.ts"
import { NotAFolder, type TransferError, transferError } from "../../TransferError.ts"
import { type Differing, type Failure, fields, incomplete, type TransferOptions } from "./FolderReport.ts"
import * as LocalDownload from "./LocalDownload.ts"
import { isWhole, makeFolder } from "./LocalFile.ts"
import { makeNames } from "./LocalNames.ts"

export interface FolderOptions extends TransferOptions {
  /** What is in the folder comes directly into this one; made when it is missing. Default: one of the same name here. */
  readonly to?: string | undefined
  /** Whether large files (above 4 MiB) that broke off continue where they stopped, as for one file. Default false. */
  readonly resume?: boolean | undefined
}

/** What came and what did not. */
export const FolderReport = Schema.Struct({
  ...fields,
  /** What is called otherwise here, since the platform does not take the name or it is taken. */
  renamed: Schema.Array(Schema.Struct({ path: Schema.String, localPath: Schema.String }))
})
export interface FolderReport extends Schema.Schema.Type<typeof FolderReport> {}

/** Not all came. Run it again: what is whole is not downloaded again. */
export class FolderIncomplete extends TaggedError<FolderIncomplete>()("FolderIncomplete", {
  report: FolderReport
}) {
  override get message(): string {
    return incomplete(this.report, "did not come")
  }
}

/** Something to do: a file to fetch, or what was found on the way. */
type Found =
  | { readonly _tag: "File"; readonly item: DriveItem; readonly path: string; readonly localPath: string }
  | { readonly _tag: "Folder" }
  | { readonly _tag: "Left"; readonly path: string }
  | { readonly _tag: "Renamed"; readonly path: string; readonly localPath: string }
  | { readonly _tag: "Failed"; readonly path: string; readonly error: GraphError | TransferError }

type Needs = Graph | FileSystem.FileSystem | Path.Path

/** A shortcut counts as what it leads to. */
const facetsOf = (item: DriveItem) => {
  const { file, folder } = item.remoteItem ?? item
  return { isFolder: (folder ?? null) !== null, isFile: (file ?? null) !== null }
}

const keyOf = (drive: DriveAddress, item: ItemAddress) => itemPath(drive, item).encoded

interface Place {
  readonly address: ItemAddress
  readonly path: string
  readonly localPath: string
  /** The folders above, so that a shortcut can't lead in circles. */
  readonly above: ReadonlySet<string>
}

/** All that is in a folder and below, in the order of the service; folders are made on the way. */
const walk = (drive: DriveAddress, place: Place, paths: Path.Path): Stream.Stream<Found, never, Needs> =>
  Stream.suspend(() => {
    const { address, above, localPath, path } = place
    const nameOf = makeNames(paths.sep === "\\")
    return Stream.flatMap(Drives.children(drive, address), (item): Stream.Stream<Found, never, Needs> => {
      const name = item.name ?? item.id
      const local = nameOf(name)
      const here = { path: `${path}/${name}`, localPath: paths.join(localPath, local) }
      const renamed: ReadonlyArray<Found> = local === name ? [] : [{ _tag: "Renamed", ...here }]
      const { isFile, isFolder } = facetsOf(item)
      if (isFile) return Stream.fromIterable<Found>([...renamed, { _tag: "File", item, ...here }])
      const key = keyOf(drive, item)
      if (!isFolder || above.has(key)) return Stream.succeed({ _tag: "Left", path: here.path })
      const inside = walk(drive, { address: item, above: new Set([...above, key]), ...here }, paths)
      const made = Effect.as(
        makeFolder(here.localPath),
        Stream.concat(Stream.fromIterable<Found>([...renamed, { _tag: "Folder" }]), inside)
      )
      return Stream.unwrap(
        Effect.catch(made, (error) => Effect.succeed(Stream.succeed<Found>({ _tag: "Failed", path: here.path, error })))
      )
    }).pipe(Stream.catch((error) => Stream.succeed<Found>({ _tag: "Failed", path: path === "" ? "/" : path, error })))
  })

/**
 * Downloads a folder with its subfolders. Files that are here already and whole are not downloaded again, so that it can be run
 * again after a failure. Fails as `FolderIncomplete`, with a report of what came and what did not, unless all came.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Files from "@signalbox/graph/Files"
 * import { layerConfig } from "@signalbox/graph/node"
 * import * as Effect from "effect/Effect"
 *
 * export const script = Files.downloadFolder(
 *   Drive.me,
 *   { path: "/Reports" },
 *   { to: "./reports" }
 * ).pipe(
 *   Effect.catchTag("FolderIncomplete", ({ report }) =>
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
export const downloadFolder = Effect.fn("Files.downloadFolder")(function* (
  drive: DriveAddress,
  address: ItemAddress | DriveItem,
  options: FolderOptions = {}
): Effect.fn.Return<FolderReport, GraphError | TransferError | FolderIncomplete, Needs> {
  const paths = yield* Path.Path
  const folder = yield* Drives.item(drive, address)
  if (!facetsOf(folder).isFolder) {
    return yield* transferError(
      new NotAFolder({ message: "this is no folder: download it with Files.download" }),
      folder.name
    )
  }
  const localPath = paths.resolve(options.to ?? makeNames(paths.sep === "\\")(folder.name ?? folder.id))
  yield* makeFolder(localPath)

  const report = { files: 0, present: 0, folders: 0, bytes: 0 }
  const failures: Array<Failure> = []
  const left: Array<string> = []
  const differing: Array<Differing> = []
  const renamed: Array<{ readonly path: string; readonly localPath: string }> = []

  const fetch = Effect.fnUntraced(function* ({ item, localPath, path }: Extract<Found, { readonly _tag: "File" }>) {
    if (yield* isWhole(localPath, item)) {
      report.present++
      return
    }
    const asked: LocalDownload.Options = {
      verify: options.verify,
      resume: options.resume,
      onDifference: (difference) =>
        Effect.sync(() => {
          differing.push({ path, difference })
        })
    }
    const attempt = (address: ItemAddress | DriveItem) =>
      LocalDownload.fetch(drive, address, asked, () => Effect.succeed(localPath))
    const { id, parentReference, remoteItem } = item
    // Changed since the folder was listed: what holds now is asked for.
    const anew = { id, parentReference: parentReference ?? null, remoteItem: remoteItem ?? null }
    const fetched = yield* Effect.catchIf(attempt(item), LocalDownload.isOutdated, () => attempt(anew))
    report.files++
    report.bytes += fetched.item.size ?? 0
    const { bytes, files } = report
    if (options.onProgress !== undefined) yield* options.onProgress({ path, files, bytes })
  })

  const take = (found: Found): Effect.Effect<void, never, Needs> => {
    switch (found._tag) {
      case "File":
        return Effect.catch(fetch(found), (error) =>
          Effect.sync(() => {
            failures.push({ path: found.path, error })
          })
        )
      case "Folder":
        return Effect.sync(() => {
          report.folders++
        })
      case "Left":
        return Effect.sync(() => {
          left.push(found.path)
        })
      case "Renamed":
        return Effect.sync(() => {
          renamed.push({ path: found.path, localPath: found.localPath })
        })
      case "Failed":
        return Effect.sync(() => {
          failures.push({ path: found.path, error: found.error })
        })
    }
  }

  const start: Place = { address, path: "", localPath, above: new Set([keyOf(drive, folder)]) }
  yield* walk(drive, start, paths).pipe(
    Stream.mapEffect(take, { concurrency: options.concurrency ?? 4, unordered: true }),
    Stream.runDrain
  )
  const whole: FolderReport = { path: localPath, ...report, failures, left, differing, renamed }
  return failures.length === 0 ? whole : yield* new FolderIncomplete({ report: whole })
})
