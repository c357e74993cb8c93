/** Makes an item of a list of each row, in requests of twenty, and says of each row what became of it. */
import * as Lists from "@signalbox/graph/Lists"
import * as Sites from "@signalbox/graph/Sites"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

interface Book {
  readonly Title: string
  readonly Pages?: number
  readonly Read?: Date
}

export const main = Effect.fnUntraced(function* (
  address: string,
  books: ReadonlyArray<Book>
) {
  const site = yield* Sites.get(address)
  const results = yield* Lists.createItems(site.id, "Books", books)
  return results.map(
    Result.match({
      onSuccess: ({ id }) => id,
      onFailure: ({ reason }) => reason._tag
    })
  )
})
