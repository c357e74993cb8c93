/** What changed in a drive since the program ran last. Where it stopped is kept in a file. */
import {
  Client,
  type Options,
  PageIterator
} from "@microsoft/microsoft-graph-client"
import { readFile, writeFile } from "node:fs/promises"

interface Item {
  readonly id: string
  readonly name: string
  readonly deleted?: object
}

export const main = async (stateFile: string, options: Options) => {
  const client = Client.init(options)
  const from = await readFile(stateFile, "utf8").catch(
    () => "/me/drive/root/delta"
  )
  const lines: Array<string> = []
  const pages = new PageIterator(
    client,
    await client.api(from).get(),
    ({ deleted, id, name }: Item) => {
      lines.push(deleted === undefined ? name : `${id} has gone`)
      return true
    }
  )
  await pages.iterate()
  const link = pages.getDeltaLink()
  if (link !== undefined) await writeFile(stateFile, link)
  return lines
}
