/**
 * Metrics of durable executions, with `effect/Metric`, for the exporter of the program. Most are derived from writes to the journal.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Entry, Execution, State, Write } from "../model/Execution.ts"

const executions = Metric.counter("signalbox_flow_executions_total", {
  description: "How often executions entered a state",
  incremental: true
})
const resident = Metric.gauge("signalbox_flow_executions_in_memory", { description: "Executions in memory" })
const stepSeconds = Metric.histogram("signalbox_flow_step_seconds", {
  description: "Duration of attempts of steps, by outcome",
  boundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1_800, 7_200]
})
const retries = Metric.counter("signalbox_flow_step_retries_total", {
  description: "Attempts of steps that failed and are retried",
  incremental: true
})
const waitSeconds = Metric.histogram("signalbox_flow_wait_seconds", {
  description: "Time that executions waited, by kind of wait",
  boundaries: [0.1, 1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000]
})
const claims = Metric.counter("signalbox_flow_claims_total", {
  description: "Executions that this process has claimed because they were due",
  incremental: true
})
const lostExecutions = Metric.counter("signalbox_flow_executions_lost_total", {
  description: "Executions whose claim this process lost to another, or to a command",
  incremental: true
})
const lostLeases = Metric.counter("signalbox_flow_leases_lost_total", {
  description: "How often the lease of this process expired before it was renewed",
  incremental: true
})

type Attributes = Readonly<Record<string, string>>

const waits: ReadonlyArray<Entry["kind"]> = ["sleep", "signal", "inbox", "run", "child"]

export const make = Effect.map(Effect.context<never>(), (context) => {
  // There are few flows, steps and states: the metric of each is created once.
  const known = new Map<string, Metric.Metric<number, unknown>>()
  const update = (metric: Metric.Metric<number, unknown>, attributes: Attributes, value: number) => {
    const name = `${metric.id} ${Object.values(attributes).join(" ")}`
    const one = known.get(name) ?? Metric.withAttributes(metric, attributes)
    known.set(name, one)
    one.updateUnsafe(value, context)
  }

  const entered = (flow: string, state: State) => update(executions, { flow, state }, 1)

  const observe = (flow: string, { endedAt, failure, kind, name, startedAt, state }: Entry) => {
    if (endedAt === null) return
    const seconds = (endedAt - startedAt) / 1_000
    if (waits.includes(kind)) return update(waitSeconds, { flow, kind }, seconds)
    if (kind !== "step") return
    const isDefect = state === "retrying" && failure?.kind === "died"
    if (state === "retrying" && !isDefect) update(retries, { flow, step: name }, 1)
    update(stepSeconds, { flow, step: name, outcome: isDefect ? "died" : state }, seconds)
  }

  return {
    entered,
    /** Counts a write of an owner. */
    wrote: (flow: string, { entries, execution }: Write) => {
      if (execution.state !== undefined) entered(flow, execution.state)
      for (const entry of entries) observe(flow, entry)
    },
    claimed: ({ flow }: Execution) => update(claims, { flow }, 1),
    inMemory: (count: number) => resident.updateUnsafe(count, context),
    lostExecution: (flow: string) => update(lostExecutions, { flow }, 1),
    lostLease: () => lostLeases.updateUnsafe(1, context)
  }
})

export type Metrics = Effect.Success<typeof make>
