/** Two fields of the items of a list that a filter picks. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  address: string,
  author: string,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const { hostname, pathname } = new URL(address)
  const site = await graph.sites.getByUrl(hostname, pathname)
  const items = site.lists
    .getById("Books")
    .items.expand("fields($select=Title,Pages)")
    .filter(`fields/Author0 eq '${author.replaceAll("'", "''")}'`)
    .using(
      InjectHeaders({ prefer: "HonorNonIndexedQueriesWarningMayFailRandomly" })
    )
  const lines: Array<string> = []
  for await (const page of items) {
    for (const { fields } of page) {
      // Its types know no field by name.
      const field = (name: string) => Reflect.get(fields ?? {}, name)
      lines.push(`${field("Title")}, ${field("Pages")} pages`)
    }
  }
  return lines
}
