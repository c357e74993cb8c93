import { type Client, Conflict, NotFound } from "@signalbox/api/promise"

/** Prices the orders of a file and returns the totals. */
export const priceOrders = async (
  room: Client,
  file: File,
  signal: AbortSignal
) => {
  const client = room.withSignal(signal)
  await client.assets.put(
    "prices",
    new File([JSON.stringify({ lamp: 30, chair: 80 })], "prices.json")
  )
  const process = await client.processes.put({
    name: "orders",
    steps: [
      { name: "split", task: { name: "split" } },
      {
        name: "price",
        task: { name: "price" },
        retry: { max_attempts: 3, delay_seconds: 60 }
      }
    ]
  })
  const item = await client.workItems.create({ process: process.id })
  await client.workItems.attachFile(item.id, file)
  const run = await client.processRuns.start(process.id, {
    workItems: [item.id]
  })
  if (!run.started) return []
  await client.processRuns.awaitEnd(run.id)
  const totals: Array<unknown> = []
  for await (const { payload } of client.outputs.stream(run.id))
    totals.push(payload)
  return totals
}

/** Deletes a run, if it is there and has ended. */
export const forget = async (room: Client, run: string) => {
  try {
    await room.processRuns.remove(run)
    return "deleted"
  } catch (error) {
    if (error instanceof NotFound) return "there was none"
    if (error instanceof Conflict) return "it has not ended yet"
    throw error
  }
}
