/** The files of a folder and how large they are, as its pages arrive. */
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"

export const main = async (folder: string, options?: GraphOptions) => {
  await using graph = connectGraph(options)
  const lines: Array<string> = []
  for await (const { file, name, size } of graph.drives.children(
    me,
    { path: folder },
    { pageSize: 100 }
  )) {
    if (file !== undefined) lines.push(`${name} ${size}`)
  }
  return lines
}
