/**
 * What changed in a drive since it was looked at last.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath, root } from "./Drive.ts"
import { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { pages, refused, unsent } from "./internal/requests/Call.ts"
import { type Selection, selection } from "./internal/requests/Options.ts"
import { shownAddress } from "./internal/requests/Transport.ts"
import type { ItemId } from "./model/Common.ts"
import { DriveItem } from "./model/Drive.ts"

/** Where a look ended: what the next one begins with. Keep it as text. */
export const DeltaLink = Schema.String.pipe(Schema.brand("DeltaLink"))
export type DeltaLink = typeof DeltaLink.Type

/** Some changes, in order: an item may come again, and then as it is now. What has gone has the facet `deleted`. */
export interface DeltaPage {
  readonly items: ReadonlyArray<DriveItem>
  /** On the last page: where the next look begins. */
  readonly link: DeltaLink | null
  /**
   * The service does not know the link any more: from this page on, all that is there comes from the beginning. Forget what came
   * before; what does not come again has gone.
   */
  readonly restarted: boolean
}

export interface DeltaOptions extends Selection<DriveItem> {
  /** Where the last look ended. Default: all that is there comes. `latest`: nothing comes but a link for the next look. */
  readonly from?: DeltaLink | "latest" | undefined
  /** The folder to watch; default the root, which every kind of drive can do. */
  readonly folder?: ItemAddress | undefined
}

const deltaPages = pages(DriveItem)

/** More restarts than this within one look are no accident. */
const mostRestarts = 3

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
  const start = deltaPages({
    path: itemPath(drive, options.folder ?? root, "delta"),
    headers: drive.headers,
    query: { $select: selection(options.select), token: from === "latest" ? "latest" : undefined }
  })
  const resume = (link: DeltaLink) =>
    Stream.unwrap(
      Effect.map(Graph, ({ origin }) =>
        URL.canParse(link) && new URL(link).origin === origin
          ? deltaPages({ link, headers: drive.headers })
          : Stream.fail(
              refused(
                unsent("GET", shownAddress(origin, link), "Delta.stream"),
                "the delta link does not belong to this service"
              )
            )
      )
    )
  const round = (restarts: number): Stream.Stream<DeltaPage, GraphError, Graph> =>
    (from === undefined || from === "latest" || restarts > 0 ? start : resume(from)).pipe(
      Stream.zipWithIndex,
      Stream.map(([{ deltaLink, items }, index]): DeltaPage => ({
        items,
        link: deltaLink === null ? null : DeltaLink.make(deltaLink),
        restarted: restarts > 0 && index === 0
      })),
      Stream.catchReason("GraphError", "Gone", (_, error) =>
        restarts < mostRestarts ? round(restarts + 1) : Stream.fail(error)
      )
    )
  return Stream.withSpan(round(0), "Delta.stream")
}

/** All changes of one look. */
export interface Changes {
  /** Each item once, as it is now. */
  readonly items: ReadonlyArray<DriveItem>
  readonly link: DeltaLink | null
  /** All that is there came: what is not among the items has gone. */
  readonly restarted: boolean
}

/** All changes in one array; each item once, with its last state. For a drive whose changes fit into memory. */
export const changes = Effect.fn("Delta.changes")(function* (drive: DriveAddress, options: DeltaOptions = {}) {
  const items = new Map<ItemId, DriveItem>()
  const last: { link: DeltaLink | null; restarted: boolean } = { link: null, restarted: false }
  yield* Stream.runForEach(stream(drive, options), (page) =>
    Effect.sync(() => {
      if (page.restarted) items.clear()
      for (const item of page.items) {
        items.delete(item.id)
        items.set(item.id, item)
      }
      last.link = page.link ?? last.link
      last.restarted ||= page.restarted
    })
  )
  const all: Changes = { items: [...items.values()], ...last }
  return all
})
