/** Searches a drive and moves the files that are found into a folder. */
import { GraphDefault } from "@pnp/nodejs"
import { HttpRequestError, InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  text: string,
  target: string,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const drive = graph.drives.getById((await graph.me.drive()).id ?? "")
  let { id: folder = "" } = await drive.root()
  const names = target.split("/").slice(1)
  for (const [index, name] of names.entries()) {
    const path = names.slice(0, index + 1).join("/")
    try {
      folder = (await drive.getItemByPath(path)()).id ?? ""
    } catch (error) {
      if (!(error instanceof HttpRequestError) || error.status !== 404)
        throw error
      const made = await drive
        .getItemById(folder)
        .children.addFolder({ name, conflictBehavior: "fail" })
      folder = made.id ?? ""
    }
  }
  const moved: Array<string> = []
  for await (const page of drive.root.search(text.replaceAll("'", "''"))) {
    for (const { file, id, parentReference } of page) {
      if (file === undefined || parentReference?.id === folder) continue
      const { name } = await drive.getItemById(id).update({
        parentReference: { id: folder },
        "@microsoft.graph.conflictBehavior": "rename"
      })
      moved.push(name)
    }
  }
  return moved
}
