/** Prices an order: its payload is of an interface, and what comes back is checked by a schema. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"
import * as Schema from "effect/Schema"

interface Order {
  readonly article: string
  readonly pieces: number
}

const schema = Schema.Struct({ total: Schema.Finite })

export const main = async (
  process: string,
  order: Order,
  options?: ConnectionOptions
) => {
  await using room = connect(options)
  const item = await room.workItems.create({ process, payload: order })
  const run = await room.processRuns.start(process, { workItems: [item.id] })
  if (!run.started) throw new Error("another run has taken the item")
  await room.processRuns.awaitEnd(run.id, { timeout: "1 minute" })
  let total = 0
  for await (const { payload } of room.outputs.stream(run.id, { schema }))
    total += payload.total
  console.log(`${order.pieces} × ${order.article}: ${total}`)
  return total
}
