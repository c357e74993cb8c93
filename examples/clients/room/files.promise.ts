/** Attaches a file to a work item, and downloads all of its files into a folder. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"
import { downloadTo, uploadAll } from "@signalbox/api/promise-node"

export const main = async (
  process: string,
  path: string,
  folder: string,
  options?: ConnectionOptions
) => {
  await using room = connect(options)
  const { id } = await room.workItems.create({ process })
  await uploadAll(room, id, [path])
  const { files } = await room.workItems.get(id)
  const written: Array<string> = []
  for (const file of files) written.push(await downloadTo(room, file, folder))
  console.log(written.join("\n"))
  return written
}
