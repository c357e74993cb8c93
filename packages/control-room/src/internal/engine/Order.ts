/** In which order items are given to step runs and step runs to workers, and how items are late. */
import type { DueState } from "@signalbox/api/contract/Order"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"

/** A point of priority counts like so many milliseconds of waiting. */
export const millisPerPoint = 10 * 60 * 1000

/**
 * The position of what begins to wait at this time, in milliseconds since 1970; the lowest is first. It is fixed then: an
 * item that came earlier is overtaken for a limited time only.
 */
export const sortKey = (since: number, priority: number): number => since - priority * millisPerPoint

/** When an item begins to be at risk: when a fifth of its time is left. */
export const atRiskAt = (created: string, due: string): string => {
  const [from, to] = [Date.parse(created), Date.parse(due)]
  return new Date(to - Math.max(0, to - from) / 5).toISOString()
}

const open: ReadonlySet<WorkItemState> = new Set(["new", "pending", "in_progress"])

interface Due {
  readonly state: WorkItemState
  readonly dueAt: string | null
  readonly atRiskAt: string | null
}

/** How late an item is; null without a time, and once it is settled. */
export const dueStateOf = ({ atRiskAt, dueAt, state }: Due, now: string): DueState | null =>
  dueAt === null || !open.has(state)
    ? null
    : dueAt <= now
      ? "late"
      : atRiskAt !== null && atRiskAt <= now
        ? "at_risk"
        : "on_time"
