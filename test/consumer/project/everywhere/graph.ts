/** The client of the graph with promises, for Node, Deno and Bun: what is given is in the environment. */
import { connectGraph, driveOf, NotFound, path, root } from "@signalbox/graph/promise"
import { mkdtemp, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import process from "node:process"
import { isScan, scan } from "./given.ts"

const { authority, client_id: clientId, client_secret: clientSecret, tenant } = JSON.parse(process.env["GIVEN"] ?? "")
const { origin } = new URL(authority)
const expect = (what: string, isSo: boolean) => {
  if (!isSo) throw new Error(`not so: ${what}`)
}

const folder = await mkdtemp("graph-")
await writeFile(join(folder, "scan.bin"), scan)
const retries: Array<number | null> = []
await using graph = connectGraph({
  credentials: { tenant, clientId, clientSecret },
  graphUrl: origin,
  loginUrl: origin,
  on: { onRetry: ({ status }) => retries.push(status) }
})
const drive = driveOf({ user: "ann@contoso.test" })
await graph.files.upload(drive, { path: `/${folder}/path.bin` }, join(folder, "scan.bin"))
await graph.uploads.upload(drive, { path: `/${folder}/bytes.bin` }, scan)
const names: Array<string> = []
for await (const { name } of graph.drives.children(drive, { path: `/${folder}` })) names.push(name ?? "")
expect("both files are there", names.sort().join() === "bytes.bin,path.bin")
const downloaded = await graph.files.download(drive, { path: `/${folder}/bytes.bin` }, { to: join(folder, "to") })
expect("a download is what was sent", await isScan([await readFile(downloaded.path)]))
const results = await graph.batch.all(["ann@contoso.test", "nobody"], (name) => ({ path: path`/users/${name}` }))
expect("a batch has a result each", results.map(({ outcome }) => outcome).join() === "done,refused")
const missing = await graph.drives.item(drive, { path: "/missing" }).catch((error: unknown) => error)
expect("what does not exist is an error", missing instanceof NotFound)
const reason = new Error("enough")
const ended = graph.withSignal(AbortSignal.abort(reason))
const aborted = await ended.drives.get(drive).catch((error: unknown) => error)
expect("a signal ends a call", aborted === reason)
expect("nothing was sent again", retries.length === 0)
await graph.drives.remove(drive, { path: `/${folder}` })
for await (const { name } of graph.drives.children(drive, root)) expect("the folder is gone", name !== folder)
