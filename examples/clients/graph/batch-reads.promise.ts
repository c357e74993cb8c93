/** Twenty people in one request. One who does not exist is a result, too. */
import { connectGraph, type GraphOptions, path } from "@signalbox/graph/promise"

export const main = async (
  names: ReadonlyArray<string>,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  const results = await graph.batch.all(names, (name) => ({
    path: path`/users/${name}`
  }))
  return names.filter((_, index) => results[index]?.outcome !== "done")
}
