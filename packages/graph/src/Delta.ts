/**
 * What changed in a drive or a list since it was looked at last.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath, root } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { type Call, pages } from "./internal/requests/Call.ts"
import {
  type ChangesPage,
  collect,
  type CollectedChanges,
  type DeltaLink,
  follow
} from "./internal/requests/Changes.ts"
import { expansion, type Selection, selection } from "./internal/requests/Options.ts"
import type { ListId, SiteId } from "./model/Common.ts"
import { DriveItem } from "./model/Drive.ts"
import { ListItem } from "./model/List.ts"
import { path } from "./Path.ts"

export { DeltaLink } from "./internal/requests/Changes.ts"

/** Some changes of a drive, in order. */
export interface DeltaPage extends ChangesPage<DriveItem> {}

/** All changes of one look at a drive. */
export interface Changes extends CollectedChanges<DriveItem> {}

/** Some changes of a list, in order. Of an item that has gone, little more than its id and `deleted` comes. */
export interface ListPage extends ChangesPage<ListItem> {}

/** All changes of one look at a list. */
export interface ListChanges extends CollectedChanges<ListItem> {}

/** Where a look begins. */
interface From {
  /** Where the last look ended. Default: all that is there comes. `latest`: nothing comes but a link for the next look. */
  readonly from?: DeltaLink | "latest" | undefined
}

export interface DeltaOptions extends From, Selection<DriveItem> {
  /** The folder to watch; default the root, which every kind of drive can do. */
  readonly folder?: ItemAddress | undefined
}

export interface ListDeltaOptions extends From {
  /** Internal names of the columns to fetch; default: all of them. Later looks keep what the first one asked for. */
  readonly fields?: ReadonlyArray<string> | undefined
  readonly pageSize?: number | undefined
}

const pagesOfDrives = pages(DriveItem)
const pagesOfLists = pages(ListItem)

const beginning = (start: Call, { from }: From): Call => ({
  ...start,
  query: { ...start.query, token: from === "latest" ? "latest" : undefined }
})
const linkOf = ({ from }: From) => (from === "latest" ? undefined : from)

/**
 * The changes of a drive as pages, to be applied in order.
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
  const start = {
    path: itemPath(drive, options.folder ?? root, "delta"),
    headers: drive.headers,
    query: { $select: selection(options.select) }
  }
  return follow(pagesOfDrives, "Delta.stream", beginning(start, options), linkOf(options)).pipe(
    Stream.withSpan("Delta.stream")
  )
}

/** All changes in one array; each item once, with its last state. For a drive whose changes fit into memory. */
export const changes = Effect.fn("Delta.changes")(
  (drive: DriveAddress, options: DeltaOptions = {}): Effect.Effect<Changes, GraphError, Graph> =>
    collect(stream(drive, options))
)

/**
 * The changes of the items of a list, with their fields, as pages to be applied in order (`listItem: delta` of Graph 1.0). Takes
 * the permission `Sites.Read.All`.
 *
 * ```ts
 * import * as Delta from "@signalbox/graph/Delta"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 * import * as Stream from "effect/Stream"
 *
 * export const titles = (site: SiteId, from?: Delta.DeltaLink) =>
 *   Delta.listItems(site, "Orders", { from, fields: ["Title"] }).pipe(
 *     Stream.flatMap((page) => Stream.fromIterable(page.items)),
 *     Stream.filter((item) => item.deleted === undefined),
 *     Stream.map((item) => item.fields?.["Title"])
 *   )
 * ```
 */
export const listItems = (
  site: SiteId,
  list: ListId | string,
  options: ListDeltaOptions = {}
): Stream.Stream<ListPage, GraphError, Graph> => {
  const start = {
    path: path`/sites/${site}/lists/${list}/items/delta`,
    query: { $expand: expansion(options.fields), $top: options.pageSize }
  }
  return follow(pagesOfLists, "Delta.listItems", beginning(start, options), linkOf(options)).pipe(
    Stream.withSpan("Delta.listItems")
  )
}

/** All changes of a list in one object; each item once, with its last state. */
export const listItemChanges = Effect.fn("Delta.listItemChanges")(
  (
    site: SiteId,
    list: ListId | string,
    options: ListDeltaOptions = {}
  ): Effect.Effect<ListChanges, GraphError, Graph> => collect(listItems(site, list, options))
)
