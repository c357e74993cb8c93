/**
 * The effect of each command in each state, as data; and the changes of the rows of an execution that is not running.
 */
import {
  type Change,
  type ChangedTimes,
  type Entry,
  type Execution,
  hasEnded,
  type History,
  type State,
  type Undo
} from "./Execution.ts"
import { cancelPath } from "./Replay.ts"
import { unbegunWake } from "./When.ts"

export const commands = ["cancel", "terminate", "suspend", "resume", "retry", "reschedule"] as const
export type Command = (typeof commands)[number]

/**
 * `send`: a message to the process that runs it, or to the next one. `withdraw`: deletes a suspend that was not carried out yet.
 * `pause`: suspends what no process runs; in its queue it keeps its place, and one that starts later its time. `reopen`: makes it due again. `end`: ends it without undos.
 * `set aside`: discards entries and makes it due again. `move`: changes its start, its place in its queue, or its deadline. `nothing`: it is already so. `refuse`: see `refusal`.
 */
export type Action =
  | "send"
  | "withdraw"
  | "pause"
  | "reopen"
  | "reopen and send"
  | "end"
  | "set aside"
  | "move"
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
  },
  reschedule: {
    queued: "move",
    held: "move",
    requeued: "move",
    waiting: "refuse",
    running: "refuse",
    cancelling: "refuse",
    undoing: "refuse",
    halted: "refuse",
    suspended: "refuse",
    completed: "refuse",
    failed: "refuse",
    cancelled: "refuse"
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
    case "reschedule":
      return hasEnded(state)
        ? `has ended (${state})`
        : `has begun (${state}): it can be rescheduled while it starts later, or is queued`
    default:
      return state === "suspended" ? "is suspended: resume or cancel it" : `has not ended (${state}): cancel it first`
  }
}

export const unchanged: Change = { execution: {}, aside: [], asideUndos: [], undos: [], taken: [] }

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

/** The change of `reschedule`. One that is in its queue stays there, unless it is to start later. */
export const rescheduled = (execution: Execution, to: ChangedTimes, now: number): Change => {
  const { queuedAt, state } = execution
  const isMoved = to.startsAt !== null && (queuedAt === null || to.startsAt > now)
  const startsAt = isMoved ? Math.max(to.startsAt, now) : execution.startsAt
  const deadlineAt = to.deadlineAt ?? execution.deadlineAt
  // One without a place in a queue is due already: it was submitted in SQL, and nobody has read its input.
  const wakeAt = queuedAt === null && startsAt === null ? execution.wakeAt : unbegunWake({ deadlineAt, startsAt })
  return {
    ...unchanged,
    execution: {
      startsAt,
      deadlineAt,
      priority: to.priority ?? execution.priority,
      wakeAt: state === "suspended" ? null : wakeAt
    }
  }
}

/** The beginning of the paths of the steps of an undo. */
export const underUndo = (undo: Pick<Undo, "path">) => `${undo.path}/undo/`

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
