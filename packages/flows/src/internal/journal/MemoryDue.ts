/**
 * The index of executions in memory without an owner, by when they are due.
 */
import { type Execution, type FlowVersion, isActive, versionName } from "../Journal.ts"
import { isIn, type Share } from "../Partitions.ts"
import * as Timers from "../Timers.ts"
import { compareTexts } from "./Common.ts"
import type { Run } from "./MemoryRows.ts"

const dueOf = ({ owner, state, wakeAt }: Execution): number | null =>
  owner === null && isActive(state) ? wakeAt : null

/** Returns when a process may claim an execution. */
const claimableAt = ({ due, item }: Timers.Timer<Run>, share: Share | undefined): number =>
  share === undefined || isIn(share, item.execution.id) ? due : due + share.graceMillis

const byId = (one: Run, other: Run) => compareTexts(one.execution.id, other.execution.id)

export const make = () => {
  const versions = new Map<string, Timers.Timers<Run>>()

  const add = (due: number, run: Run) => {
    const name = versionName(run.execution)
    const timers = versions.get(name) ?? Timers.make<Run>(({ due, item }) => dueOf(item.execution) === due, byId)
    versions.set(name, timers)
    timers.add(due, run)
  }

  /** Removes and returns the first executions of these versions, in their order, until `isEnough`. */
  const take = (flows: ReadonlyArray<FlowVersion>, isEnough: (timer: Timers.Timer<Run>) => boolean) => {
    const queues = flows.flatMap((flow) => versions.get(versionName(flow)) ?? [])
    const taken = new Map<Run, Timers.Timer<Run>>()
    for (;;) {
      let least: Timers.Timers<Run> | null = null
      let first: Timers.Timer<Run> | undefined
      for (const queue of queues) {
        const timer = queue.first()
        if (timer === undefined) continue
        if (first !== undefined && (first.due - timer.due || byId(first.item, timer.item)) <= 0) continue
        least = queue
        first = timer
      }
      if (least === null || first === undefined) return [...taken.values()]
      // An execution that was owned in between has two timers.
      if (!taken.has(first.item) && isEnough(first)) return [...taken.values()]
      least.shift()
      taken.set(first.item, first)
    }
  }

  return {
    /** Called when an execution was created or changed. */
    changed: (before: Execution | null, run: Run) => {
      const due = dueOf(run.execution)
      const isNew = before === null || versionName(before) !== versionName(run.execution) || dueOf(before) !== due
      if (due !== null && isNew) add(due, run)
    },
    /** Passes at most `limit` claimable executions to `claim`, the longest due first. */
    claim: <A>(
      flows: ReadonlyArray<FlowVersion>,
      now: number,
      limit: number,
      share: Share | undefined,
      claim: (run: Run) => A
    ): ReadonlyArray<A> => {
      let count = 0
      const taken = take(flows, (timer) => {
        if (timer.due > now || count >= limit) return true
        if (claimableAt(timer, share) <= now) count++
        return false
      })
      return taken.flatMap((timer) => {
        if (claimableAt(timer, share) <= now) return [claim(timer.item)]
        add(timer.due, timer.item)
        return []
      })
    },
    /** Returns when the first execution may be claimed. */
    next: (flows: ReadonlyArray<FlowVersion>, share: Share | undefined): number | null => {
      let next = Infinity
      const taken = take(flows, (timer) => {
        if (timer.due >= next) return true
        next = Math.min(next, claimableAt(timer, share))
        return false
      })
      for (const { due, item } of taken) add(due, item)
      return next === Infinity ? null : next
    }
  }
}
