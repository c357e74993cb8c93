/** Two fields of the items of a list that a filter picks. */
import {
  Client,
  type Options,
  PageIterator
} from "@microsoft/microsoft-graph-client"

interface Item {
  readonly fields: { readonly Title: string; readonly Pages: number }
}

export const main = async (
  address: string,
  author: string,
  options: Options
) => {
  const client = Client.init(options)
  const { hostname, pathname } = new URL(address)
  const site = await client.api(`/sites/${hostname}:${pathname}`).get()
  const headers = { Prefer: "HonorNonIndexedQueriesWarningMayFailRandomly" }
  const lines: Array<string> = []
  const first = await client
    .api(`/sites/${site.id}/lists/Books/items`)
    .expand("fields($select=Title,Pages)")
    .filter(`fields/Author0 eq '${author.replaceAll("'", "''")}'`)
    .headers(headers)
    .get()
  const add = ({ fields }: Item) =>
    lines.push(`${fields.Title}, ${fields.Pages} pages`) > 0
  await new PageIterator(client, first, add, { headers }).iterate()
  return lines
}
