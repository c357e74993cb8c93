/** Downloads a file into a folder, as a whole in memory. A connection that breaks ends it, and the hash is not compared. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  path: string,
  to: string,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const blob = await graph.me.drive.getItemByPath(path.slice(1)).getContent()
  const written = join(to, basename(path))
  await writeFile(written, blob.stream())
  return written
}
