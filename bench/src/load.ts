/**
 * The service under a mixed load, as its users make it: `signalbox up` as a process, and 32 connections that create work
 * items (some with an idempotency key), start runs of a task in the process of the service, and read items, pages, runs and
 * consoles; every run is delivered to a webhook. Prints the latency of these clients, how long the event loop of the service
 * was blocked, and its memory over time.
 *
 * `node bench/src/load.ts [--seconds 60] [--connections 32] [--rate 600] [--hostile] [--bin path]`
 *
 * `--rate`: requests a second of all connections together; 0: as fast as they are answered. `--hostile`: the same once more
 * beside four hostile clients (bodies that come a byte at a time, pages of large payloads without end, a flood without a
 * key, requests that never end), with the ratio to the time before. `--bin`: the command of another checkout.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent, createServer, type IncomingMessage, request as send } from "node:http"
import { connect, type Socket } from "node:net"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import type { Second } from "./loopDelay.ts"

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    connections: { type: "string", default: "32" },
    rate: { type: "string", default: "600" },
    hostile: { type: "boolean", default: false },
    bin: { type: "string", default: join(import.meta.dirname, "../../packages/signalbox/src/bin.ts") }
  }
})
const seconds = Number(options.seconds)
const connections = Number(options.connections)
const rate = Number(options.rate)

const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const loopFile = join(folder, "loop")

let events = 0
const receiver = createServer((incoming, outgoing) => {
  incoming.resume().once("end", () => {
    events++
    outgoing.end()
  })
})
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
const address = receiver.address()
const receiverPort = typeof address === "object" && address !== null ? address.port : 0

interface Ready {
  readonly base_url: string
  readonly workspace_id: string
  readonly api_key: string
}

const child = spawn(
  process.execPath,
  [
    `--import=${join(import.meta.dirname, "loopDelay.ts")}`,
    options.bin,
    "up",
    "--json",
    "--port=0",
    "--workers=4",
    // None for the key of this load, but the budget of strangers is in force.
    "--rate-limit=100000:100000",
    `--data=${join(folder, "data")}`,
    `--tasks=${join(import.meta.dirname, "loadTasks.ts")}`
  ],
  { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, LOOP_DELAY_FILE: loopFile } }
)
const ready = await new Promise<Ready>((resolve, reject) => {
  child.stdout.once("data", (line: Buffer) => resolve(JSON.parse(line.toString())))
  child.once("exit", () => reject(new Error("the service did not start")))
})
const base = `${ready.base_url}/workspaces/${ready.workspace_id}`
const headers = { authorization: `RC-WSKEY ${ready.api_key}`, "content-type": "application/json" }

interface Answer {
  readonly status: number
  readonly body: string
}

const ask = (agent: Agent, method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const outgoing = send(`${base}/${path}`, { method, agent, headers: { ...headers, ...more } }, (answer) => {
      const chunks: Array<Buffer> = []
      answer.on("data", (chunk: Buffer) => chunks.push(chunk))
      answer.once("error", reject)
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
    })
    outgoing.once("error", reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })

const setup = new Agent({ keepAlive: true })
const created = async (path: string, body: unknown): Promise<string> => {
  const answer = await ask(setup, "POST", path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.body}`)
  return (JSON.parse(answer.body) as { readonly id: string }).id
}
const steps = [{ name: "s", task: { name: "work" }, max_parallel: 4 }]
const process_ = { id: await created("processes", { name: "load", steps }) }
const large = { id: await created("processes", { name: "large", steps }) }
await created("webhooks", {
  endpoint: `http://127.0.0.1:${receiverPort}/`,
  process: { id: process_.id },
  enabled_events: ["process_run.started", "process_run.completed", "process_run.unresolved"]
})
for (let n = 0; n < 500; n++) await created("work-items", { process: large, payload: "x".repeat(100_000) })

/** What was made last, for reads. */
const known = { item: await created("work-items", { process: process_, payload: 1 }), run: "", stepRun: "" }
const payload = { order: 17, customer: "Ada", lines: [{ sku: "a", n: 1 }] }

const operations: ReadonlyArray<readonly [weight: number, (agent: Agent) => Promise<Answer>]> = [
  [
    25,
    async (agent) => {
      const answer = await ask(agent, "POST", "work-items", { process: process_, payload })
      if (answer.status === 200) known.item = (JSON.parse(answer.body) as { readonly id: string }).id
      return answer
    }
  ],
  [
    15,
    (agent) =>
      ask(agent, "POST", "work-items", { process: process_, payload }, { "idempotency-key": crypto.randomUUID() })
  ],
  [
    8,
    async (agent) => {
      const body = { type: "with_payloads", payloads: [payload, payload] }
      const answer = await ask(agent, "POST", `processes/${process_.id}/process-runs`, body)
      if (answer.status === 200) known.run = (JSON.parse(answer.body) as { readonly id: string }).id
      return answer
    }
  ],
  [20, (agent) => ask(agent, "GET", `work-items/${known.item}`)],
  [14, (agent) => ask(agent, "GET", "work-items?limit=100")],
  [4, (agent) => ask(agent, "GET", `work-items?include_data=true&limit=20&process_id=${process_.id}`)],
  [6, (agent) => ask(agent, "GET", known.run === "" ? "process-runs" : `process-runs/${known.run}`)],
  [
    4,
    async (agent) => {
      const answer = await ask(agent, "GET", known.run === "" ? "processes" : `step-runs?process_run_id=${known.run}`)
      const [first] = (JSON.parse(answer.body) as { readonly data?: ReadonlyArray<{ readonly id: string }> }).data ?? []
      if (known.run !== "" && first !== undefined) known.stepRun = first.id
      return answer
    }
  ],
  [4, (agent) => ask(agent, "GET", known.stepRun === "" ? "processes" : `step-runs/${known.stepRun}/console-messages`)]
]
const total = operations.reduce((sum, [weight]) => sum + weight, 0)
const pick = () => {
  let at = Math.random() * total
  return operations.find(([weight]) => (at -= weight) < 0) ?? operations[0]
}

const percentile = (sorted: ReadonlyArray<number>, part: number) => sorted[Math.floor(sorted.length * part)] ?? 0

interface Phase {
  readonly requests: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
}

/** The good clients, for so long. */
const phase = async (name: string, seconds: number): Promise<Phase> => {
  const from = readFileSync(loopFile, "utf8").trim().split("\n").length
  const until = performance.now() + seconds * 1000
  const times: Array<number> = []
  const failures = new Map<string, number>()
  const client = async (index: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const pause = rate === 0 ? 0 : (1000 * connections) / rate
    let due = performance.now() + (pause * index) / connections
    while (performance.now() < until) {
      const wait = due - performance.now()
      if (wait > 0) await sleep(wait)
      const begun = performance.now()
      const answer = await (pick()?.[1](agent) ?? ask(agent, "GET", "processes")).catch((error: unknown) => ({
        status: 0,
        body: String(error)
      }))
      times.push(performance.now() - begun)
      if (answer.status !== 200) {
        const what = `${answer.status} ${answer.body.slice(0, 100)}`
        failures.set(what, (failures.get(what) ?? 0) + 1)
      }
      // A delayed client does not catch up afterwards.
      due = Math.max(due + pause, performance.now())
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => client(index)))
  times.sort((a, b) => a - b)
  const loop = readFileSync(loopFile, "utf8")
    .trim()
    .split("\n")
    .slice(from)
    .map((line) => JSON.parse(line) as Second)
  const result = {
    requests: times.length,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    longest: times.at(-1) ?? 0
  }
  const held = loop.map(({ longest }) => longest).toSorted((a, b) => a - b)
  const ms = (value: number) => `${value.toFixed(1)} ms`
  console.log(
    [
      `${name}: ${result.requests} requests, ${(result.requests / seconds).toFixed(0)} a second, ${events} events`,
      `  latency     p50 ${ms(result.p50)}, p99 ${ms(result.p99)}, longest ${ms(result.longest)}`,
      `  loop held   median of the seconds ${ms(percentile(held, 0.5))}, p99 ${ms(percentile(held, 0.99))}, longest ${ms(held.at(-1) ?? 0)}`,
      `  heap in MB  ${tenths(loop.map(({ heap }) => heap))}`,
      `  rss in MB   ${tenths(loop.map(({ rss }) => rss))}`,
      ...[...failures].map(([what, count]) => `  failed      ${count} × ${what}`),
      `  load average of the machine ${loadavg()
        .map((value) => value.toFixed(1))
        .join(" ")}`
    ].join("\n")
  )
  return result
}

/** The least in each tenth of the time: what was not garbage. */
const tenths = (values: ReadonlyArray<number>) => {
  const size = Math.max(1, Math.ceil(values.length / 10))
  return Array.from({ length: Math.ceil(values.length / size) }, (_, n) =>
    Math.min(...values.slice(n * size, (n + 1) * size)).toFixed(0)
  ).join(" ")
}

/** Four clients that mean no good. Returns what ends them. */
const hostile = () => {
  const state = { going: true }
  const { hostname, pathname, port } = new URL(`${base}/work-items`)
  const sockets = new Set<Socket>()
  const open = (begin: string) => {
    const socket = connect(Number(port), hostname, () => socket.write(begin))
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
    socket.resume()
    return socket
  }
  const lines = (all: ReadonlyArray<string>) => `${all.join("\r\n")}\r\n`
  const common = [`host: ${hostname}:${port}`, `authorization: RC-WSKEY ${ready.api_key}`]
  const drip = setInterval(() => {
    while (slow.length < 100) {
      slow.push(
        open(
          lines([
            `POST ${pathname} HTTP/1.1`,
            ...common,
            "content-type: application/json",
            "content-length: 1000000",
            "",
            '{"'
          ])
        )
      )
    }
    for (const [index, socket] of slow.entries()) {
      if (socket.destroyed) slow.splice(index, 1)
      else socket.write("x")
    }
  }, 100)
  const slow: Array<Socket> = []
  const half = setInterval(() => {
    while (sockets.size < 600) open(lines([`GET ${pathname} HTTP/1.1`, ...common]))
  }, 100)
  const loop = async (agent: Agent, path: string, more: Record<string, string>) => {
    while (state.going) {
      await new Promise<void>((resolve) => {
        const outgoing = send(
          `${base}/${path}`,
          { agent, headers: { ...headers, ...more } },
          (answer: IncomingMessage) => answer.resume().once("close", resolve)
        )
        outgoing.once("error", () => resolve())
        outgoing.end()
      })
    }
  }
  const agent = new Agent({ keepAlive: true })
  for (let n = 0; n < 4; n++) void loop(agent, `work-items?include_data=true&limit=500&process_id=${large.id}`, {})
  for (let n = 0; n < 16; n++) void loop(agent, "work-items", { authorization: "" })
  return () => {
    state.going = false
    clearInterval(drip)
    clearInterval(half)
    agent.destroy()
    for (const socket of sockets) socket.destroy()
  }
}

await phase("warm-up", 5)
const quiet = await phase("quiet", seconds)
if (options.hostile) {
  const end = hostile()
  const attacked = await phase("beside four hostile clients", seconds)
  end()
  const ratio = (of: (result: Phase) => number) => (of(attacked) / of(quiet)).toFixed(2)
  console.log(
    `hostile / quiet: p50 ${ratio(({ p50 }) => p50)}, p99 ${ratio(({ p99 }) => p99)}, longest ${ratio(({ longest }) => longest)}`
  )
}
child.kill()
await new Promise((resolve) => child.once("exit", resolve))
receiver.close()
setup.destroy()
rmSync(folder, { recursive: true, force: true })
