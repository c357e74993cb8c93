/**
 * What changed in a drive since it was looked at last.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath, root } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { pages } from "./internal/requests/Call.ts"
import {
  type ChangesPage,
  collect,
  type CollectedChanges,
  type DeltaLink,
  follow
} from "./internal/requests/Changes.ts"
import { type Selection, selection } from "./internal/requests/Options.ts"
import { DriveItem } from "./model/Drive.ts"

export { DeltaLink } from "./internal/requests/Changes.ts"

/** Some changes, in order: an item may come again, and then as it is now. What has gone has the facet `deleted`. */
export interface DeltaPage extends ChangesPage<DriveItem> {}

export interface DeltaOptions extends Selection<DriveItem> {
  /** Where the last look ended. Default: all that is there comes. `latest`: nothing comes but a link for the next look. */
  readonly from?: DeltaLink | "latest" | undefined
  /** The folder to watch; default the root, which every kind of drive can do. */
  readonly folder?: ItemAddress | undefined
}

const deltaPages = pages(DriveItem)

/**
 * The changes as pages, to be applied in order.
 *
 * ```ts
 * import * as Delta from "@signalbox/graph/Delta"
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * export const follow = (from: Delta.DeltaLink) =>
 *   Stream.runForEach(Delta.stream(Drive.me, { from }), (page) =>
 *     Effect.forEach(page.items, (item) =>
 *       Effect.log(item.deleted === undefined ? "there" : "gone", item.id)
 *     )
 *   )
 * ```
 */
export const stream = (
  drive: DriveAddress,
  options: DeltaOptions = {}
): Stream.Stream<DeltaPage, GraphError, Graph> => {
  const { from } = options
  const start = {
    path: itemPath(drive, options.folder ?? root, "delta"),
    headers: drive.headers,
    query: { $select: selection(options.select), token: from === "latest" ? "latest" : undefined }
  }
  return Stream.withSpan(
    follow(deltaPages, "Delta.stream", start, from === "latest" ? undefined : from),
    "Delta.stream"
  )
}

/** All changes of one look. */
export interface Changes extends CollectedChanges<DriveItem> {}

/** All changes in one array; each item once, with its last state. For a drive whose changes fit into memory. */
export const changes = Effect.fn("Delta.changes")(
  (drive: DriveAddress, options: DeltaOptions = {}): Effect.Effect<Changes, GraphError, Graph> =>
    collect(stream(drive, options))
)
