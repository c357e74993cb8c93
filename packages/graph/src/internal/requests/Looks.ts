/**
 * Looks for changes: pages by delta, from a link that an earlier look ended with or from the beginning.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import { type Call, pages, refuse } from "./Call.ts"
import { shownAddress } from "./Transport.ts"

/** Where a look ended: what the next one begins with. Keep it as text. */
export const DeltaLink = Schema.String.pipe(Schema.brand("DeltaLink"))
export type DeltaLink = typeof DeltaLink.Type

/** Some changes, in order: an item may come again, and then as it is now. What has gone has the facet `deleted`. */
export interface PageOf<A> {
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
export interface ChangesOf<A> {
  /** Each item once, as it is now. */
  readonly items: ReadonlyArray<A>
  readonly link: DeltaLink | null
  /** All that is there came: what is not among the items has gone. */
  readonly restarted: boolean
}

/** Where a look begins. */
export interface From {
  /** Where the last look ended. Default: all that is there comes. `latest`: nothing comes but a link for the next look. */
  readonly from?: DeltaLink | "latest" | undefined
}

/** More restarts than this within one look are no accident. */
const mostRestarts = 3

/** Makes a function that looks for changes of things of a schema; `start` is the call of the first look. */
export const looks = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const deltaPages = pages(schema)
  return (start: Call, { from }: From): Stream.Stream<PageOf<S["Type"]>, GraphError, Graph> => {
    const first = deltaPages({ ...start, query: { ...start.query, token: from === "latest" ? "latest" : undefined } })
    const resume = (link: DeltaLink) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const { origin } = yield* Graph
          const isOwn = URL.canParse(link) && new URL(link).origin === origin
          if (isOwn) return deltaPages(start.headers === undefined ? { link } : { link, headers: start.headers })
          return yield* refuse("GET", shownAddress(origin, link), "the delta link does not belong to this service")
        })
      )
    const round = (restarts: number): Stream.Stream<PageOf<S["Type"]>, GraphError, Graph> =>
      (from === undefined || from === "latest" || restarts > 0 ? first : resume(from)).pipe(
        Stream.zipWithIndex,
        Stream.map(([{ deltaLink, items }, index]): PageOf<S["Type"]> => ({
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
}

/** All changes of a look; each item once, with its last state. */
export const collect = Effect.fnUntraced(function* <A extends { readonly id: string }>(
  look: Stream.Stream<PageOf<A>, GraphError, Graph>
): Effect.fn.Return<ChangesOf<A>, GraphError, Graph> {
  const items = new Map<string, A>()
  const last: { link: DeltaLink | null; restarted: boolean } = { link: null, restarted: false }
  yield* Stream.runForEach(look, (page) =>
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
  return { items: [...items.values()], ...last }
})
