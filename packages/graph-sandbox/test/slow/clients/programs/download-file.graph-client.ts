/** Downloads a file into a folder. A connection that breaks ends it, and the hash is not compared. */
import { Client, type Options } from "@microsoft/microsoft-graph-client"
import { writeFile } from "node:fs/promises"
import { basename, join } from "node:path"

export const main = async (path: string, to: string, options: Options) => {
  const client = Client.init(options)
  const encoded = path.split("/").map(encodeURIComponent).join("/")
  const stream = await client
    .api(`/me/drive/root:${encoded}:/content`)
    .getStream()
  const written = join(to, basename(path))
  await writeFile(written, stream)
  return written
}
