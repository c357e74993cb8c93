/** Metrics that are read from the database and from the process: what waits, who works, and how full the disk is. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { steady } from "../background/BackgroundTask.ts"
import * as Counters from "../telemetry/Counters.ts"
import { DiskUsage } from "../storage/DiskUsage.ts"
import { Measures, type WaitingItems } from "../store/room/Measures.ts"
import { Pauses } from "../store/processes/Pauses.ts"
import { WorkItems } from "../store/items/WorkItems.ts"

const gauge = (name: string, description: string) => Metric.gauge(`signalbox_${name}`, { description })

const late = gauge("work_items_late", "Open work items after their due time")
const atRisk = gauge("work_items_at_risk", "Open work items with less than a fifth of their time left")
const paused = gauge("paused", "Processes, steps, workers and worker groups that are paused")
const itemsWaiting = gauge("work_items_waiting", "Work items that are not being processed yet, 10,000 at most")
const oldestItem = gauge("work_item_oldest_seconds", "Age of the oldest work item that is not being processed yet")
const stepRunsWaiting = gauge("step_runs_waiting", "Step runs that wait for a worker, 10,000 at most")
const oldestStepRun = gauge("step_run_oldest_wait_seconds", "How long the oldest of them has waited for a worker")
const stepRunsRunning = gauge("step_runs_running", "Step runs that workers are processing, 10,000 at most")
const workers = gauge("workers", "Workers by state")
const deliveriesPending = gauge("webhook_deliveries_pending", "Pending deliveries of webhooks, 10,000 at most")
const oldestDelivery = gauge("webhook_delivery_oldest_seconds", "Age of the oldest pending delivery of a webhook")
const diskUsed = gauge("disk_used_ratio", "Used part of the disk of the data folder, 0 to 1")
const memory = gauge("process_memory_bytes", "Resident memory of the process")
const loopDelay = gauge(
  "event_loop_delay_seconds",
  "99th percentile of how late the event loop was, since the last reading"
)

/** Creates the effect that reads them now. */
export const make = Effect.gen(function* () {
  const measures = yield* Measures
  const items = yield* WorkItems
  const pauses = yield* Pauses
  const disk = yield* DiskUsage
  const seen = new Map<string, Pick<WaitingItems, "workspace" | "process" | "state">>()

  const ofProcesses = Effect.gen(function* () {
    const gone = new Map(seen)
    for (const { count, oldestSeconds, ...names } of yield* measures.items) {
      const name = JSON.stringify(names)
      if (!gone.delete(name)) yield* Counters.beginOf(names)
      seen.set(name, names)
      yield* Metric.update(Metric.withAttributes(itemsWaiting, names), count)
      yield* Metric.update(Metric.withAttributes(oldestItem, names), oldestSeconds)
    }
    for (const [name, names] of gone) {
      seen.delete(name)
      yield* Metric.remove(Metric.withAttributes(itemsWaiting, names))
      yield* Metric.remove(Metric.withAttributes(oldestItem, names))
    }
  })

  return Effect.gen(function* () {
    const due = yield* items.countDue
    yield* Metric.update(late, due.late)
    yield* Metric.update(atRisk, due.atRisk)
    yield* Metric.update(paused, yield* pauses.count)
    yield* ofProcesses
    const stepRuns = yield* measures.waitingStepRuns
    yield* Metric.update(stepRunsWaiting, stepRuns.count)
    yield* Metric.update(oldestStepRun, stepRuns.oldestSeconds)
    yield* Metric.update(stepRunsRunning, yield* measures.runningStepRuns)
    for (const [state, count] of Object.entries(yield* measures.workers)) {
      yield* Metric.update(Metric.withAttributes(workers, { state }), count)
    }
    const deliveries = yield* measures.deliveries
    yield* Metric.update(deliveriesPending, deliveries.count)
    yield* Metric.update(oldestDelivery, deliveries.oldestSeconds)
    const used = yield* disk
    if (used !== null) yield* Metric.update(diskUsed, used / 100)
    yield* Metric.update(memory, process.memoryUsage.rss())
  })
})

/** Reads how late the event loop was. */
const loop = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay()
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  ),
  (histogram) =>
    Effect.suspend(() => {
      // What it measures includes the time between two measurements, 10 ms.
      const seconds = Math.max(0, histogram.percentile(99) / 1e9 - 0.01)
      histogram.reset()
      return Metric.update(loopDelay, seconds)
    })
)

/** Reads them every 15 seconds. */
export const layerTicking = Layer.effectDiscard(
  Effect.gen(function* () {
    const read = yield* make
    const readLoop = yield* loop
    yield* Counters.begin
    yield* Effect.andThen(readLoop, read).pipe(
      steady("reading metrics"),
      Effect.repeat(Schedule.spaced("15 seconds")),
      Effect.forkScoped
    )
  })
)
