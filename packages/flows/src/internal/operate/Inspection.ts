/**
 * The inspection of an execution, from its record: what each branch does or waits for, since when, what comes next, and what a person
 * can do.
 */
import { defined } from "@signalbox/transport/Defined"
import type * as Schema from "effect/Schema"
import type { Failure } from "../../FlowEvents.ts"
import { isVoid, voidOutcome } from "../engine/Accepting.ts"
import { executionIn } from "../model/Awaited.ts"
import { failedStep } from "../model/Retrying.ts"
import type { Halt } from "../interpreter/Halts.ts"
import {
  type CommandRow,
  type Entry,
  type Execution,
  hasEnded,
  type History,
  isActive,
  type QueuePlace,
  type Stalled,
  type StepName,
  type Undo
} from "../model/Execution.ts"
import { addressOf } from "../model/Path.ts"
import { cancelledBy, cancelPath, outcomePath } from "../model/Replay.ts"

export const activityKinds = [
  "attempt",
  "pause",
  "stopped",
  "sleep",
  "signal",
  "inbox",
  "run",
  "child",
  "patch"
] as const

/** What a branch of an execution does, or waits for. */
export interface Activity {
  readonly path: string
  /**
   * `attempt`: a step runs. `pause`: its next attempt begins at `due`. `stopped`: its next attempt begins when the execution is
   * resumed or retried. The others are waits.
   */
  readonly kind: (typeof activityKinds)[number]
  readonly attempt: number
  /** When the attempt, the pause or the wait began: milliseconds since 1970. */
  readonly since: number
  /** When the first attempt began. */
  readonly firstAt: number
  /** When the next attempt begins, or the deadline of the wait. */
  readonly due: number | null
  /** What it waits for: a run, an execution, or a signal with its key, as for `signal`. */
  readonly subject: string | null
  /** How the last attempt failed, or why the awaited execution is halted. */
  readonly failure: Failure | null
  readonly host: string | null
  /** How often its process stood still while it ran the step, and lost its executions. */
  readonly stalled?: Stalled
  /** What the step has recorded with `Flow.details`. */
  readonly details?: Schema.Json
  /**
   * Of a wait for a signal or a message, what it is when it is sent with `FlowRequests`: `approval` or `request`. Absent for others, and
   * when this program has not registered the version.
   */
  readonly takes?: string
}

/** The process of an execution, whose event loop stands still: nothing that it runs goes on. */
export interface StandingStill {
  readonly host: string
  /** For how long, in milliseconds. */
  readonly millis: number
  /** The step whose code runs, maybe of another execution; null when that is not known. */
  readonly step: StepName | null
}

/** The state of an execution, with everything that is known of it. */
export interface Inspection {
  readonly execution: Execution
  /** Whether this program has registered its version. */
  readonly registered: boolean
  /** Its state in one line. */
  readonly summary: string
  /** What a person can do about it; null when it continues by itself or has completed. */
  readonly remedy: string | null
  /** What each branch does or waits for; for a halted or suspended execution, where it stopped. */
  readonly now: ReadonlyArray<Activity>
  /**
   * Since when its body computes or waits outside of a step: nothing is recorded meanwhile. Milliseconds since 1970; null when it
   * does not, or for less than a minute.
   */
  readonly computingSince: number | null
  /** Why it is halted; null when it is not. */
  readonly halt: Halt | null
  /** Its place in the queue of its limits; null when it is not queued, or suspended in its queue. */
  readonly queue: QueuePlace | null
  readonly undos: ReadonlyArray<Undo>
  /** Whether a cancel has arrived and the execution has not ended yet. */
  readonly cancelling: boolean
  /** The commands that were accepted and not carried out yet. */
  readonly pending: ReadonlyArray<Pending>
  /** The last commands that were accepted, the oldest first, and what became of them. */
  readonly commands: ReadonlyArray<RecentCommand>
  /** All attempts, in the order in which they began. */
  readonly steps: ReadonlyArray<Entry>
  /** Present while the process that runs it stands still. */
  readonly standing?: StandingStill
  /** The name of the key that is missing to read values: they are encrypted, and the program does not have it. */
  readonly unreadable?: string
  /** Whether the values are withheld, because the token of the reader is not for `values`: they are null, and failures have no text. */
  readonly withheld?: boolean
  /** A Mermaid flow chart of the steps. */
  readonly diagram: string
}

/** A command that was accepted, and is carried out later. */
export interface Pending {
  /** `cancel`, `suspend`, or a `resume` that the process which runs it would not understand. */
  readonly command: string
  /** Who gave it; null when that is not known. */
  readonly by: string | null
  /** When it was accepted: milliseconds since 1970. */
  readonly at: number
  /** What it waits for. */
  readonly waitsFor: string
}

/** A command that was accepted. */
export interface RecentCommand {
  readonly id: string
  readonly command: string
  /** Who gave it; null when that is not known. */
  readonly by: string | null
  /** When it was accepted: milliseconds since 1970. */
  readonly at: number
  /** The round of the execution in which it was accepted; `retry` begins the next one. */
  readonly round: number
  /**
   * `applied`: it was carried out, or nothing was left to do. `superseded`: a later one came before it. `too late`: the execution had
   * ended, or was undoing already. Null: it is pending.
   */
  readonly outcome: string | null
  /** When it ended so: milliseconds since 1970; null while it is pending. */
  readonly endedAt: number | null
}

/** The most commands that an inspection shows. */
const mostRecent = 20

/** Returns the last commands. One that was not read before the end of its execution came too late. */
export const recentOf = (execution: Execution, commands: ReadonlyArray<CommandRow>): ReadonlyArray<RecentCommand> =>
  commands.slice(-mostRecent).map((one) => {
    const { number: _number, seq: _seq, ...shown } = one
    if (!isVoid(execution, one)) return shown
    return { ...shown, outcome: voidOutcome(execution, one), endedAt: execution.endedAt }
  })

/** Returns the commands that were accepted and not carried out yet. */
export const pendingOf = (
  { execution, messages }: History,
  now: ReadonlyArray<Activity>,
  commands: ReadonlyArray<CommandRow>
): ReadonlyArray<Pending> => {
  if (hasEnded(execution.state)) return []
  const [running, ...others] = now.filter(({ kind }) => kind === "attempt")
  const waitsFor =
    execution.owner === null
      ? `a process that runs ${versionOf(execution)}`
      : running === undefined
        ? "its process to read it"
        : `${running.path} (attempt ${running.attempt}) to end${others.length === 0 ? "" : `, and ${others.length} more`}`
  const pending = commands.filter((one) => one.outcome === null && !isVoid(execution, one))
  // An older version sends commands without recording them.
  const unrecorded = messages.filter(
    ({ kind, seq }) => (kind === "cancel" || kind === "suspend") && !commands.some((one) => one.seq === seq)
  )
  return [
    ...unrecorded.map(({ at, kind }) => ({ command: kind, by: null, at, waitsFor })),
    ...pending.map(({ at, by, command, seq }) => {
      const later = `a process of this version: the one that runs ${versionOf(execution)} is of an earlier one`
      return { command, by, at, waitsFor: seq === null ? later : waitsFor }
    })
  ]
}

export const isMarker = ({ path }: Pick<Entry, "path">): boolean => path === cancelPath || path === outcomePath

const kindOf = ({ due, kind, state, subject }: Entry, isHalted: boolean): Activity["kind"] => {
  if (state === "retrying" && !isHalted && due !== null) return "pause"
  if (state === "retrying") return "stopped"
  if (executionIn(subject) !== null) return "child"
  if (kind === "step" || kind === "child") return isHalted ? "stopped" : "attempt"
  // Markers are recorded with their end.
  return kind === "cancel" || kind === "outcome" ? "attempt" : kind
}

/** Returns the entries that have begun and not ended, as activities. */
export const activitiesOf = ({ entries, execution }: History): ReadonlyArray<Activity> => {
  if (hasEnded(execution.state)) return []
  const attempts = new Map<string, Array<Entry>>()
  for (const entry of entries) {
    const before = attempts.get(entry.path)
    if (before === undefined) attempts.set(entry.path, [entry])
    else before.push(entry)
  }
  return [...attempts.values()].flatMap((all): ReadonlyArray<Activity> => {
    const last = all.at(-1)
    if (last === undefined || (last.state !== "running" && last.state !== "retrying")) return []
    const isSignal = last.kind === "signal" || last.kind === "inbox"
    return [
      {
        path: last.path,
        kind: kindOf(last, execution.state === "halted"),
        attempt: last.attempt,
        since: last.endedAt ?? last.startedAt,
        firstAt: all[0]?.startedAt ?? last.startedAt,
        due: last.due,
        subject: isSignal ? addressOf(last.path) : last.subject,
        failure: all.findLast(({ failure }) => failure !== null)?.failure ?? null,
        host: last.host,
        ...defined({ stalled: last.stalled ?? undefined, details: last.details ?? undefined })
      }
    ]
  })
}

/** The last moment that a date can hold, which means never. */
const lastMillis = 8.64e15

const timeOf = (millis: number): string => new Date(millis).toISOString()
const until = (due: number | null): string => (due === null || due > lastMillis ? "" : ` until ${timeOf(due)}`)
const messageOf = ({ message }: Failure): string => message.replace(/\s+/g, " ")
const after = ({ attempt, failure }: Activity): string =>
  failure === null ? "" : `, after attempt ${attempt}: ${messageOf(failure)}`

const secondsOf = (millis: number): string => `${Math.round(millis / 1_000)} s`
const stalledOf = ({ stalled }: Activity): string =>
  stalled === undefined
    ? ""
    : `; blocked the event loop of its process ${stalled.times === 1 ? "once" : `${stalled.times} times`} until the process lost its ` +
      `executions, the last time on ${stalled.host} for ${secondsOf(stalled.millis)}`

/** The longest JSON that a line has. */
const longestJson = 300

const jsonText = (json: Schema.Json): string => {
  const text = JSON.stringify(json)
  return text.length <= longestJson ? text : `${text.slice(0, longestJson)}…`
}

const recordedOf = ({ details }: Activity): string => (details === undefined ? "" : `, recorded ${jsonText(details)}`)

/** The text of an error by its schema: one without a message is shown with its members, as recorded. */
const errorText = (failure: Failure, error: Schema.Json): string => {
  const message = messageOf(failure)
  if (error === null || message !== failure.tag) return message
  return `${message} ${jsonText(error)}`
}

/** The text of each kind of activity, without its start. */
const said: Readonly<Record<Activity["kind"], (activity: Activity) => string>> = {
  attempt: ({ attempt, host, path }) => `runs ${path}, attempt ${attempt}${host === null ? "" : `, on ${host}`}`,
  pause: (activity) =>
    `tries ${activity.path} again${activity.due === null ? "" : ` at ${timeOf(activity.due)}`}${after(activity)}`,
  stopped: (activity) => `stopped in ${activity.path}${after(activity)}`,
  sleep: ({ due, path }) => `sleeps in ${path}${until(due)}`,
  signal: ({ path, subject }) =>
    `waits for the signal ${subject ?? path}${subject === null || subject === path ? "" : ` in ${path}`}`,
  inbox: ({ path, subject }) => `waits in ${path} for a message of ${subject ?? "its inbox"}`,
  run: ({ due, path, subject }) => `waits in ${path} for the ${subject ?? "run"}${until(due)}`,
  child: ({ failure, path, subject }) =>
    `waits in ${path} for the ${subject ?? "execution"}${failure === null ? "" : `, which is halted: ${messageOf(failure)}`}`,
  patch: ({ path }) => `records ${path}`
}

/** Returns a line with what a branch does or waits for, and since when. */
export const lineOf = (activity: Activity): string =>
  `${said[activity.kind](activity)}, since ${timeOf(activity.since)}${recordedOf(activity)}${stalledOf(activity)}`

/** Returns what a process that stands still means for one of its executions. */
const standingLine = (id: string, { host, millis, step }: StandingStill): string => {
  if (step === null) return `late by ${secondsOf(millis)}: the event loop of the process on ${host} is blocked`
  const whose = step.execution === id ? "" : ` of the execution ${step.execution}`
  return `late by ${secondsOf(millis)}: the event loop of the process on ${host} is blocked by the step ${step.path}${whose}`
}

/** The order of activities in the summary: a stopped step is more informative than a wait. */
const urgency: Readonly<Record<Activity["kind"], number>> = {
  stopped: 0,
  pause: 1,
  attempt: 2,
  signal: 3,
  inbox: 3,
  run: 3,
  child: 3,
  sleep: 4,
  patch: 5
}

interface Standing {
  readonly history: History
  readonly halt: Halt | null
  readonly computingSince: number | null
  readonly queue: QueuePlace | null
  readonly now: ReadonlyArray<Activity>
  readonly cancelling: boolean
  readonly pending: ReadonlyArray<Pending>
  /** Whether a living process has registered its version. */
  readonly runnable: boolean
  /** Absent unless its process stands still. */
  readonly standing?: StandingStill | undefined
}

const versionOf = ({ flow, version }: Execution): string => `${flow}@${version}`

const lastEnd = ({ entries }: History): string => {
  const ends = entries.filter((entry) => entry.ended !== null && !isMarker(entry))
  const last = ends.toSorted((one, other) => (one.ended ?? 0) - (other.ended ?? 0)).at(-1)
  return last === undefined ? "before its first step" : `after ${last.path}`
}

/** Returns a line with what a queued execution waits for. */
export const queueLine = ({ admitsAt, holders, key, limit, place }: QueuePlace): string => {
  const at = limit === null ? "" : `limit ${limit + 1} of its flow${key === null ? "" : ` (${key})`}`
  const after = admitsAt === null ? "" : `, which admits the next one at ${timeOf(admitsAt)}`
  const held = holders.length === 0 ? "" : `, held by ${holders.join(", ")}`
  return limit === null
    ? `number ${place} in the queue, for a process with capacity`
    : `number ${place} in the queue, at ${at}${after}${held}`
}

/** Returns what is to be said of the deadline of an execution that has not ended. */
const deadlineLine = ({ entries, execution: { deadlineAt } }: History): string => {
  if (deadlineAt === null) return ""
  const isOver = entries.some(({ path, value }) => path === cancelPath && cancelledBy(value) === "deadline")
  return isOver ? `; its deadline was ${timeOf(deadlineAt)}` : `; deadline ${timeOf(deadlineAt)}`
}

export const summaryOf = ({
  cancelling,
  computingSince,
  history,
  now,
  pending,
  queue,
  runnable,
  standing
}: Standing): string => {
  const { error, failure, state } = history.execution
  const why = failure === null ? "" : `: ${errorText(failure, error)}`
  const [first, ...others] = now.toSorted((one, other) => urgency[one.kind] - urgency[other.kind])
  const more = others.length === 0 ? "" : `, and ${others.length} more`
  if (state === "halted") {
    const stopped = first?.kind === "stopped" ? `in ${first.path}, attempt ${first.attempt}` : lastEnd(history)
    const since = first?.kind === "stopped" ? `, since ${timeOf(first.since)}` : ""
    return `halted ${stopped}${since}${why}`
  }
  if (hasEnded(state)) return `${state}${state === "completed" ? "" : why}`
  const by = deadlineLine(history)
  const missing = runnable ? "" : `no running program has registered ${versionOf(history.execution)}; `
  if (queue !== null) {
    const since = timeOf(history.execution.queuedAt ?? history.execution.startedAt)
    return `${missing}${state}${cancelling ? ", being cancelled" : ""}: ${queueLine(queue)}, since ${since}${by}`
  }
  if (history.execution.startsAt !== null) {
    return `${missing}${state}: starts at ${timeOf(history.execution.startsAt)}${by}`
  }
  const suspend = pending.find(({ command }) => command === "suspend")
  const suspending =
    suspend === undefined
      ? ""
      : `, suspend requested${suspend.by === null ? "" : ` by ${suspend.by}`} at ${timeOf(suspend.at)}, which waits for ${suspend.waitsFor}`
  const begun = `${state}${cancelling ? ", being cancelled" : ""}${suspending}`
  const late = standing === undefined ? "" : `; ${standingLine(history.execution.id, standing)}`
  if (computingSince !== null) {
    const others = first === undefined ? "" : `; ${lineOf(first)}${more}`
    return `${begun}: computes or waits outside of a step ${lastEnd(history)}, since ${timeOf(computingSince)}${others}${late}${by}`
  }
  return first === undefined
    ? `${missing}${begun}${why}${late}${by}`
    : `${missing}${begun}: ${lineOf(first)}${more}${late}${by}`
}

export const remedyOf = ({ computingSince, halt, history, runnable }: Standing): string | null => {
  const { execution } = history
  const { state } = execution
  if (halt !== null) return halt.remedy
  if (state === "suspended") return "resume it"
  if (state === "failed") {
    const from = failedStep(history)
    return from === null
      ? "retry it from a step that you name"
      : `fix the cause of the failure, then retry: it begins at ${from}, or at an earlier step that you name`
  }
  if (computingSince !== null) {
    return state === "undoing"
      ? "if it does not end, terminate it, without the remaining undos; move long work into a step"
      : "if it does not end, cancel it, which interrupts its body; move long work into a step"
  }
  if (!isActive(state) || runnable) return null
  return `start a program that registers ${versionOf(execution)} with Flow.layer; also to cancel it`
}
