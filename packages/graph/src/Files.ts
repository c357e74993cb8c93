/**
 * Transfers between local files and drives, or messages. The layers of `@signalbox/graph/node` bring the file system; elsewhere provide that
 * of your platform.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as Downloads from "./Downloads.ts"
import type { DriveAddress, ItemAddress } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import * as LocalDownload from "./internal/files/LocalDownload.ts"
import { localFailed, makeFolder } from "./internal/files/LocalFile.ts"
import { localName } from "./internal/files/LocalNames.ts"
import type { DriveItem } from "./model/Drive.ts"
import { LocalFailed, type TransferError, transferError } from "./TransferError.ts"
import * as Uploads from "./Uploads.ts"

export {
  downloadFolder,
  type FolderOptions,
  type FolderReport,
  FolderIncomplete
} from "./internal/files/FolderDownload.ts"
export {
  NamesRefused,
  uploadFolder,
  type UploadFolderOptions,
  UploadFolderIncomplete,
  type UploadFolderReport
} from "./internal/files/FolderUpload.ts"

export {
  attachment,
  type AttachmentFileOptions,
  downloadAttachments,
  type DownloadedAttachment
} from "./internal/mail/AttachmentFiles.ts"

/**
 * Uploads a local file to where a file is or will be.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Files from "@signalbox/graph/Files"
 * import { layerConfig } from "@signalbox/graph/node"
 * import * as Effect from "effect/Effect"
 *
 * export const script = Files.upload(
 *   Drive.me,
 *   { path: "/Reports/May.pdf" },
 *   "./out/may.pdf"
 * ).pipe(Effect.provide(layerConfig))
 * ```
 */
export const upload = Effect.fn("Files.upload")(function* (
  drive: DriveAddress,
  item: ItemAddress,
  localPath: string,
  options: Uploads.UploadOptions = {}
): Effect.fn.Return<Uploads.Uploaded, GraphError | TransferError, Graph | FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(fs.stat(localPath), localFailed("read", localPath))
  if (info.type !== "File") {
    return yield* transferError(new LocalFailed({ path: localPath, message: `${localPath} is not a file` }))
  }
  const from = (offset: number) => fs.stream(localPath, { offset, chunkSize: 256 * 1024 })
  return yield* Uploads.upload(drive, item, { size: Number(info.size), from }, options)
})

export interface DownloadOptions extends Omit<Downloads.DownloadOptions, "from"> {
  /**
   * Whether a large file (above 4 MiB) that broke off continues where it stopped, also when the program was killed: its bytes stay beside
   * its place, in a file `.….part`, until all are there or the file has changed. Default false: what breaks off leaves nothing behind.
   */
  readonly resume?: boolean | undefined
  /** The folder to download to; made when it is missing. Default: the current one. */
  readonly to?: string | undefined
  /** How the local file is called. Default: like the remote one, as far as the platform takes that name. */
  readonly name?: string | undefined
}

export interface Downloaded {
  readonly path: string
  readonly item: DriveItem
  /** How it differs from what the service says of it, which happens in document libraries. Null: not, or it was not compared. */
  readonly difference: Downloads.Difference | null
}

/** How often a download restarts because the file has changed. */
const mostBeginnings = 3

/**
 * Downloads a file. It gets its name once it is whole; an older file of that name is replaced.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Files from "@signalbox/graph/Files"
 * import { layerConfig } from "@signalbox/graph/node"
 * import * as Effect from "effect/Effect"
 *
 * export const script = Files.download(
 *   Drive.link("https://contoso.sharepoint.com/:b:/g/Ea1b"),
 *   Drive.root,
 *   {
 *     to: "./in"
 *   }
 * ).pipe(Effect.provide(layerConfig))
 * ```
 */
export const download = Effect.fn("Files.download")(function* (
  drive: DriveAddress,
  address: ItemAddress | DriveItem,
  options: DownloadOptions = {}
): Effect.fn.Return<Downloaded, GraphError | TransferError, Graph | FileSystem.FileSystem | Path.Path> {
  const paths = yield* Path.Path
  const folder = paths.resolve(options.to ?? ".")
  const begin = (beginnings: number): typeof attempt =>
    Effect.catchReason(attempt, "TransferError", "Changed", (_, error) =>
      beginnings < mostBeginnings ? begin(beginnings + 1) : Effect.fail(error)
    )
  const attempt = Effect.gen(function* () {
    let difference: Downloads.Difference | null = null
    const asked: LocalDownload.Options = {
      ...options,
      onDifference: (found) =>
        Effect.suspend(() => {
          difference = found
          return options.onDifference === undefined ? Effect.void : options.onDifference(found)
        })
    }
    const { item, path } = yield* LocalDownload.fetch(drive, address, asked, (item) => {
      const name = localName(options.name ?? item.name ?? "", paths.sep === "\\")
      return Effect.as(makeFolder(folder), paths.join(folder, name))
    })
    const downloaded: Downloaded = { path, item, difference }
    return downloaded
  })
  return yield* begin(1)
})
