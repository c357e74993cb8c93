/** Formats schedules of flows for people. */
import { onWire } from "@signalbox/flows/FlowManagementClient"
import type { Outcome, Schedule } from "@signalbox/flows/FlowSchedules"
import { table } from "../text/Table.ts"

const timeOf = (millis: number | null): string => (millis === null ? "" : new Date(millis).toISOString())

const versionOf = ({ flow, version }: Schedule): string => `${flow}@${version}`

const noteOf = ({ local, paused, problem }: Schedule): string => {
  if (problem !== null) return `since ${timeOf(problem.since)}: ${problem.message}`
  if (paused !== null) return pausedText(paused)
  return local ? "" : "not executed by this program"
}

const pausedText = ({ at, by, note }: NonNullable<Schedule["paused"]>): string =>
  ["paused", `since ${timeOf(at)}`, ...(by === "" ? [] : [`by ${by}`])].join(" ") + (note === "" ? "" : `: ${note}`)

/** One line for each schedule. */
export const scheduleTable = (schedules: ReadonlyArray<Schedule>): string =>
  table(
    ["schedule", "flow", "next", "running", "waiting", "note"],
    schedules.map((schedule) => [
      schedule.name,
      versionOf(schedule),
      timeOf(schedule.next),
      `${schedule.running.length}`,
      `${schedule.waiting.length + schedule.backfill.length}`,
      noteOf(schedule)
    ])
  )

const outcomeRow = ({ at, execution, outcome, reason, why }: Outcome) => [
  timeOf(at),
  reason ?? outcome,
  execution ?? "",
  why ?? ""
]

const rowsUnder = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  rows.length === 0 ? [] : ["", table(head, rows)]

const listed = (what: string, times: ReadonlyArray<number>) =>
  times.length === 0 ? [] : [`${what} ${times.map(timeOf).join(", ")}`]

/** All details of one schedule. */
export const scheduleReport = (schedule: Schedule): string => {
  const { backfill, name, next, recent, running, setAt, waiting } = schedule
  const note = noteOf(schedule)
  return [
    `${name}  ${versionOf(schedule)}`,
    ...(note === "" ? [] : [note]),
    `next ${next === null ? "none" : timeOf(next)}`,
    `definition ${JSON.stringify(onWire.schedule(schedule).definition)}, set ${timeOf(setAt)}`,
    ...listed("waiting", waiting),
    ...listed("backfill", backfill),
    ...rowsUnder(
      ["running", "execution", "state"],
      running.map(({ at, execution, state }) => [timeOf(at), execution, state])
    ),
    ...rowsUnder(["time", "outcome", "execution", "reason"], recent.map(outcomeRow))
  ].join("\n")
}
