/** Downloads a folder with all below it. Run it again, and what is as large as its file there is not fetched. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { mkdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  folder: string,
  to: string,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const failed: Array<string> = []
  let [files, present] = [0, 0]
  const download = async (from: string, local: string) => {
    await mkdir(local, { recursive: true })
    const { children } = graph.me.drive.getItemByPath(from)
    for await (const page of children) {
      for (const { file, name, size } of page) {
        const [source, target] = [`${from}/${name}`, join(local, name ?? "")]
        const found = await stat(target).catch(() => undefined)
        if (file === undefined) await download(source, target)
        else if (found?.size === size) present++
        else {
          try {
            const blob = await graph.me.drive.getItemByPath(source).getContent()
            await writeFile(target, blob.stream())
            files++
          } catch {
            failed.push(source)
          }
        }
      }
    }
  }
  await download(folder.slice(1), to)
  return { files, present, failed }
}
