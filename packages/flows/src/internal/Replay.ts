/**
 * What is recorded of an execution against what its body reaches when it runs again. Ends are delivered in the order in
 * which they were recorded, one at a time, each when everything that the one before it set going has come to rest: so the
 * body takes the same way as the first time.
 */
import type { Entry, History, Undo } from "./Journal.ts"

/** Where the cancel of an execution and the end of its body stand in the order; no step has such a path. */
export const cancelPath = "#cancel"
export const outcomePath = "#outcome"
/** The value of a cancel that gave up a record which did not fit: so does whoever runs the execution next. */
export const abandonedValue = "abandoned"

export interface Replay {
  /** What is recorded at a path that the body has now reached. */
  readonly reach: (path: string) => Entry | undefined
  /** As `reach`, without reaching it. */
  readonly at: (path: string) => Entry | undefined
  /** The end that is to be delivered next. */
  readonly next: () => Entry | undefined
  readonly advance: () => void
  /** The branch that would get the end at this path is over. */
  readonly skip: (path: string) => void
  /**
   * Leaves out an end that is in an undo which is to be tried again: those run in another order than the first time.
   * False: it is in none.
   */
  readonly defer: (path: string) => boolean
  /** Whether the end at this path was left out, and is delivered when it is reached. */
  readonly isDeferred: (path: string) => boolean
  /** The undo that was over with this end, which is delivered to nobody. */
  readonly undoneBy: (entry: Entry) => string | undefined
  /** Whether an undo that is done is so by now: what came before its end comes before what followed it. */
  readonly isPassed: (undo: string) => boolean
  /** Gives up the recorded order: from now on every end is delivered when it is reached. */
  readonly abandon: () => void
  readonly isAbandoned: () => boolean
  /** Something that has begun and was not reached so far. */
  readonly missed: () => string | null
  /** When the first attempt at a path began. */
  readonly firstStartedAt: (path: string) => number | undefined
  /** The place after all that is recorded. */
  readonly end: number
}

const isSettled = ({ state }: Undo) => state === "done" || state === "skipped"

/** In which of these undos a path is. */
const undoOf = (undos: ReadonlyArray<Undo>) => {
  const prefixes = undos.map(({ path }) => ({ path, prefix: `${path}/undo/` }))
  return (path: string) => prefixes.find(({ prefix }) => path.startsWith(prefix))?.path
}

export const make = ({ entries, undos }: Pick<History, "entries" | "undos">): Replay => {
  // What has been undone is not undone again, so its steps are not reached.
  const settledUndoOf = undoOf(undos.filter(isSettled))
  const openUndoOf = undoOf(undos.filter((undo) => !isSettled(undo)))
  const lastOfUndo = new Map<string, Entry>()
  const latest = new Map<string, Entry>()
  const first = new Map<string, number>()
  let end = 0
  for (const entry of entries) {
    end = Math.max(end, entry.begun, entry.ended ?? 0)
    const settled = settledUndoOf(entry.path)
    if (settled !== undefined) {
      if (entry.ended !== null && entry.ended > (lastOfUndo.get(settled)?.ended ?? 0)) lastOfUndo.set(settled, entry)
      continue
    }
    if (!first.has(entry.path)) first.set(entry.path, entry.startedAt)
    const before = latest.get(entry.path)
    if (before === undefined || before.attempt < entry.attempt) latest.set(entry.path, entry)
  }
  const ends = [...latest.values()]
    .filter(({ state }) => state === "succeeded" || state === "failed")
    .concat([...lastOfUndo.values()])
    .sort((one, other) => (one.ended ?? 0) - (other.ended ?? 0))
  const ahead = new Set<string>()
  for (const { path, state } of latest.values()) {
    if (state !== "interrupted" && path !== cancelPath && path !== outcomePath) ahead.add(path)
  }
  let index = 0
  const skipped = new Set<string>()
  const deferred = new Set<string>()
  let isAbandoned = false
  return {
    reach: (path) => {
      ahead.delete(path)
      return latest.get(path)
    },
    at: (path) => latest.get(path),
    next: () => {
      for (; ; index++) {
        const entry = ends[index]
        if (entry === undefined || !skipped.has(entry.path)) return entry
      }
    },
    advance: () => {
      index++
    },
    skip: (path) => {
      skipped.add(path)
    },
    defer: (path) => {
      if (openUndoOf(path) === undefined) return false
      deferred.add(path)
      index++
      return true
    },
    isDeferred: (path) => isAbandoned || deferred.has(path),
    undoneBy: ({ path }) => settledUndoOf(path),
    isPassed: (undo) => {
      const last = lastOfUndo.get(undo)
      return last === undefined || ends.indexOf(last) < index
    },
    abandon: () => {
      isAbandoned = true
      index = ends.length
      ahead.clear()
    },
    isAbandoned: () => isAbandoned,
    missed: () => {
      for (const path of ahead) if (openUndoOf(path) === undefined) return path
      return null
    },
    firstStartedAt: (path) => first.get(path),
    end
  }
}
