/** What needs a file system, and connections by undici: in Node, and in what has the modules of Node. */
import { downloadTo, layer } from "@signalbox/api/node"
import { connect } from "@signalbox/api/promise"
import { mkdtemp, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Given, isScan, scan } from "./given.ts"

export const files = async ({ room: options }: Given): Promise<void> => {
  const folder = await mkdtemp("files-")
  const path = join(folder, "scan.bin")
  await writeFile(path, scan)
  await using room = connect({ ...options, connect: layer })
  const process = await room.processes.put({ name: folder, steps: [{ name: "read", task: { name: "read" } }] })
  const { id } = await room.workItems.create({ process: process.id })
  await room.workItems.attachFile(id, path)
  const [file] = (await room.workItems.get(id)).files
  if (file === undefined) throw new Error("there is no file")
  const written = await room.run(downloadTo(file, join(folder, "received")))
  if (!(await isScan([await readFile(written)]))) throw new Error("the file is not what was sent")
}
