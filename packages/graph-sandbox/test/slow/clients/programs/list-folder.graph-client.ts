/** The files of a folder and how large they are, as its pages arrive. */
import {
  Client,
  type Options,
  PageIterator
} from "@microsoft/microsoft-graph-client"

interface Item {
  readonly name: string
  readonly size: number
  readonly file?: object
}

export const main = async (folder: string, options: Options) => {
  const client = Client.init(options)
  const lines: Array<string> = []
  const path = folder.split("/").map(encodeURIComponent).join("/")
  const first = await client
    .api(`/me/drive/root:${path}:/children`)
    .top(100)
    .get()
  const pages = new PageIterator(
    client,
    first,
    ({ file, name, size }: Item) => {
      if (file !== undefined) lines.push(`${name} ${size}`)
      return true
    }
  )
  await pages.iterate()
  return lines
}
