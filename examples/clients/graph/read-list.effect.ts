/** Two fields of the items of a list that a filter picks. */
import * as Lists from "@signalbox/graph/Lists"
import { odataText } from "@signalbox/graph/Path"
import * as Sites from "@signalbox/graph/Sites"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export const main = Effect.fnUntraced(function* (
  address: string,
  author: string
) {
  const site = yield* Sites.get(address)
  const filter = `fields/Author0 eq ${odataText(author)}`
  return yield* Lists.items(site.id, "Books", {
    fields: ["Title", "Pages"],
    filter
  }).pipe(
    Stream.map(
      ({ fields }) => `${fields?.["Title"]}, ${fields?.["Pages"]} pages`
    ),
    Stream.runCollect
  )
})
