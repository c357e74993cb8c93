/**
 * Changes of a collection since a look at it: pages, from a link or from the beginning, and the link for the next look.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import { type Call, type DecodedPage, refused, unsent } from "./Call.ts"
import { shownAddress } from "./Transport.ts"

/** Where a look ended: what the next one begins with. Keep it as text. */
export const DeltaLink = Schema.String.pipe(Schema.brand("DeltaLink"))
export type DeltaLink = typeof DeltaLink.Type

/** Some changes, in order: an item may come again, and then as it is now. */
export interface ChangesPage<A> {
  readonly items: ReadonlyArray<A>
  /** On the last page: where the next look begins. */
  readonly link: DeltaLink | null
  /**
   * The service does not know the link any more: from this page on, all that is there comes from the beginning. Forget what came
   * before; what does not come again has gone.
   */
  readonly restarted: boolean
}

/** All changes of one look. */
export interface CollectedChanges<A> {
  /** Each item once, as it is now. */
  readonly items: ReadonlyArray<A>
  readonly link: DeltaLink | null
  /** All that is there came: what is not among the items has gone. */
  readonly restarted: boolean
}

type Pages<A> = (
  call: Call | { readonly link: string; readonly headers?: Call["headers"] }
) => Stream.Stream<DecodedPage<A>, GraphError, Graph>

/** More restarts than this within one look are no accident. */
const mostRestarts = 3

/** The pages of a look, without a span; a link that the service does not know any more gives way to the beginning. */
export const follow = <A>(
  pages: Pages<A>,
  operation: string,
  start: Call,
  link: DeltaLink | undefined
): Stream.Stream<ChangesPage<A>, GraphError, Graph> => {
  const resume = (link: DeltaLink) =>
    Stream.unwrap(
      Effect.map(Graph, ({ origin }) =>
        URL.canParse(link) && new URL(link).origin === origin
          ? pages({ link, headers: start.headers })
          : Stream.fail(
              refused(
                unsent("GET", shownAddress(origin, link), operation),
                "the delta link does not belong to this service"
              )
            )
      )
    )
  const round = (restarts: number): Stream.Stream<ChangesPage<A>, GraphError, Graph> =>
    (link === undefined || restarts > 0 ? pages(start) : resume(link)).pipe(
      Stream.zipWithIndex,
      Stream.map(([{ deltaLink, items }, index]): ChangesPage<A> => ({
        items,
        link: deltaLink === null ? null : DeltaLink.make(deltaLink),
        restarted: restarts > 0 && index === 0
      })),
      Stream.catchReason("GraphError", "Gone", (_, error) =>
        restarts < mostRestarts ? round(restarts + 1) : Stream.fail(error)
      )
    )
  return round(0)
}

/** All changes in one array; each item once, with its last state. */
export const collect = Effect.fnUntraced(function* <A extends { readonly id: string }, E, R>(
  pages: Stream.Stream<ChangesPage<A>, E, R>
) {
  const items = new Map<string, A>()
  const last: { link: DeltaLink | null; restarted: boolean } = { link: null, restarted: false }
  yield* Stream.runForEach(pages, (page) =>
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
  const all: CollectedChanges<A> = { items: [...items.values()], ...last }
  return all
})
