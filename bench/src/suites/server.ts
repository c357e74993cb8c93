/**
 * The service beside a minimal fastify app with the same rows and the same work, under 32 connections from the process of the bench.
 */
import autocannon from "autocannon"
import type { Bench } from "../harness/Bench.ts"
import { cpuMillis, type Program } from "../harness/Processes.ts"
import { fsyncOf } from "../harness/Postgres.ts"
import type { Contender, Figure, Measured, Suite } from "../harness/Suite.ts"
import type { Served } from "../programs/room.ts"

const headers = ({ key }: Served) => ({ authorization: `RC-WSKEY ${key}`, "content-type": "application/json" })
const list = ({ origin, workspaceId }: Served) => `${origin}/api/v1/workspaces/${workspaceId}/work-items`
const body = ({ processId }: Served) =>
  JSON.stringify({ process: { id: processId }, payload: { order: 17, customer: "Ada" } })

const requests = {
  "GET one": (served: Served, id: string) => ({ url: `${list(served)}/${id}` }),
  "GET a page of 100": (served: Served) => ({ url: `${list(served)}?limit=100` }),
  "POST one": (served: Served) => ({ url: list(served), method: "POST" as const, body: body(served) })
}

const figures: Readonly<Record<string, Figure>> = {
  perSecond: { unit: "/s", better: "more" },
  p99: { what: "p99", unit: "ms", better: "less" },
  cpu: { what: "CPU of the server for each", unit: "ms", better: "less" }
}

/** A thousand items, and the id of the last. */
const fill = async (served: Served) => {
  let id = ""
  for (let n = 0; n < 1000; n++) {
    const response = await fetch(list(served), { method: "POST", headers: headers(served), body: body(served) })
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    id = ((await response.json()) as { readonly id: string }).id
  }
  return id
}

type Request = (typeof requests)[keyof typeof requests]

const measuring = (bench: Bench, program: Program<Served>) => {
  let filled: Promise<string> | undefined
  return async (request: Request): Promise<Measured> => {
    const { pid, ready } = await program.running()
    filled ??= fill(ready)
    const item = await filled
    const before = cpuMillis(pid)
    const result = await autocannon({
      ...request(ready, item),
      headers: headers(ready),
      connections: 32,
      duration: Math.max(1, 2 * bench.seconds)
    })
    const after = cpuMillis(pid)
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx + result.errors} requests failed`)
    return {
      perSecond: result.requests.average,
      p99: result.latency.p99,
      cpu: before === undefined || after === undefined ? undefined : (after - before) / result.requests.total
    }
  }
}

export const suite: Suite = {
  title: "The server",
  about:
    "Requests over 32 connections from another process, beside an app of fastify with the same tables, the same indexes and the same work: " +
    "keys by their SHA-256, permissions, compiled schemas, signed cursors, the process of an item, a histogram.",
  peers: ["fastify"],
  contests: async function* (bench) {
    const contenders: ReadonlyArray<Omit<Contender, "measure"> & { readonly measure: ReturnType<typeof measuring> }> = [
      {
        name: "signalbox, SQLite",
        conditions: "WAL; a commit waits for fdatasync of the log, which concurrent writers share",
        measure: measuring(bench, bench.program<Served>("room.ts", [bench.folder("room")]))
      },
      {
        name: "fastify, SQLite",
        peer: true,
        conditions: "WAL, PRAGMA synchronous = FULL, a transaction for each POST",
        measure: measuring(bench, bench.program<Served>("fastify.ts", [bench.folder("fastify")]))
      },
      {
        name: "signalbox, Postgres",
        conditions: fsyncOf.on,
        measure: measuring(bench, bench.program<Served>("room.ts", [bench.folder("room"), await bench.database("on")]))
      }
    ]
    for (const [what, request] of Object.entries(requests)) {
      yield {
        what,
        figures,
        contenders: contenders.map(({ measure, ...one }) => ({ ...one, measure: () => measure(request) }))
      }
    }
  }
}
