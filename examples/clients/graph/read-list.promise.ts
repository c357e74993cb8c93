/** Two fields of the items of a list that a filter picks. */
import {
  connectGraph,
  type GraphOptions,
  odataText
} from "@signalbox/graph/promise"

export const main = async (
  address: string,
  author: string,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  const site = await graph.sites.get(address)
  const filter = `fields/Author0 eq ${odataText(author)}`
  const lines: Array<string> = []
  for await (const { fields } of graph.lists.items(site.id, "Books", {
    fields: ["Title", "Pages"],
    filter
  })) {
    lines.push(`${fields?.["Title"]}, ${fields?.["Pages"]} pages`)
  }
  return lines
}
