/** Downloads a folder with all below it. Run it again, and only what is missing comes. */
import {
  connectGraph,
  FolderIncomplete,
  type GraphOptions,
  me
} from "@signalbox/graph/promise"

export const main = async (
  folder: string,
  to: string,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  try {
    const { files, present } = await graph.files.downloadFolder(
      me,
      { path: folder },
      { to }
    )
    return { files, present, failed: [] }
  } catch (error) {
    if (!(error instanceof FolderIncomplete)) throw error
    const { failures, files, present } = error.report
    return { files, present, failed: failures.map(({ path }) => path) }
  }
}
