/** Downloads a folder with all below it. Run it again, and what is as large as its file there is not fetched. */
import {
  Client,
  type Options,
  PageIterator
} from "@microsoft/microsoft-graph-client"
import { mkdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"

interface Item {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly file?: object
}

export const main = async (folder: string, to: string, options: Options) => {
  const client = Client.init(options)
  const failed: Array<string> = []
  let [files, present] = [0, 0]
  const download = async (from: string, local: string) => {
    await mkdir(local, { recursive: true })
    const path = from.split("/").map(encodeURIComponent).join("/")
    const children: Array<Item> = []
    const first = await client.api(`/me/drive/root:${path}:/children`).get()
    await new PageIterator(
      client,
      first,
      (item: Item) => children.push(item) > 0
    ).iterate()
    for (const { file, id, name, size } of children) {
      const target = join(local, name)
      const found = await stat(target).catch(() => undefined)
      if (file === undefined) await download(`${from}/${name}`, target)
      else if (found?.size === size) present++
      else {
        try {
          await writeFile(
            target,
            await client.api(`/me/drive/items/${id}/content`).getStream()
          )
          files++
        } catch {
          failed.push(`${from}/${name}`)
        }
      }
    }
  }
  await download(folder, to)
  return { files, present, failed }
}
