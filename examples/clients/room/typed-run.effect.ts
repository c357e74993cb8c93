/** Prices an order: its payload is of an interface, and what comes back is checked by a schema. */
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as Outputs from "@signalbox/api/Outputs"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

interface Order {
  readonly article: string
  readonly pieces: number
}

const schema = Schema.Struct({ total: Schema.Finite })

export const main = Effect.fnUntraced(function* (
  process: ProcessId,
  order: Order
) {
  const item = yield* WorkItems.create({ process, payload: order })
  const run = yield* ProcessRuns.start(process, { workItems: [item.id] })
  if (!run.started)
    return yield* Effect.die(new Error("another run has taken the item"))
  yield* ProcessRuns.awaitEnd(run.id, { timeout: "1 minute" })
  const totals = Stream.map(
    Outputs.stream(run.id, { schema }),
    ({ payload }) => payload.total
  )
  const total = yield* Stream.runSum(totals)
  yield* Console.log(`${order.pieces} × ${order.article}: ${total}`)
  return total
})
