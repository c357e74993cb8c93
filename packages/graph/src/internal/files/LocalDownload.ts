/**
 * One file of a drive into a local one.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import * as Downloads from "../../Downloads.ts"
import type { DriveAddress, ItemAddress } from "../../Drive.ts"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import type { DriveItem } from "../../model/Drive.ts"
import type { TransferError } from "../../TransferError.ts"
import { modifiedOf, writeWhole } from "./LocalFile.ts"
import * as PartialFile from "./PartialFile.ts"

export interface Options extends Omit<Downloads.DownloadOptions, "from"> {
  /** Whether a large file that broke off continues where it stopped, also in another process. */
  readonly resume?: boolean | undefined
}

type Failure = GraphError | TransferError
type Needs = Graph | FileSystem.FileSystem | Path.Path

/** What was downloaded is not what the service has, or not any more. */
export const isOutdated = (error: Failure): boolean =>
  error._tag === "TransferError" && (error.reason._tag === "Changed" || error.reason._tag === "Mismatch")

/** Downloads into a partial file; what does not fit is thrown away. */
const into = ({ item, stream }: Downloads.Download, part: PartialFile.PartialFile, offset: number) =>
  PartialFile.write(part, offset, stream, modifiedOf(item)).pipe(
    Effect.tapError((error) => (isOutdated(error) ? PartialFile.discard(part) : Effect.void)),
    Effect.as(item)
  )

/** Continues after what an earlier download has left, and begins anew when all together is not what the service has. */
const resumed = Effect.fnUntraced(function* (
  drive: DriveAddress,
  opened: Downloads.Download,
  part: PartialFile.PartialFile,
  options: Downloads.DownloadOptions
): Effect.fn.Return<DriveItem, Failure, Needs> {
  const from = yield* PartialFile.arrived(part)
  if (from === undefined) {
    yield* PartialFile.discardOthers(part)
    return yield* into(opened, part, 0)
  }
  const continued = Effect.flatMap(Downloads.open(drive, opened.item, { ...options, from }), (download) =>
    into(download, part, from.hash.size)
  )
  return yield* Effect.catchIf(continued, isOutdated, () => into(opened, part, 0))
})

/** Downloads a file to where `placeOf` says; returns the item as it was then. */
export const fetch = Effect.fnUntraced(function* (
  drive: DriveAddress,
  address: ItemAddress | DriveItem,
  { resume, ...options }: Options,
  placeOf: (item: DriveItem) => Effect.Effect<string, TransferError, FileSystem.FileSystem>
): Effect.fn.Return<{ readonly path: string; readonly item: DriveItem }, Failure, Needs> {
  const opened = yield* Downloads.open(drive, address, options)
  const path = yield* placeOf(opened.item)
  const part = resume === true && options.format === undefined ? yield* PartialFile.of(path, opened.item) : undefined
  if (part !== undefined) return { path, item: yield* resumed(drive, opened, part, options) }
  yield* writeWhole(path, opened.stream, modifiedOf(opened.item))
  return { path, item: opened.item }
})
