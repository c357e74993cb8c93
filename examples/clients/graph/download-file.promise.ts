/** Downloads a file into a folder. A connection that breaks is resumed where it broke, and the hash is compared. */
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"

export const main = async (
  path: string,
  to: string,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  const downloaded = await graph.files.download(me, { path }, { to })
  return downloaded.path
}
