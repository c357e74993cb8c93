/** Makes an item of a list of each row, in requests of twenty, and says of each row what became of it. */
import { connectGraph, type GraphOptions } from "@signalbox/graph/promise"

interface Book {
  readonly Title: string
  readonly Pages?: number
  readonly Read?: Date
}

export const main = async (
  address: string,
  books: ReadonlyArray<Book>,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  const site = await graph.sites.get(address)
  const results = await graph.lists.createItems(site.id, "Books", books)
  return results.map((result) =>
    result.outcome === "done" ? result.value.id : `${result.error._tag}`
  )
}
