/**
 * What a `retry` discards of an execution, and what it runs again.
 */
import { reopened, unchanged, underUndo } from "./Commands.ts"
import { type Change, type Entry, hasEnded, type History, type Undo } from "./Execution.ts"
import { isBelow } from "./Path.ts"
import { cancelPath, outcomePath } from "./Replay.ts"
import { canonical } from "./Values.ts"

const isMarker = ({ path }: Entry) => path === cancelPath || path === outcomePath

/** Returns the last attempt of each step, in the order of their ends, those without an end last. */
const lastAttempts = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const last = new Map<string, Entry>()
  for (const entry of entries) if (!isMarker(entry)) last.set(entry.path, entry)
  return [...last.values()].sort((one, other) => (one.ended ?? Infinity) - (other.ended ?? Infinity))
}

const isUndoStep = ({ undos }: History) => {
  const prefixes = undos.map(underUndo)
  return ({ path }: Entry) => prefixes.some((prefix) => path.startsWith(prefix))
}

/**
 * Returns the step whose failure ended an execution, never one whose error the body caught. Null when it ended otherwise.
 */
export const failedStep = (history: History): string | null => {
  const inUndo = isUndoStep(history)
  const rows = lastAttempts(history.entries).filter((entry) => !inUndo(entry) && entry.state !== "interrupted")
  const open = rows.find(({ ended, failure }) => ended === null && failure !== null)
  if (open !== undefined) return open.path
  const ended = rows.filter(({ ended }) => ended !== null)
  const last = ended.at(-1)
  if (last?.state === "failed") return last.path
  const { error } = history.execution
  if (error === null) return null
  const text = canonical(error)
  return ended.findLast(({ state, value }) => state === "failed" && canonical(value) === text)?.path ?? null
}

/** Whether an entry is recorded at a path or below it. */
export const isRecorded = ({ entries }: History, from: string): boolean =>
  entries.some(({ path }) => path === from || isBelow(path, from))

/**
 * The change of `retry` from a path: discards entries that ended after it and were not concurrent with it, and all undone ones. Of
 * these, steps that had succeeded run again under new idempotency keys, the others under the same keys.
 */
export const retried = (history: History, from: string | null, now: number, version: number): Change => {
  const { entries, execution, undos } = history
  const rows = lastAttempts(entries)
  const outcomeAt = entries.find(({ path }) => path === outcomePath)?.begun ?? Infinity
  const isIn = (path: string, roots: ReadonlyArray<string>) =>
    roots.some((root) => path === root || isBelow(path, root))
  const cutOf = (roots: ReadonlyArray<string>) => {
    const first = rows.find(({ path }) => isIn(path, roots))
    return first === undefined ? Infinity : (first.ended ?? first.begun)
  }
  const isSettled = ({ state }: Undo) => state === "done" || state === "skipped"
  const stepsOf = (undo: Undo) => rows.filter(({ path }) => path.startsWith(underUndo(undo)))
  /** The undos of branches that lost a race, which did not run at the end of the execution. */
  const lost = undos.filter((undo) => {
    const own = stepsOf(undo)
    return isSettled(undo) && own.length > 0 && own.every(({ begun }) => begun < outcomeAt)
  })
  /** Whether an undo stays, because it ended before the cut. */
  const staysUndone = (undo: Undo, cut: number) =>
    lost.includes(undo) && stepsOf(undo).every(({ ended }) => ended !== null && ended < cut)
  // Each repeated step may come before others. A race that waited for such a step is run again as a whole.
  let roots: ReadonlyArray<string> = from === null ? [] : [from]
  let cut = cutOf(roots)
  let isStrict = false
  for (;;) {
    const more = undos.filter((undo) => isSettled(undo) && !roots.includes(undo.path) && !staysUndone(undo, cut))
    if (more.length === 0) break
    const begins = lost
      .filter((undo) => more.includes(undo))
      .map(({ path }) => rows.find((row) => row.path === path)?.begun ?? cut)
    isStrict ||= begins.length > 0
    roots = [...roots, ...more.map(({ path }) => path)]
    cut = Math.min(cut, cutOf(roots), ...begins)
  }
  const starts = (path: string) => isIn(path, roots)
  const isKept = ({ begun, ended, path, state }: Entry) => {
    // An interrupted entry begins again, since the cause of the interruption may be discarded.
    if (starts(path) || state === "interrupted") return false
    const before = ended !== null && ended < cut
    const beside = state === "succeeded" && begun < cut && !isStrict
    return before || beside
  }
  const kept = new Set(rows.filter(isKept).map(({ path }) => path))
  const isAside = (path: string) => !kept.has(path)
  // An undo belongs to one run of its call: a repeated call is undone under new keys.
  const again = rows.filter(({ path, state }) => state === "succeeded" && isAside(path)).map(underUndo)
  const isRaised = ({ kind, path, state }: Entry) =>
    state === "succeeded" || kind === "patch" || again.some((prefix) => path.startsWith(prefix))
  const redos = new Map(rows.map((entry) => [entry.path, isRaised(entry) ? entry.redo + 1 : entry.redo]))
  return {
    ...unchanged,
    execution: {
      // An ended execution has no slot any more.
      ...reopened(
        {
          queuedAt: execution.limits.length > 0 && hasEnded(execution.state) ? now : execution.queuedAt,
          startsAt: null,
          deadlineAt: null
        },
        now
      ).execution,
      version,
      round: execution.round + 1,
      // A person decided on it after the submit.
      startsAt: null,
      deadlineAt: null,
      result: null,
      error: null
    },
    aside: entries
      .filter(({ path }) => isAside(path))
      .map(({ attempt, path, redo }) => ({ path, attempt, redo: redos.get(path) ?? redo })),
    // The body registers the other remaining undos again, as far as it gets this time.
    asideUndos: undos.filter((undo) => !isSettled(undo) || starts(undo.path)).map(({ path }) => path),
    taken: history.messages.filter(({ kind }) => kind !== "signal" && kind !== "inbox").map(({ seq }) => seq)
  }
}
