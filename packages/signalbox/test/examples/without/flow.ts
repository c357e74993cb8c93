import { type Client } from "@signalbox/api/promise"
import { defineFlow, defineStep, json } from "@signalbox/flows/Promises"

/** The flow of a room: it continues after a crash where it was. */
export const nightlyOf = (room: Client) => {
  const start = defineStep({
    name: "start",
    input: json,
    output: json,
    run: async (payload, { signal }) => {
      const client = room.withSignal(signal)
      const process = await client.processes.put({
        name: "price",
        steps: [{ name: "price", task: { name: "price" } }]
      })
      const run = await client.processRuns.start(process.id, {
        payloads: [payload]
      })
      return run.started ? run.id : null
    }
  })
  return defineFlow({
    name: "nightly",
    input: json,
    output: json,
    key: (order) => JSON.stringify(order),
    run: async (flow, order) => {
      await flow.sleep("until the night", "8 hours")
      return flow.step(start, order)
    }
  })
}
