/** Uploads a local file and says how far it is. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { open } from "node:fs/promises"
import { posix } from "node:path"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  localPath: string,
  path: string,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const drive = graph.drives.getById((await graph.me.drive()).id ?? "")
  const { base: name, dir } = posix.parse(path)
  const { id } = await drive.getItemByPath(dir.slice(1))()
  const { resumableUpload } = await drive
    .getItemById(id ?? "")
    .createUploadSession({ item: { name }, conflictBehavior: "replace" })
  await using file = await open(localPath)
  const { size } = await file.stat()
  for (let sent = 0; sent < size;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.min(32 * 327_680, size - sent))
    )
    await resumableUpload.upload(
      bytesRead,
      buffer,
      `bytes ${sent}-${sent + bytesRead - 1}/${size}`
    )
    sent += bytesRead
    console.log(`${Math.floor((100 * sent) / size)} %`)
  }
  return size
}
