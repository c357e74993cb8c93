/** One client of the graph, named by the first argument, against the sandbox of the second. */
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import * as Drive from "@signalbox/graph/Drive"
import * as Drives from "@signalbox/graph/Drives"
import { Graph } from "@signalbox/graph/Graph"
import { layer } from "@signalbox/graph/node"
import * as Uploads from "@signalbox/graph/Uploads"
import { Client } from "@microsoft/microsoft-graph-client"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { serve, timed, type Times } from "../harness/Program.ts"
import type { Sandbox } from "./sandbox.ts"

export interface Task extends Times {
  readonly call: "item" | "page" | "upload"
}

type Calls = Readonly<Record<Task["call"], (n: number) => Promise<unknown>>>

const [name = "", told = ""] = process.argv.slice(2)
const { graphUrl, origin, token }: Sandbox = JSON.parse(told)
const contents = new Uint8Array(4096).fill(7)
const file = "/Reports/7.txt"

const ours = (graph: Layer.Layer<Graph, never, AccessTokens>): Calls => {
  const runtime = ManagedRuntime.make(Layer.provide(graph, AccessTokens.layerFixed(Redacted.make(token))))
  const item = Drives.item(Drive.me, { path: file })
  const page = Stream.runCollect(Drives.children(Drive.me, { path: "/Reports" }))
  const source = { size: contents.length, stream: Stream.make(contents) }
  return {
    item: () => runtime.runPromise(item),
    page: () => runtime.runPromise(page),
    upload: (n) => runtime.runPromise(Uploads.upload(Drive.me, { path: `/Uploads/${n % 16}.bin` }, source))
  }
}

const microsoft = (): Calls => {
  const client = Client.init({
    baseUrl: `${origin}/`,
    customHosts: new Set(["localhost"]),
    authProvider: (done) => done(null, token)
  })
  return {
    item: () => client.api(`/me/drive/root:${file}`).get(),
    page: () => client.api("/me/drive/root:/Reports:/children").top(999).get(),
    upload: (n) => client.api(`/me/drive/root:/Uploads/${n % 16}.bin:/content`).put(contents)
  }
}

const clients: Readonly<Record<string, () => Calls>> = {
  undici: () => ours(layer({ graphUrl })),
  fetch: () => ours(Graph.layer({ graphUrl })),
  microsoft
}
const calls = clients[name]?.()
if (calls === undefined) throw new Error(`no client is called ${name}`)
serve(async ({ call, ...times }: Task) => timed(times, calls[call]))
