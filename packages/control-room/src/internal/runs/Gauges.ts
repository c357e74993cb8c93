/** Metrics that are read from the database: how many items are late or at risk, and how much is paused. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import { steady } from "../BackgroundTask.ts"
import { Pauses } from "../store/Pauses.ts"
import { WorkItems } from "../store/WorkItems.ts"

const late = Metric.gauge("signalbox_work_items_late", { description: "Open work items after their due time" })
const atRisk = Metric.gauge("signalbox_work_items_at_risk", {
  description: "Open work items with less than a fifth of their time left"
})
const paused = Metric.gauge("signalbox_paused", {
  description: "Processes, steps, workers and worker groups that are paused"
})

/** Reads them now. */
export const read = Effect.gen(function* () {
  const items = yield* (yield* WorkItems).countDue
  yield* Metric.update(late, items.late)
  yield* Metric.update(atRisk, items.atRisk)
  yield* Metric.update(paused, yield* (yield* Pauses).count)
})

/** Reads them every 15 seconds. */
export const layerTicking = Layer.effectDiscard(
  read.pipe(steady("counting late items and pauses"), Effect.repeat(Schedule.spaced("15 seconds")), Effect.forkScoped)
)
