/**
 * The effect of each command in each state, as data; and the changes of the rows of an execution that is not running.
 */
import { type Change, type Entry, type Execution, hasEnded, type History, type State, type Undo } from "./Execution.ts"
import { isBelow } from "./Path.ts"
import { cancelPath, outcomePath } from "./Replay.ts"
import { canonical } from "./Values.ts"
import { unbegunWake } from "./When.ts"

export const commands = ["cancel", "terminate", "suspend", "resume", "retry"] as const
export type Command = (typeof commands)[number]

/**
 * `send`: a message to the process that runs it, or to the next one. `withdraw`: deletes a suspend that was not carried out yet.
 * `pause`: suspends what no process runs; in its queue it keeps its place, and one that starts later its time. `reopen`: makes it due again. `end`: ends it without undos.
 * `set aside`: discards entries and makes it due again. `nothing`: it is already so. `refuse`: see `refusal`.
 */
export type Action =
  | "send"
  | "withdraw"
  | "pause"
  | "reopen"
  | "reopen and send"
  | "end"
  | "set aside"
  | "nothing"
  | "refuse"

/**
 * The state, as commands distinguish it. `queued`: also what starts later. `held`: suspended in its queue, or before its start.
 * `requeued`: queued or suspended in its queue, after a retry: its earlier steps may have to be undone. `cancelling`: a cancel was
 * accepted, and nothing is undone yet.
 */
export type Standing = State | "held" | "requeued" | "cancelling"

export const standingOf = (
  { queuedAt, startsAt, state }: Pick<Execution, "queuedAt" | "startsAt" | "state">,
  { entries, messages }: Pick<History, "entries" | "messages"> = { entries: [], messages: [] }
): Standing => {
  // A process that has claimed what starts later has recorded nothing of it yet.
  if (queuedAt !== null || startsAt !== null) {
    if (entries.length > 0) return "requeued"
    return state === "suspended" ? "held" : state
  }
  if (state !== "waiting" && state !== "running") return state
  const isCancelled = messages.some(({ kind }) => kind === "cancel") || entries.some(({ path }) => path === cancelPath)
  return isCancelled ? "cancelling" : state
}

/** The action for every pair of command and standing. */
export const actions: Readonly<Record<Command, Readonly<Record<Standing, Action>>>> = {
  cancel: {
    queued: "end",
    held: "end",
    requeued: "reopen and send",
    waiting: "send",
    running: "send",
    cancelling: "nothing",
    undoing: "nothing",
    halted: "reopen and send",
    suspended: "reopen and send",
    completed: "nothing",
    failed: "nothing",
    cancelled: "nothing"
  },
  terminate: {
    queued: "end",
    held: "end",
    requeued: "end",
    waiting: "end",
    running: "end",
    cancelling: "end",
    undoing: "end",
    halted: "end",
    suspended: "end",
    completed: "nothing",
    failed: "nothing",
    cancelled: "nothing"
  },
  suspend: {
    queued: "pause",
    held: "nothing",
    requeued: "pause",
    waiting: "send",
    running: "send",
    cancelling: "refuse",
    undoing: "send",
    halted: "pause",
    suspended: "nothing",
    completed: "refuse",
    failed: "refuse",
    cancelled: "refuse"
  },
  resume: {
    queued: "nothing",
    held: "reopen",
    requeued: "reopen",
    waiting: "withdraw",
    running: "withdraw",
    cancelling: "nothing",
    undoing: "withdraw",
    halted: "reopen",
    suspended: "reopen",
    completed: "refuse",
    failed: "refuse",
    cancelled: "refuse"
  },
  retry: {
    queued: "refuse",
    held: "refuse",
    requeued: "refuse",
    waiting: "refuse",
    running: "refuse",
    cancelling: "refuse",
    undoing: "refuse",
    halted: "set aside",
    suspended: "refuse",
    completed: "set aside",
    failed: "set aside",
    cancelled: "set aside"
  }
}

/** Whether a command changes something in this state. */
export const isOpenTo = (command: Command, execution: Pick<Execution, "queuedAt" | "startsAt" | "state">): boolean => {
  const action = actions[command][standingOf(execution)]
  return action !== "nothing" && action !== "refuse"
}

/** Returns why a command is refused, and what to do instead. */
export const refusal = (command: Command, state: State): string => {
  switch (command) {
    case "suspend":
      return hasEnded(state) ? `has ended (${state})` : "is being cancelled: suspend it when its undos run"
    case "resume":
      return `has ended (${state}): retry it, from a step if it is completed`
    default:
      return state === "suspended" ? "is suspended: resume or cancel it" : `has not ended (${state}): cancel it first`
  }
}

const unchanged: Change = { execution: {}, aside: [], asideUndos: [], undos: [], taken: [] }

const suspendsOf = ({ messages }: Pick<History, "messages">): ReadonlyArray<number> =>
  messages.flatMap(({ kind, seq }) => (kind === "suspend" ? [seq] : []))

/** Changes nothing of the execution. */
export const recorded: Change = { ...unchanged, keepsOwner: true }

/** Withdraws a suspend that was not carried out yet. */
export const withdrawn = (history: Pick<History, "messages">): Change => ({
  ...recorded,
  taken: suspendsOf(history)
})

/** Sends a command to the process that runs the execution. A cancel withdraws a suspend. */
export const sent = (command: "cancel" | "suspend", history: Pick<History, "messages">): Change => ({
  ...recorded,
  command,
  taken: command === "cancel" ? suspendsOf(history) : []
})

/** Makes an execution due again, and cancels it. Failed undos are retried. */
export const reopenedToCancel = (history: History, now: number): Change => ({
  ...resumed(history, now, []),
  command: "cancel",
  taken: suspendsOf(history)
})

const again = { failure: null, endedAt: null }

/** Makes an execution due again, queues it again, or lets it wait for its start. Failed undos are retried. */
export const reopened = (
  { deadlineAt, queuedAt, startsAt }: Pick<Execution, "deadlineAt" | "queuedAt" | "startsAt">,
  now: number
): Change => ({
  ...unchanged,
  execution:
    queuedAt === null && startsAt === null
      ? { ...again, state: "waiting", wakeAt: now }
      : { ...again, state: "queued", wakeAt: unbegunWake({ deadlineAt, startsAt }) }
})

/** Suspends an execution that no process runs. */
export const paused: Change = { ...unchanged, execution: { state: "suspended", wakeAt: null } }

const underUndo = (undo: Pick<Undo, "path">) => `${undo.path}/undo/`

/** The change of `resume`: failed undos are retried, those of `skip` count as done by hand. */
export const resumed = ({ entries, execution, undos }: History, now: number, skip: ReadonlyArray<string>): Change => {
  const failed = undos.filter(({ state }) => state === "failed")
  const again = failed.filter(({ path }) => !skip.includes(path))
  const isAgain = ({ path, state }: Entry) =>
    state === "failed" && again.some((undo) => path.startsWith(underUndo(undo)))
  return {
    ...reopened(execution, now),
    aside: entries.filter(isAgain).map(({ attempt, path, redo }) => ({ path, attempt, redo })),
    undos: failed.map((undo) => ({ ...undo, state: skip.includes(undo.path) ? "skipped" : "pending" }))
  }
}

const endedBy =
  (message: string) =>
  (now: number): Change => ({
    ...unchanged,
    execution: { state: "cancelled", endedAt: now, wakeAt: null, failure: { kind: "interrupted", tag: null, message } }
  })
export const terminated = endedBy("terminated: nothing was undone")
export const cancelledInQueue = endedBy("cancelled in its queue: it had not begun")
export const cancelledBefore = endedBy("cancelled before its start: it had not begun")

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
