import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"

/** Queues an urgent order, and pauses the process until somebody has looked. */
export const queueOrders = Effect.gen(function* () {
  const { id: process } = yield* Processes.put({
    name: "orders",
    steps: [
      { name: "enter", task: { name: "enter-order" }, pause_after_failures: 10 }
    ]
  })
  yield* WorkItems.createMany({
    process,
    payloads: [{ order: 1 }, { order: 2 }],
    tags: ["web"]
  })
  const order = {
    process,
    payload: { order: 4711 },
    priority: 50,
    dueAt: "2030-12-24T12:00:00+01:00",
    tags: ["web", "express"],
    reference: "order-4711",
    whenReferenceExists: "join"
  } as const
  const urgent = yield* WorkItems.create(order)
  const again = yield* WorkItems.create(order)
  const express = yield* WorkItems.list({ tag: "express" })
  yield* Processes.pause(process, { note: "wait for the new price list" })
  yield* ProcessRuns.start(process, { inputs: true })
  const { paused } = yield* Processes.get(process)
  yield* Processes.resume(process)
  return {
    isSame: urgent.id === again.id,
    express: express.data.length,
    note: paused?.note
  }
})
