/**
 * What an execution has recorded, while its body runs again: which steps are still to be reached, and in which order they
 * ended.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { RecordedStep } from "./FlowStore.ts"
import { isBelow, partsOf } from "./Paths.ts"

const partOf = (path: string): string => partsOf(path).at(-1) ?? ""

export interface Replay {
  readonly isFirst: boolean
  readonly recorded: (path: string, attempt?: number) => boolean
  /** Whether something below the path is recorded. */
  readonly hasBelow: (path: string) => boolean
  /** How the step succeeded, if it has. */
  readonly succeeded: (path: string) => RecordedStep | undefined
  /** The body has come to this path. */
  readonly reach: (path: string) => void
  /** The recorded step that should have been reached before a new step at this path; null when all is well. */
  readonly missedBefore: (path: string) => string | null
  /** How much is still to be replayed. */
  readonly progress: () => number
  /** A recorded step that was not reached at all. */
  readonly missed: () => string | null
  /** What is below this path need not be reached: it was interrupted. */
  readonly release: (path: string) => void
  /** The recorded step has given its result once more. */
  readonly replayed: (path: string) => void
  /** Done when all that is recorded has been replayed. */
  readonly all: Effect.Effect<void>
  /** Done when all that ended before the last attempt of this step has been replayed. */
  readonly earlier: (path: string) => Effect.Effect<void>
}

export const make = (steps: ReadonlyArray<RecordedStep>): Replay => {
  // What was undone is reached only when the execution fails again.
  const rows = steps.filter(({ kind }) => kind !== "compensation")
  const attempts = new Set(steps.map(({ attempt, path }) => `${path}/${attempt}`))
  const last = new Map(rows.map((row, index) => [row.path, { row, index }]))
  /** Recorded and not reached, by the part that they are in. */
  const ahead = new Map<string, Set<string>>()
  for (const path of last.keys()) {
    const part = partOf(path)
    ahead.set(part, (ahead.get(part) ?? new Set()).add(path))
  }
  const pending = new Map([...last].map(([path, { index }]) => [path, index]))
  let waiters: Array<{ readonly index: number; readonly done: Deferred.Deferred<void> }> = []

  const isOpen = (index: number) => [...pending.values()].some((other) => other < index)
  const settle = () => {
    if (waiters.length === 0) return
    const [open, done] = [waiters.filter((one) => isOpen(one.index)), waiters.filter((one) => !isOpen(one.index))]
    waiters = open
    for (const one of done) Deferred.doneUnsafe(one.done, Effect.void)
  }
  const before = (indexOf: () => number) =>
    Effect.suspend(() => {
      const index = indexOf()
      if (!isOpen(index)) return Effect.void
      const done = Deferred.makeUnsafe<void>()
      waiters.push({ index, done })
      return Deferred.await(done)
    })
  const reach = (path: string) => {
    const part = partOf(path)
    const paths = ahead.get(part)
    if (paths?.delete(path) === true && paths.size === 0) ahead.delete(part)
  }

  return {
    isFirst: steps.length === 0,
    recorded: (path, attempt) => (attempt === undefined ? last.has(path) : attempts.has(`${path}/${attempt}`)),
    hasBelow: (path) => [...last.keys()].some((other) => isBelow(other, path)),
    succeeded: (path) => {
      const found = last.get(path)?.row
      return found?.state === "succeeded" ? found : undefined
    },
    reach,
    missedBefore: (path) => {
      for (const part of partsOf(path)) {
        const [missed] = ahead.get(part) ?? []
        if (missed !== undefined) return missed
      }
      return null
    },
    progress: () => pending.size,
    missed: () => {
      for (const paths of ahead.values()) for (const path of paths) return path
      return null
    },
    release: (path) => {
      for (const other of last.keys()) {
        if (!isBelow(other, path)) continue
        reach(other)
        pending.delete(other)
      }
      settle()
    },
    replayed: (path) => {
      if (pending.delete(path)) settle()
    },
    all: before(() => Infinity),
    earlier: (path) => before(() => last.get(path)?.index ?? 0)
  }
}

/** The last attempt of each step, in the order in which they ended. */
export const lastAttempts = (steps: ReadonlyArray<RecordedStep>): ReadonlyArray<RecordedStep> => {
  const last = new Map(steps.map((row) => [row.path, row]))
  return steps.filter((row) => last.get(row.path) === row)
}

/** Which step undid it, such as `startRun` of `startRun/undo/stopRun`. */
const undoneBy = (path: string): string | null => {
  const part = partsOf(path).findLast((one) => one.endsWith("/undo/"))
  return part === undefined ? null : part.slice(0, -"/undo/".length)
}

/**
 * The steps that the next generation of an execution takes as they are when it is run again from the step `from`: what
 * ended before, and what succeeded beside it. A step that was undone is run again, and all that came after it.
 */
export const seedsOf = (steps: ReadonlyArray<RecordedStep>, from: string): ReadonlyMap<string, RecordedStep> => {
  const undone = new Set(steps.flatMap(({ kind, path }) => (kind === "compensation" ? [undoneBy(path)] : [])))
  const isUndone = (path: string) => [...undone].some((root) => root !== null && (path === root || isBelow(path, root)))
  const starts = (path: string) => path === from || isBelow(path, from) || isUndone(path)
  const rows = lastAttempts(steps.filter(({ kind }) => kind !== "compensation"))
  const index = rows.findIndex(({ path }) => starts(path))
  const end = rows[index]?.endedAt ?? Infinity
  const seeds = new Map<string, RecordedStep>()
  for (const [position, row] of rows.entries()) {
    const before = index === -1 || position < index
    const beside = row.state === "succeeded" && row.startedAt < end
    // A sub-flow ends with its steps, so it is made of them again.
    if (!starts(row.path) && row.kind !== "flow" && (before || beside)) seeds.set(row.path, row)
  }
  return seeds
}

/**
 * Where a failed execution is run again from: its first failed step, or the first signal that did not fit; null when none
 * has failed.
 */
export const firstFailed = (steps: ReadonlyArray<RecordedStep>): string | null =>
  lastAttempts(steps.filter(({ kind }) => kind === "step" || kind === "wait" || kind === "signal")).find(
    ({ state }) => state === "failed"
  )?.path ?? null
