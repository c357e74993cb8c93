/** Uploads a local file and says how far it is. */
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"

export const main = async (
  localPath: string,
  path: string,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  const { size } = await graph.files.upload(me, { path }, localPath, {
    onProgress: ({ sent, total }) =>
      console.log(`${Math.floor((100 * sent) / total)} %`)
  })
  return size
}
