/** Searches a drive and moves the files that are found into a folder. */
import {
  connectGraph,
  type GraphOptions,
  me,
  root
} from "@signalbox/graph/promise"

export const main = async (
  text: string,
  target: string,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  const folder = await graph.drives.ensureFolder(me, target)
  const moved: Array<string> = []
  for await (const item of graph.drives.search(me, text, { within: root })) {
    if (item.file === undefined || item.parentReference?.id === folder.id)
      continue
    const { name } = await graph.drives.move(me, item, {
      to: { folder },
      conflict: "rename"
    })
    moved.push(name ?? "")
  }
  return moved
}
