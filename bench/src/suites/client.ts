/**
 * The client of the API beside stripe-node and openai-node: one GET of a small object and one POST, against one server that answers with the
 * same JSON. Server and clients are processes of their own.
 */
import type { Figure, Measured, Suite } from "../harness/Suite.ts"
import type { Task } from "../programs/caller.ts"

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
    name: "stripe-node over node:http",
    client: "stripe",
    peer: true,
    conditions: "node:http, connections kept, its default; the response is not checked"
  },
  {
    name: "signalbox over fetch",
    client: "fetch",
    conditions: "the fetch of Node, retries, the response decoded by its schema"
  },
  {
    name: "stripe-node over fetch",
    client: "stripeFetch",
    peer: true,
    conditions: "the fetch of Node; the response is not checked"
  },
  {
    name: "openai-node over fetch",
    client: "openai",
    peer: true,
    conditions: "the fetch of Node, its default; the response is not checked"
  }
]

export const suite: Suite = {
  title: "The client",
  about: "Calls of a local server that answers every request with the same JSON, each client in its own process.",
  peers: ["stripe", "openai"],
  contests: async function* (bench) {
    const { ready: port } = await bench.program<number>("answering.ts").running()
    const programs = clients.map((one) => ({ ...one, program: bench.program("caller.ts", [one.client, String(port)]) }))
    for (const method of ["get", "post"] as const) {
      for (const concurrency of [1, 16]) {
        yield {
          what: `${method.toUpperCase()}, ${concurrency} at once`,
          figures,
          contenders: programs.map(({ program, client: _client, ...one }) => ({
            ...one,
            measure: () => program.ask<Measured>({ method, concurrency, seconds: bench.seconds } satisfies Task)
          }))
        }
      }
    }
  }
}
