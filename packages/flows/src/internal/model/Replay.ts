/**
 * Compares the record of an execution with what its body reaches when it runs again. Ends are delivered in their recorded order, one
 * at a time, each when the body is quiescent after the previous one: so the body takes the same path as the first time.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Entry, History, Undo } from "./Execution.ts"

/** The paths of the cancel of an execution and of the end of its body in the order; no step has such a path. */
export const cancelPath = "#cancel"
export const outcomePath = "#outcome"
/** What has cancelled the body of an execution: a command, or its deadline. */
export type CancelledBy = "cancel" | "deadline"

/** The value of a cancel; `outside` is when it interrupted a running body, in milliseconds. */
export const cancelValue = (by: CancelledBy, outside?: number): Schema.Json => {
  if (by === "deadline") return outside === undefined ? { by } : { by, outside }
  return outside === undefined ? null : { outside }
}

/** Returns what a recorded cancel came from. */
export const cancelledBy = (value: Schema.Json): CancelledBy =>
  Predicate.hasProperty(value, "by") && value.by === "deadline" ? "deadline" : "cancel"

/** The value of a cancel that abandoned a record which did not fit: each later run abandons it too. */
export const abandonedValue = "abandoned"

export interface Replay {
  /** Returns the entry at a path that the body has now reached. */
  readonly reach: (path: string) => Entry | undefined
  /** Like `reach`, without marking the path as reached. */
  readonly at: (path: string) => Entry | undefined
  /** Returns the end to deliver next. */
  readonly next: () => Entry | undefined
  readonly advance: () => void
  /** Skips the end at a path whose branch has ended. */
  readonly skip: (path: string) => void
  /**
   * Skips an end in an undo that will be retried: retried undos run in another order than the first time. Returns false when it is in
   * no such undo.
   */
  readonly defer: (path: string) => boolean
  /** Whether the end at this path was skipped, and is delivered when it is reached. */
  readonly isDeferred: (path: string) => boolean
  /** Returns the undo that ended with this entry, if its end is not delivered to a branch. */
  readonly undoneBy: (entry: Entry) => string | undefined
  /** Whether the replay has passed the end of an undo: entries before it must be replayed before those after it. */
  readonly isPassed: (undo: string) => boolean
  /** Abandons the recorded order: from now on every end is delivered when it is reached. */
  readonly abandon: () => void
  readonly isAbandoned: () => boolean
  /** Returns the path of an entry that was not reached so far, or null. */
  readonly missed: () => string | null
  /** Returns when the first attempt at a path began. */
  readonly firstStartedAt: (path: string) => number | undefined
  /** The position after the last recorded end. */
  readonly end: number
}

const isSettled = ({ state }: Undo) => state === "done" || state === "skipped"

/** Returns a function from a path to the undo that contains it. */
const undoOf = (undos: ReadonlyArray<Undo>) => {
  const prefixes = undos.map(({ path }) => ({ path, prefix: `${path}/undo/` }))
  return (path: string) => prefixes.find(({ prefix }) => path.startsWith(prefix))?.path
}

export const make = ({ entries, undos }: Pick<History, "entries" | "undos">): Replay => {
  // A completed undo does not run again, so its steps are not reached.
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
