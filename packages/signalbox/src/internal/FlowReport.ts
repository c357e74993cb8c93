/** Formats executions of flows for people. */
import type { Activity, Entry, Inspection, ListedExecution, Undo } from "@signalbox/flows/FlowExecutions"
import { columns } from "./Connection.ts"
import { table } from "./Table.ts"

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

const noteOf = (execution: ListedExecution): string => {
  const { failure, limits, queuedAt, registered, wakeAt } = execution
  if (failure !== null) return inLine(failure.message)
  if (hasEnded(execution)) return ""
  if (!registered) return "version not registered"
  if (queuedAt !== null) {
    const keys = limits.filter((key) => key !== null)
    return `in its queue since ${timeOf(queuedAt)}${keys.length === 0 ? "" : `, for ${keys.join(", ")}`}`
  }
  return execution.state === "waiting" && dueOf(wakeAt) !== "" ? `until ${dueOf(wakeAt)}` : ""
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

const activityRow = (now: number) => (activity: Activity) => {
  const { attempt, due, failure, host, kind, path, since, subject } = activity
  return [
    path,
    subject === null ? doing[kind] : `${doing[kind]} ${subject}`,
    `${attempt}`,
    `${timeOf(since)} (${durationOf(now - since)})`,
    dueOf(due),
    host ?? "",
    failure === null ? "" : inLine(failure.message)
  ]
}

const undoRow = ({ failure, path, state }: Undo) => [path, state, failure === null ? "" : inLine(failure.message)]

const stepRow = ({ attempt, endedAt, failure, kind, path, startedAt, state }: Entry) => [
  path,
  kind,
  `${attempt}`,
  state,
  timeOf(startedAt),
  endedAt === null ? "" : `${((endedAt - startedAt) / 1_000).toFixed(1)}s`,
  failure === null ? "" : inLine(failure.message)
]

/** A table below a line, omitted when it is empty. */
const section = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  rows.length === 0 ? [] : ["", table(head, rows)]

/** The report of an execution: its state, what it waits for, and its steps. */
export const report = ({ execution, now: activities, remedy, steps, summary, undos }: Inspection, now: number) => {
  const { endedAt, flow, id, input, key, result, startedAt, state, tags, version } = execution
  const ended = endedAt === null ? "" : `, ended ${timeOf(endedAt)}`
  return [
    columns([id, 36], [state, 9], [`${flow}@${version}`, 0]),
    inLine(summary),
    ...(remedy === null ? [] : [`remedy: ${remedy}`]),
    `key ${key}, began ${timeOf(startedAt)} (${durationOf(now - startedAt)})${ended}`,
    ...(tags.length === 0 ? [] : [`tags ${tags.join(", ")}`]),
    `input ${JSON.stringify(input)}`,
    ...(state === "completed" ? [`result ${JSON.stringify(result)}`] : []),
    ...section(["branch", "does", "attempt", "since", "due", "host", "last failure"], activities.map(activityRow(now))),
    ...section(["undo of", "state", "failure"], undos.map(undoRow)),
    ...section(["step", "kind", "attempt", "state", "started", "took", "failure"], steps.map(stepRow))
  ].join("\n")
}
