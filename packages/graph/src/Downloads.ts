/**
 * Downloads as streams. A connection that breaks is taken up where it broke, and what arrived is compared with what the
 * service keeps. The addresses of contents give access by themselves and never get a token. Local files are in `Files`.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath } from "./Drive.ts"
import * as Drives from "./Drives.ts"
import type { Graph } from "./Graph.ts"
import { GraphError, Malformed } from "./GraphError.ts"
import { refuse, request } from "./internal/requests/Call.ts"
import { contents } from "./internal/files/Contents.ts"
import { type Difference, differenceOf, type Here, hereOf, reportOrFail } from "./internal/files/Difference.ts"
import { asNothing } from "./internal/requests/Transport.ts"
import type { DriveItem } from "./model/Drive.ts"
import * as QuickXorHash from "./QuickXorHash.ts"
import { Changed, Mismatch, NotAFile, NotModified, type TransferError, transferError } from "./TransferError.ts"

export { Difference } from "./internal/files/Difference.ts"

export interface DownloadOptions {
  /** Converts on the way, such as `pdf`; what comes then can't be compared with what is stored. */
  readonly format?: string | undefined
  /** An `eTag` or `cTag` that was read before: if the file is still the same, it fails as `NotModified`. */
  readonly ifNoneMatch?: string | undefined
  /**
   * Whether size and hash of what arrived are compared. Default true. A difference fails as `Mismatch`; in a document library of a
   * site, which may say other sizes of Office files than it delivers, it is logged and reported to `onDifference`.
   */
  readonly verify?: boolean | undefined
  /** Called after the last byte with a difference that is not a failure. */
  readonly onDifference?: ((difference: Difference) => Effect.Effect<void>) | undefined
  /** Gets the bytes that arrived so far. */
  readonly onProgress?: ((bytes: number) => Effect.Effect<void>) | undefined
  /**
   * What arrived before, in this process or another one: only what follows comes. Fails as `Changed` when the file has changed since,
   * and as `Mismatch` when all together is not what the service has, in a document library too: then begin anew.
   */
  readonly from?: Arrived | undefined
}

/** The first bytes of a file. */
export interface Arrived {
  /** The `eTag` of the item whose bytes they are. */
  readonly eTag: string
  /** A hash to which they were added; its `size` says how many they are. It stays as it is. */
  readonly hash: QuickXorHash.QuickXorHash
}

/** Why an item has no contents; null: it is a file. */
const notAFile = (item: DriveItem): TransferError | null => {
  const has = (facet: unknown) => facet !== undefined && facet !== null
  const refuse = (is: NotAFile["is"], message: string) => transferError(new NotAFile({ is, message }), item.name)
  if (has(item.deleted)) return refuse("deleted", "the file was deleted")
  if (has(item.package))
    return refuse("package", "a notebook has no contents that could be downloaded: export it in its app")
  if (has(item.folder)) return refuse("folder", "this is a folder: download it with Files.downloadFolder")
  return has(item.file) ? null : refuse("other", "this is neither a file nor a folder")
}

/** The item itself, where a shortcut leads to. */
const resolve = Effect.fnUntraced(function* (drive: DriveAddress, address: ItemAddress) {
  const found = yield* Drives.item(drive, address)
  const remoteId = found.remoteItem?.id
  return remoteId === undefined || remoteId === null
    ? { item: found, at: address }
    : { item: yield* Drives.item(drive, found), at: found }
})

/** A new address of the contents. */
const freshAddress = Effect.fnUntraced(function* (drive: DriveAddress, address: ItemAddress, format?: string) {
  const sent = yield* request(
    { path: itemPath(drive, address, "content"), headers: drive.headers, query: { format }, follow: false },
    asNothing
  )
  const location = sent.headers["location"]
  if (location !== undefined) return Redacted.make(location)
  const reason = new Malformed({ codes: [], message: "the service did not say where the contents are" })
  return yield* new GraphError({ reason, request: sent.request })
})

/** A file that is about to be downloaded. */
export interface Download {
  readonly item: DriveItem
  readonly stream: Stream.Stream<Uint8Array, GraphError | TransferError, Graph>
}

const words = {
  size: ({ here, there }: Difference) => `${here} bytes arrived, the file has ${there}`,
  hash: "what arrived is not what is stored",
  remedy: "download it again, or with verify: false"
}

const changed = (message: string, { name }: DriveItem) => transferError(new Changed({ message }), name)

/** Whether what arrived is what the service keeps. */
const check = Effect.fnUntraced(function* (
  drive: DriveAddress,
  at: ItemAddress,
  item: DriveItem,
  here: Here,
  options: DownloadOptions
) {
  const isHashed = (item.file?.hashes?.quickXorHash ?? null) !== null
  // What follows bytes of before may be of another state, which a size alone does not show.
  if (differenceOf(here, item) === null && (isHashed || options.from === undefined)) return
  // The item may be older than what arrived.
  const now = yield* Drives.item(drive, at)
  const difference = differenceOf(here, now)
  const hasChanged = now.cTag !== item.cTag
  if (difference === null && (options.from === undefined || !hasChanged)) return
  if (hasChanged) return yield* changed("the file changed while it was downloaded; download it again", item)
  if (difference === null) return
  if (options.from !== undefined) {
    const message = "what arrived before and what followed is not what is stored; download it from the beginning"
    return yield* transferError(new Mismatch({ of: difference.of, message }), item.name)
  }
  yield* reportOrFail(drive, now, difference, words)
  if (options.onDifference !== undefined) yield* options.onDifference(difference)
})

const streamOf = (
  drive: DriveAddress,
  at: ItemAddress,
  item: DriveItem,
  options: DownloadOptions
): Download["stream"] =>
  Stream.suspend(() => {
    const { format, from, onProgress } = options
    const known = item["@microsoft.graph.downloadUrl"]
    const hash = from?.hash.copy() ?? QuickXorHash.make()
    const isAll = from !== undefined && differenceOf(hereOf(hash), item) === null
    const bytes = isAll
      ? Stream.empty
      : contents({
          name: item.name ?? null,
          first: known === undefined || format !== undefined ? freshAddress(drive, at, format) : Effect.succeed(known),
          fresh: freshAddress(drive, at, format),
          offset: hash.size
        })
    const verify = options.verify !== false && format === undefined
    const counted = verify
      ? Stream.map(bytes, (chunk) => {
          hash.add(chunk)
          return chunk
        })
      : bytes
    let arrived = hash.size
    const watched =
      onProgress === undefined ? counted : Stream.tap(counted, (chunk) => onProgress((arrived += chunk.length)))
    if (!verify) return watched
    const checked = Stream.suspend(() => Stream.fromEffectDrain(check(drive, at, item, hereOf(hash), options)))
    return Stream.concat(watched, checked)
  })

/**
 * Looks at a file and gets its contents ready: `stream` asks for them once it is run. Fails as `NotAFile` for folders and
 * notebooks. An item that the service has just given needs no second look.
 */
export const open = Effect.fn("Downloads.open")(function* (
  drive: DriveAddress,
  address: ItemAddress | DriveItem,
  options: DownloadOptions = {}
): Effect.fn.Return<Download, GraphError | TransferError, Graph> {
  // Only a whole answer has the address of the contents.
  const isWhole = "@microsoft.graph.downloadUrl" in address && "file" in address && options.ifNoneMatch === undefined
  const { at, item } = isWhole ? { at: address, item: address } : yield* resolve(drive, address)
  const problem = notAFile(item)
  if (problem !== null) return yield* problem
  if (options.from !== undefined && options.format !== undefined) {
    const message = "from: what is converted on the way cannot be continued; leave out from or format"
    return yield* refuse("GET", itemPath(drive, at, "content").shown, message)
  }
  if (options.from !== undefined && options.from.eTag !== item.eTag) {
    return yield* changed("the file has changed since the bytes arrived that came before; download it anew", item)
  }
  if (options.ifNoneMatch !== undefined && [item.eTag, item.cTag].includes(options.ifNoneMatch)) {
    return yield* transferError(new NotModified({ message: "the file has not changed" }), item.name)
  }
  return { item, stream: Stream.withSpan(streamOf(drive, at, item, options), "Downloads.open") }
})

/**
 * The contents of a file as they arrive. Compared at the end: a stream that fails as `Mismatch` has given all it got.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Downloads from "@signalbox/graph/Downloads"
 * import * as Stream from "effect/Stream"
 *
 * export const lines = Downloads.stream(Drive.me, {
 *   path: "/Logs/today.csv"
 * }).pipe(Stream.decodeText, Stream.splitLines)
 * ```
 */
export const stream = (
  drive: DriveAddress,
  item: ItemAddress | DriveItem,
  options: DownloadOptions = {}
): Download["stream"] =>
  Stream.unwrap(Effect.map(open(drive, item, options), ({ stream }) => stream)).pipe(
    Stream.withSpan("Downloads.stream")
  )

/** The whole contents of a file that fits into memory. */
export const bytes = Effect.fn("Downloads.bytes")(
  (drive: DriveAddress, item: ItemAddress | DriveItem, options: DownloadOptions = {}) =>
    Stream.mkUint8Array(stream(drive, item, options))
)
