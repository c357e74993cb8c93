/** Searches a drive and moves the files that are found into a folder. */
import {
  Client,
  GraphError,
  type Options,
  PageIterator
} from "@microsoft/microsoft-graph-client"

interface Item {
  readonly id: string
  readonly name: string
  readonly file?: object
  readonly parentReference?: { readonly id: string }
}

export const main = async (text: string, target: string, options: Options) => {
  const client = Client.init(options)
  const conflictBehavior = "@microsoft.graph.conflictBehavior"
  let folder: Item = await client.api("/me/drive/root").get()
  for (const name of target.split("/").slice(1)) {
    const above = `/me/drive/items/${folder.id}`
    try {
      folder = await client.api(`${above}:/${encodeURIComponent(name)}`).get()
    } catch (error) {
      if (!(error instanceof GraphError) || error.statusCode !== 404)
        throw error
      folder = await client
        .api(`${above}/children`)
        .post({ name, folder: {}, [conflictBehavior]: "fail" })
    }
  }
  const found: Array<Item> = []
  const quoted = encodeURIComponent(text.replaceAll("'", "''"))
  const first = await client.api(`/me/drive/root/search(q='${quoted}')`).get()
  await new PageIterator(
    client,
    first,
    (item: Item) => found.push(item) > 0
  ).iterate()
  const moved: Array<string> = []
  for (const { file, id, parentReference } of found) {
    if (file === undefined || parentReference?.id === folder.id) continue
    const { name } = await client.api(`/me/drive/items/${id}`).patch({
      parentReference: { id: folder.id },
      [conflictBehavior]: "rename"
    })
    moved.push(name)
  }
  return moved
}
