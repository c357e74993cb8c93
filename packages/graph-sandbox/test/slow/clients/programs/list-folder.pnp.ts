/** The files of a folder and how large they are, as its pages arrive. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

export const main = async (folder: string, baseUrl: string, token: string) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const { children } = graph.me.drive.getItemByPath(folder.slice(1))
  const lines: Array<string> = []
  for await (const page of children.top(100)) {
    for (const { file, name, size } of page)
      if (file !== undefined) lines.push(`${name} ${size}`)
  }
  return lines
}
