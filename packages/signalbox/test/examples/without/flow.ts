import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId } from "@signalbox/api/contract/Ids"
import {
  awaitCompletion,
  collectOutputs,
  startRun
} from "@signalbox/flows/ControlRoomSteps"
import { defineFlow } from "@signalbox/flows/Promises"
import * as Schema from "effect/Schema"

/** Prices an order in the night, and returns what it costs. */
export const nightly = defineFlow({
  name: "nightly",
  services: [ControlRoom],
  input: Schema.Struct({ process: ProcessId, order: Schema.Json }),
  output: Schema.Array(Schema.Json),
  key: ({ order }) => JSON.stringify(order),
  run: async (flow, { order, process }) => {
    await flow.sleep("until the night", "1 second")
    const run = await flow.step(startRun, { process, payloads: [order] })
    const { state } = await flow.step(awaitCompletion, { run })
    if (state === "unresolved") throw new Error(`run ${run} has failed items`)
    const outputs = await flow.step(collectOutputs, { run })
    return outputs.map(({ payload }) => payload)
  }
})
