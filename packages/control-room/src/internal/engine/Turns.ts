/**
 * Whose turn it is: between processes that want the same workers, the time that a step run has waited counts from when its
 * process last had a worker.
 */
import { millisPerPoint } from "./Order.ts"

/** How long a step run keeps its worker, at least, where more processes want workers than there are workers. */
export const turnMillis = 10_000

/** A step run that waits for a worker. */
export interface Waiting {
  readonly id: string
  readonly process: string
  readonly sortKey: number
  readonly priority: number
}

/** What a process has had of the workers. */
export interface Share {
  /** How many of its step runs have a worker. */
  readonly held: number
  /** When one of its step runs last ended while another process waited, in milliseconds since 1970; null: never. */
  readonly endedAt: number | null
}

const none: Share = { held: 0, endedAt: null }

/** The milliseconds by which a priority lets a step run ahead of other processes. A low one is in its sort key only. */
const lead = (priority: number) => Math.max(0, priority) * millisPerPoint

/** The place of a step run among those of all processes; the lowest is first. */
export const placeOf = (waiting: Omit<Waiting, "id" | "process">, { endedAt, held }: Share, now: number): number =>
  Math.max(waiting.sortKey, (held > 0 ? now : (endedAt ?? 0)) - lead(waiting.priority))

/**
 * The order in which step runs get workers: by their places, and of the same place first what belongs to the process with
 * the fewest workers. Those of one process keep the order of their sort keys, and each counts those before it as started.
 */
export const inTurn = (
  waiting: ReadonlyArray<Waiting>,
  shares: ReadonlyMap<string, Share>,
  now: number
): ReadonlyArray<string> => {
  const bySortKey = waiting.toSorted((a, b) => a.sortKey - b.sortKey || (a.id < b.id ? -1 : 1))
  const given = new Map<string, number>()
  const placed = bySortKey.map((stepRun) => {
    const before = given.get(stepRun.process) ?? 0
    given.set(stepRun.process, before + 1)
    const share = shares.get(stepRun.process) ?? none
    const held = share.held + before
    return { id: stepRun.id, held, place: placeOf(stepRun, { ...share, held }, now) }
  })
  // The sort is stable.
  return placed.toSorted((a, b) => a.place - b.place || a.held - b.held).map(({ id }) => id)
}

/** A step run in progress, when it has ended an item. */
export interface Running {
  readonly id: string
  readonly process: string
  readonly priority: number
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

/**
 * Which of these step runs of one process give their worker to another process, and so take no further item: while one that
 * waits, and is not behind in its place, has at least two workers less; and, when a turn has passed, one less.
 */
export const handedOver = (
  running: ReadonlyArray<Running>,
  waiting: ReadonlyArray<Omit<Waiting, "id">>,
  shares: ReadonlyMap<string, Share>,
  now: number
): ReadonlySet<string> => {
  const held = new Map([...shares].map(([process, share]) => [process, share.held]))
  const heldBy = (process: string) => held.get(process) ?? 0
  const over = new Set<string>()
  for (const { id, priority, process, startedAt } of running) {
    const least = now - startedAt >= turnMillis ? 1 : 2
    const next = waiting.find((other) => {
      const { endedAt } = shares.get(other.process) ?? none
      const share = { held: heldBy(other.process), endedAt }
      return (
        other.process !== process &&
        share.held + least <= heldBy(process) &&
        placeOf(other, share, now) <= now - lead(priority)
      )
    })
    if (next === undefined) continue
    over.add(id)
    held.set(process, heldBy(process) - 1)
    held.set(next.process, heldBy(next.process) + 1)
  }
  return over
}
