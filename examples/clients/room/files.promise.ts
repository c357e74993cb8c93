/** Attaches a file to a work item, and downloads all of its files into a folder. */
import { downloadTo, layer } from "@signalbox/api/node"
import { connect, type ConnectionOptions } from "@signalbox/api/promise"

export const main = async (
  process: string,
  path: string,
  folder: string,
  options?: ConnectionOptions
) => {
  await using room = connect({ ...options, connect: layer })
  const { id } = await room.workItems.create({ process })
  await room.workItems.attachFile(id, path)
  const { files } = await room.workItems.get(id)
  const written: Array<string> = []
  for (const file of files)
    written.push(await room.run(downloadTo(file, folder)))
  console.log(written.join("\n"))
  return written
}
