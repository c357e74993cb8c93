/**
 * Calls per second of the client beside stripe-node and openai-node: one GET of a small object and one POST, against the
 * same server in a separate process. The contenders take turns, and the medians of the rounds are compared.
 */
import { layer as connectNode } from "@signalbox/api/node"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import OpenAI from "openai"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { Stripe } from "stripe"
import { row } from "./Table.ts"

interface Contender {
  readonly name: string
  /** Calls `count` times, so many concurrently. */
  readonly get: (count: number, concurrency: number) => Promise<unknown>
  readonly post: (count: number, concurrency: number) => Promise<unknown>
}

const rounds = 5
const calls = 3000
const concurrencies = [1, 16]

const server = spawn(process.execPath, [join(import.meta.dirname, "server.ts")], {
  stdio: ["ignore", "pipe", "inherit"]
})
const [output] = await once(server.stdout, "data")
const port = Number(String(output).trim())
const origin = `http://127.0.0.1:${port}`

/** Runs a promise-returning call in so many loops. */
const loops = (call: () => Promise<unknown>) => (count: number, concurrency: number) =>
  Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let n = 0; n < count / concurrency; n++) await call()
    })
  )

const ours = (name: string, layer: typeof ControlRoom.layer): Contender => {
  const workspaceId = WorkspaceId.make("01a1fdad-f796-70a7-a904-9ba58ce5b4a2")
  const runtime = ManagedRuntime.make(layer({ baseUrl: origin, workspaceId, apiKey: Redacted.make("key") }))
  const item = WorkItemId.make("01a1fdad-f7fb-7550-b1c8-2a7d99939de9")
  const process = ProcessId.make("01a1fdad-f7f3-7475-9e3e-2d183f9abf25")
  const times = (call: Effect.Effect<unknown, unknown, ControlRoom>) => (count: number, concurrency: number) =>
    runtime.runPromise(
      Effect.all(
        Array.from({ length: count }, () => call),
        { concurrency, discard: true }
      )
    )
  return {
    name,
    get: times(WorkItems.get(item)),
    post: times(WorkItems.create({ process, payload: { order: 17, customer: "Ada" } }))
  }
}

const stripe = (name: string, httpClient?: ReturnType<typeof Stripe.createFetchHttpClient>): Contender => {
  const client = new Stripe("sk_test_key", {
    host: "127.0.0.1",
    port,
    protocol: "http",
    telemetry: false,
    ...(httpClient === undefined ? {} : { httpClient })
  })
  return {
    name,
    get: loops(() => client.customers.retrieve("cus_1")),
    post: loops(() => client.customers.create({ name: "Ada", metadata: { order: "17" } }))
  }
}

const openai = (): Contender => {
  const client = new OpenAI({ apiKey: "key", baseURL: origin })
  return {
    name: "openai-node (fetch)",
    get: loops(() => client.models.retrieve("m")),
    post: loops(() => client.embeddings.create({ model: "m", input: "Ada", encoding_format: "float" }))
  }
}

const contenders: ReadonlyArray<Contender> = [
  ours("signalbox (undici)", connectNode),
  ours("signalbox (fetch)", ControlRoom.layer),
  stripe("stripe-node (node:http)"),
  stripe("stripe-node (fetch)", Stripe.createFetchHttpClient()),
  openai()
]

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const perSecond = async (run: () => Promise<unknown>) => {
  const before = performance.now()
  await run()
  return calls / ((performance.now() - before) / 1000)
}

for (const contender of contenders) {
  await contender.get(1000, 16)
  await contender.post(1000, 16)
}

for (const method of ["get", "post"] as const) {
  for (const concurrency of concurrencies) {
    const results = new Map<string, Array<number>>(contenders.map(({ name }) => [name, []]))
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) {
        results.get(contender.name)?.push(await perSecond(() => contender[method](calls, concurrency)))
      }
    }
    const reference = median(results.get("stripe-node (fetch)") ?? [])
    console.log(
      `${method.toUpperCase()}, ${concurrency} at once: calls per second, and the ratio to stripe-node (fetch)`
    )
    for (const [name, values] of results) {
      const value = median(values)
      row(`${method.toUpperCase()}, ${concurrency} at once: ${name}`, `${value.toFixed(0)}/s`, {
        ratio: value / reference,
        than: "stripe-node (fetch)"
      })
      console.log(`  ${name.padEnd(26)} ${value.toFixed(0).padStart(6)}  ${(value / reference).toFixed(2)}`)
    }
  }
}
server.kill()
process.exit(0)
