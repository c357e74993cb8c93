/** What changed in a drive since the program ran last. Where it stopped is kept in a file. */
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"
import { readFile, writeFile } from "node:fs/promises"

export const main = async (stateFile: string, options?: GraphOptions) => {
  await using graph = connectGraph(options)
  const from = await readFile(stateFile, "utf8").catch(() => undefined)
  const { items, link } = await graph.delta.changes(me, { from })
  const lines = items.map(({ deleted, id, name }) =>
    deleted === undefined ? name : `${id} has gone`
  )
  if (link !== null) await writeFile(stateFile, link)
  return lines
}
