/**
 * One client of an HTTP API, named by the first argument, that calls the server at the port of the second.
 */
import { layer as connectNode } from "@signalbox/api/node"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import OpenAI from "openai"
import { Stripe } from "stripe"
import { serve, timed, type Times } from "../harness/Program.ts"

export interface Task extends Times {
  readonly method: "get" | "post"
}

type Calls = Readonly<Record<Task["method"], () => Promise<unknown>>>

const [name = "", port = ""] = process.argv.slice(2)
const origin = `http://127.0.0.1:${port}`

const ours = (layer: typeof ControlRoom.layer): Calls => {
  const workspaceId = WorkspaceId.make("01a1fdad-f796-70a7-a904-9ba58ce5b4a2")
  const runtime = ManagedRuntime.make(layer({ baseUrl: origin, workspaceId, apiKey: Redacted.make("key") }))
  const item = WorkItemId.make("01a1fdad-f7fb-7550-b1c8-2a7d99939de9")
  const process = ProcessId.make("01a1fdad-f7f3-7475-9e3e-2d183f9abf25")
  const [get, post] = [WorkItems.get(item), WorkItems.create({ process, payload: { order: 17, customer: "Ada" } })]
  return { get: () => runtime.runPromise(get), post: () => runtime.runPromise(post) }
}

const stripe = (httpClient?: ReturnType<typeof Stripe.createFetchHttpClient>): Calls => {
  const client = new Stripe("sk_test_key", {
    host: "127.0.0.1",
    port,
    protocol: "http",
    telemetry: false,
    ...(httpClient === undefined ? {} : { httpClient })
  })
  return {
    get: () => client.customers.retrieve("cus_1"),
    post: () => client.customers.create({ name: "Ada", metadata: { order: "17" } })
  }
}

const openai = (): Calls => {
  const client = new OpenAI({ apiKey: "key", baseURL: origin })
  return {
    get: () => client.models.retrieve("m"),
    post: () => client.embeddings.create({ model: "m", input: "Ada", encoding_format: "float" })
  }
}

const clients: Readonly<Record<string, () => Calls>> = {
  undici: () => ours(connectNode),
  fetch: () => ours(ControlRoom.layer),
  stripe: () => stripe(),
  stripeFetch: () => stripe(Stripe.createFetchHttpClient()),
  openai
}
const calls = clients[name]?.()
if (calls === undefined) throw new Error(`no client is called ${name}`)
serve(({ method, ...times }: Task) => timed(times, calls[method]))
