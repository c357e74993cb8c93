/** The client of the graph beside Microsoft's own, against the sandbox: one item, a page of a hundred, a small upload. */
import { join } from "node:path"
import type { Figure, Measured, Suite } from "../harness/Suite.ts"
import type { Task } from "../programs/graphCaller.ts"
import type { Sandbox } from "../programs/sandbox.ts"

const figures: Readonly<Record<string, Figure>> = {
  perSecond: { unit: "/s", better: "more" },
  p99: { what: "p99", unit: "ms", better: "less" },
  cpu: { what: "CPU of the client for each", unit: "ms", better: "less" }
}

const clients = [
  {
    name: "signalbox over undici",
    client: "undici",
    conditions: "undici, connections kept, retries, the response decoded by its schema"
  },
  {
    name: "microsoft-graph-client",
    client: "microsoft",
    peer: true,
    conditions: "the fetch of Node, its default middleware with retries; the response is not checked"
  },
  {
    name: "signalbox over fetch",
    client: "fetch",
    conditions: "the fetch of Node, retries, the response decoded by its schema"
  }
]

const calls: Readonly<Record<Task["call"], string>> = {
  item: "GET an item by its path",
  page: "GET a page of 100 children",
  upload: "PUT a file of 4 KB"
}

export const suite: Suite = {
  title: "The graph client",
  about:
    "Calls of the sandbox over HTTPS, each client and the sandbox in a process of its own. The sandbox answers at most a few thousand requests a " +
    "second, which bounds what 16 at once can show: the CPU of the client does not depend on it.",
  peers: ["@microsoft/microsoft-graph-client"],
  contests: async function* (bench) {
    const certificate = join(bench.folder("graph"), "ca.pem")
    const { ready } = await bench.program<Sandbox>("sandbox.ts", [certificate]).running()
    const programs = clients.map((one) => ({
      ...one,
      program: bench.program("graphCaller.ts", [one.client, JSON.stringify(ready)], {
        env: { NODE_EXTRA_CA_CERTS: certificate }
      })
    }))
    for (const call of ["item", "page", "upload"] as const) {
      for (const concurrency of [1, 16]) {
        yield {
          what: `${calls[call]}, ${concurrency} at once`,
          figures,
          contenders: programs.map(({ program, client: _client, ...one }) => ({
            ...one,
            measure: () => program.ask<Measured>({ call, concurrency, seconds: bench.seconds } satisfies Task)
          }))
        }
      }
    }
  }
}
