/**
 * Requests per second of the service beside a minimal fastify app with the same rows and the same work, from another
 * process over 32 connections. The two take turns, and the medians of the rounds are compared.
 */
import autocannon from "autocannon"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { row } from "./Table.ts"

interface Served {
  readonly origin: string
  readonly key: string
  readonly workspaceId: string
  readonly processId: string
}

const rounds = 3
const seconds = 3
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const children: Array<ReturnType<typeof spawn>> = []

const serve = (script: string, data: string) =>
  new Promise<{ readonly served: Served; readonly startMillis: number; readonly pid: number }>((resolve) => {
    const before = performance.now()
    const child = spawn(process.execPath, [join(import.meta.dirname, script), data], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    children.push(child)
    child.stdout.once("data", (line: Buffer) =>
      resolve({ served: JSON.parse(line.toString()), startMillis: performance.now() - before, pid: child.pid ?? 0 })
    )
  })

const contenders = {
  fastify: await serve("serveFastify.ts", folder),
  signalbox: await serve("serveSignalbox.ts", join(folder, "data"))
}

const headers = ({ key }: Served) => ({ authorization: `RC-WSKEY ${key}`, "content-type": "application/json" })
const base = ({ origin, workspaceId }: Served) => `${origin}/api/v1/workspaces/${workspaceId}`
const body = ({ processId }: Served) =>
  JSON.stringify({ process: { id: processId }, payload: { order: 17, customer: "Ada" } })

/** So many items in each, and one of them. */
const fill = async (served: Served) => {
  let id = ""
  for (let n = 0; n < 1000; n++) {
    const response = await fetch(`${base(served)}/work-items`, {
      method: "POST",
      headers: headers(served),
      body: body(served)
    })
    id = ((await response.json()) as { readonly id: string }).id
  }
  return id
}

const items = { fastify: await fill(contenders.fastify.served), signalbox: await fill(contenders.signalbox.served) }

const requests = {
  "GET one": (served: Served, id: string) => ({ url: `${base(served)}/work-items/${id}` }),
  "GET a page of 100": (served: Served) => ({ url: `${base(served)}/work-items?limit=100` }),
  "POST one": (served: Served) => ({ url: `${base(served)}/work-items`, method: "POST" as const, body: body(served) })
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

console.log(
  `start to ready: signalbox ${contenders.signalbox.startMillis.toFixed(0)} ms, fastify ${contenders.fastify.startMillis.toFixed(0)} ms`
)
console.log("requests per second, 32 connections      fastify   signalbox   ratio   p99 of signalbox")
for (const [name, request] of Object.entries(requests)) {
  const results: Record<keyof typeof contenders, Array<number>> = { fastify: [], signalbox: [] }
  let p99 = 0
  for (let round = 0; round < rounds + 1; round++) {
    for (const who of ["fastify", "signalbox"] as const) {
      const { served } = contenders[who]
      const result = await autocannon({
        ...request(served, items[who]),
        headers: headers(served),
        connections: 32,
        duration: seconds
      })
      if (result.non2xx > 0 || result.errors > 0) throw new Error(`${who}: ${result.non2xx} failures on ${name}`)
      // The first round warms up.
      if (round > 0) results[who].push(result.requests.average)
      if (who === "signalbox") p99 = result.latency.p99
    }
  }
  const [fastify, signalbox] = [median(results.fastify), median(results.signalbox)]
  row(`${name}, 32 connections`, `${signalbox.toFixed(0)}/s`, { ratio: signalbox / fastify, than: "fastify" })
  console.log(
    `${name.padEnd(38)} ${fastify.toFixed(0).padStart(9)} ${signalbox.toFixed(0).padStart(11)} ${(signalbox / fastify).toFixed(2).padStart(7)} ${`${p99} ms`.padStart(18)}`
  )
}
for (const child of children) child.kill()
rmSync(folder, { recursive: true, force: true })
