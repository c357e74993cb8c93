/** Formats executions of flows for people. */
import type {
  Activity,
  Entry,
  Halt,
  Inspection,
  ListedExecution,
  RecentCommand,
  Undo
} from "@signalbox/flows/FlowExecutions"
import { columns } from "../connection/Connection.ts"
import { table } from "../text/Table.ts"

const timeOf = (millis: number | null): string => (millis === null ? "" : new Date(millis).toISOString())

/** The maximum of a date: something due then is never due. */
const lastMillis = 8.64e15
const dueOf = (due: number | null): string => (due === null || due > lastMillis ? "" : timeOf(due))

const inLine = (text: string): string => text.replace(/\s+/g, " ")

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60]
] as const

/** A duration in the largest unit of which it has at least one. */
export const durationOf = (millis: number): string => {
  const seconds = Math.max(Math.round(millis / 1_000), 0)
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ["s", 1]
  return `${Math.floor(seconds / length)}${unit}`
}

const hasEnded = ({ endedAt }: Pick<ListedExecution, "endedAt">): boolean => endedAt !== null

/** What an execution that has not begun waits for, or one that waits for a time. */
const waitOf = ({ deadlineAt, limits, queuedAt, startsAt, state, wakeAt }: ListedExecution): string => {
  if (startsAt !== null) return `starts at ${timeOf(startsAt)}`
  if (queuedAt !== null) {
    const keys = limits.filter((key) => key !== null)
    return `queued since ${timeOf(queuedAt)}${keys.length === 0 ? "" : `, for ${keys.join(", ")}`}`
  }
  return state === "waiting" && wakeAt !== deadlineAt && dueOf(wakeAt) !== "" ? `until ${dueOf(wakeAt)}` : ""
}

const noteOf = (execution: ListedExecution): string => {
  const { deadlineAt, failure, priority, registered } = execution
  if (failure !== null) return inLine(failure.message)
  if (hasEnded(execution)) return ""
  if (!registered) return "version not registered"
  const notes = [
    waitOf(execution),
    priority === 0 ? "" : `priority ${priority}`,
    deadlineAt === null ? "" : `deadline ${timeOf(deadlineAt)}`
  ]
  return notes.filter((note) => note !== "").join(", ")
}

/** State, age, flow, key, and details by state. */
export const executionLine = (execution: ListedExecution, now: number): string => {
  const { flow, id, key, startedAt, state, version } = execution
  return columns(
    [id, 36],
    [state, 9],
    [durationOf(now - startedAt), 4],
    [`${flow}@${version}`, 20],
    [key, 20],
    [noteOf(execution), 0]
  )
}

const doing: Readonly<Record<Activity["kind"], string>> = {
  attempt: "runs",
  pause: "retries",
  stopped: "stopped",
  sleep: "sleeps",
  signal: "waits for the signal",
  inbox: "waits for a message of",
  run: "waits for the",
  child: "waits for the execution",
  patch: "records"
}

/** The longest JSON, in a table and in a line of its own; `--json` has it whole. */
const longestInTable = 200
const longestError = 4_000

const bounded = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters; --json shows all)`

/** What the code of a step has recorded for its next attempt; null: it is withheld. */
const recordedOf = ({ details = null }: Pick<Activity, "details">): string =>
  details === null ? "" : `, recorded ${bounded(JSON.stringify(details), longestInTable)}`

const activityRow = (now: number) => (activity: Activity) => {
  const { attempt, due, failure, host, kind, path, since, subject } = activity
  return [
    path,
    `${doing[kind]}${subject === null ? "" : ` ${subject}`}${recordedOf(activity)}`,
    `${attempt}`,
    `${timeOf(since)} (${durationOf(now - since)})`,
    dueOf(due),
    host ?? "",
    failure === null ? "" : inLine(failure.message)
  ]
}

const undoRow = ({ failure, path, state }: Undo) => [path, state, failure === null ? "" : inLine(failure.message)]

/** How a step failed: the message of its error, and its members when it has no other message than its tag. */
const failedWith = ({ failure, value }: Pick<Entry, "failure" | "value">): string => {
  if (failure === null) return ""
  const message = inLine(failure.message)
  return value === null || failure.kind !== "failed" || message !== failure.tag
    ? message
    : `${message} ${bounded(JSON.stringify(value), longestInTable)}`
}

const stepRow = (entry: Entry) => {
  const { attempt, endedAt, kind, path, startedAt, state } = entry
  return [
    path,
    kind,
    `${attempt}`,
    `${state}${recordedOf(entry)}`,
    timeOf(startedAt),
    endedAt === null ? "" : `${((endedAt - startedAt) / 1_000).toFixed(1)}s`,
    failedWith(entry)
  ]
}

/** A table below a line, omitted when it is empty. */
const section = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  rows.length === 0 ? [] : ["", table(head, rows)]

type Operation = NonNullable<Halt["recorded"]>

const operationOf = ({ kind, name, path }: Operation): string =>
  path === name ? `${kind} ${path}` : `${path} (${kind} ${name})`

/** Why it is halted: the cause, the recorded and the reached step side by side, and who ran it last. */
const haltLines = (halt: Halt | null, summary: string): ReadonlyArray<string> => {
  if (halt === null) return []
  const { code, host, lastRun, message, process, reached, recorded, since } = halt
  const on = host === null ? "" : ` on ${host}${process === null ? "" : `, process ${process}`}`
  return [
    summary.endsWith(inLine(message)) ? `halt ${code}` : `halt ${code}: ${inLine(message)}`,
    ...(recorded === null
      ? []
      : [`recorded ${operationOf(recorded)}; reached ${reached === null ? "the end" : operationOf(reached)}`]),
    `halted ${timeOf(since)}${on}${lastRun === null ? "" : `; last run on ${lastRun.host}: ${lastRun.path}, ${timeOf(lastRun.at)}`}`
  ]
}

const commandRow = ({ at, by, command, outcome }: RecentCommand) => [
  command,
  timeOf(at),
  by ?? "",
  outcome ?? "pending"
]

/** Says why values are not shown. */
const hidden = ({
  unreadable,
  withheld = false
}: Pick<Inspection, "unreadable" | "withheld">): ReadonlyArray<string> => [
  ...(withheld ? ["values are withheld: the token is not for `values`"] : []),
  ...(unreadable === undefined
    ? []
    : [`values are encrypted with the key ${unreadable}, which the program does not have`])
]

/** The report of an execution: its state, what it waits for, and its steps. */
export const report = (inspection: Inspection, now: number) => {
  const { commands, execution, halt, now: activities, remedy, steps, summary, undos } = inspection
  const {
    deadlineAt,
    endedAt,
    error,
    flow,
    id,
    input,
    key,
    priority,
    result,
    startedAt,
    startsAt,
    state,
    tags,
    version
  } = execution
  const ended = endedAt === null ? "" : `, ended ${timeOf(endedAt)}`
  return [
    columns([id, 36], [state, 9], [`${flow}@${version}`, 0]),
    inLine(summary),
    ...haltLines(halt, inLine(summary)),
    ...(remedy === null ? [] : [`remedy: ${remedy}`]),
    `key ${key}, ${startsAt === null ? "started" : "submitted"} ${timeOf(startedAt)} (${durationOf(now - startedAt)})${ended}`,
    ...(priority === 0 ? [] : [`priority ${priority}`]),
    ...(deadlineAt === null ? [] : [`deadline ${timeOf(deadlineAt)}`]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(", ")}`]),
    ...hidden(inspection),
    `input ${JSON.stringify(input)}`,
    ...(state === "completed" ? [`result ${JSON.stringify(result)}`] : []),
    ...(state === "failed" && error !== null ? [`error ${bounded(JSON.stringify(error), longestError)}`] : []),
    ...section(
      ["branch", "activity", "attempt", "since", "due", "host", "last failure"],
      activities.map(activityRow(now))
    ),
    ...section(["undo", "state", "failure"], undos.map(undoRow)),
    ...section(["command", "accepted", "by", "outcome"], commands.map(commandRow)),
    ...section(["step", "kind", "attempt", "state", "started", "duration", "failure"], steps.map(stepRow))
  ].join("\n")
}
