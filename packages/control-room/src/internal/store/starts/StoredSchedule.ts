/** Rows of schedules and of their occurrences, and how they are shown. */
import { ProcessId, ProcessRunId, ScheduleId, ScheduleOccurrenceId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type {
  Actor,
  ScheduleDefinition,
  ScheduleInputs,
  ScheduleListed,
  ScheduleOccurrence,
  SkipReason
} from "@signalbox/api/contract/Schedules"
import { State } from "@signalbox/schedule/Due"
import type { Sql } from "@signalbox/sql/Sql"
import { converted, flag, id, json, nullable, Table, text, word } from "@signalbox/sql/Table"
import * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"
import type { Progress } from "../../engine/Schedules.ts"

/** The rules of a definition as they are stored: valid, and with every default. */
export interface StoredRules {
  readonly cron?: string | undefined
  readonly every?: string | undefined
  readonly anchor?: string | undefined
  readonly at?: string | undefined
  readonly zone: string
  readonly from?: string | undefined
  readonly until?: string | undefined
  readonly calendar: ScheduleListed["calendar"]
  readonly jitter: string
  readonly missed: NonNullable<ScheduleDefinition["missed"]>
  readonly overlap: NonNullable<ScheduleDefinition["overlap"]>
  readonly queue: number
}

export interface StoredSchedule {
  readonly id: ScheduleId
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly name: string
  /** JSON of `StoredRules`. */
  readonly definition: string
  readonly inputs: ScheduleInputs
  readonly progress: Progress
  readonly pausedBy: Actor | null
  readonly view: ScheduleListed
}

const StateText = Schema.fromJsonString(State)
const decodeState = Schema.decodeSync(StateText)
const encodeState = Schema.encodeSync(StateText)

export const scheduleTable = Table("schedule", {
  workspace_id: id(WorkspaceId),
  id: id(ScheduleId),
  process_id: id(ProcessId),
  name: text,
  /** JSON of `StoredRules`. */
  definition: text,
  created_at: text,
  state: converted(decodeState, encodeState),
  paused_by: nullable(json<Actor>()),
  starting: json<Progress["starting"]>(),
  next_at: nullable(text),
  wake_at: nullable(text),
  waits: flag,
  // Only what the contract has decoded is stored.
  inputs: converted((text) => ExactJson.parse(text) as ScheduleInputs, JSON.stringify)
})

/** What a list shows; inputs may be large. */
const listedColumns = scheduleTable.pick(
  "workspace_id",
  "id",
  "process_id",
  "name",
  "definition",
  "created_at",
  "state",
  "paused_by",
  "starting",
  "next_at",
  "wake_at"
)
export const listedRow = listedColumns.and({ process_name: text })
export const scheduleRow = listedRow.and(scheduleTable.pick("inputs").fields)

const processName = "(SELECT name FROM process WHERE process.id = schedule.process_id) AS process_name"
export const selectListed = (sql: Sql) =>
  sql`SELECT ${listedColumns.columns}, ${sql.literal(processName)} FROM schedule`
export const selectWhole = (sql: Sql) =>
  sql`SELECT ${listedColumns.columns}, inputs, ${sql.literal(processName)} FROM schedule`

export const occurrenceTable = Table("schedule_occurrence", {
  workspace_id: id(WorkspaceId),
  schedule_id: id(ScheduleId),
  id: id(ScheduleOccurrenceId),
  at: text,
  recorded_at: text,
  outcome: word<"started" | "skipped">(),
  reason: nullable(word<SkipReason>()),
  why: nullable(text),
  process_run_id: nullable(id(ProcessRunId))
})
export const occurrenceRow = occurrenceTable.pick(
  "id",
  "at",
  "recorded_at",
  "outcome",
  "reason",
  "why",
  "process_run_id"
)

const millisOf = (text: string | null): number | null => (text === null ? null : Date.parse(text))
const isoOf = (millis: number): string => new Date(millis).toISOString()

const progressOf = (row: typeof listedRow.Type): Progress => ({
  state: row.state,
  starting: row.starting,
  wakeAt: millisOf(row.wake_at)
})

export const parseListed = (row: typeof listedRow.Type): ScheduleListed => {
  const { state, starting } = progressOf(row)
  const rules: StoredRules = JSON.parse(row.definition)
  const by = row.paused_by
  const { paused, queue } = state
  return {
    id: row.id,
    name: row.name,
    process: { id: row.process_id, name: row.process_name },
    created_at: row.created_at,
    cron: rules.cron ?? null,
    every: rules.every ?? null,
    anchor: rules.anchor ?? null,
    at: rules.at ?? null,
    zone: rules.zone,
    from: rules.from ?? null,
    until: rules.until ?? null,
    calendar: rules.calendar,
    jitter: rules.jitter,
    missed: rules.missed,
    overlap: rules.overlap,
    queue: rules.queue,
    paused:
      paused === null || by === null ? null : { since: isoOf(paused.at.epochMilliseconds), by, note: paused.note },
    next_at: row.next_at,
    waiting: [...starting, ...queue.map(({ epochMilliseconds }) => epochMilliseconds)].map(isoOf)
  }
}

export const parseSchedule = (row: typeof scheduleRow.Type): StoredSchedule => ({
  id: row.id,
  workspaceId: row.workspace_id,
  processId: row.process_id,
  name: row.name,
  definition: row.definition,
  inputs: row.inputs,
  progress: progressOf(row),
  pausedBy: row.paused_by,
  view: parseListed(row)
})

export const parseOccurrence = (row: typeof occurrenceRow.Type): ScheduleOccurrence => ({
  id: row.id,
  at: row.at,
  recorded_at: row.recorded_at,
  outcome: row.outcome,
  reason: row.reason,
  why: row.why,
  process_run: row.process_run_id === null ? null : { id: row.process_run_id }
})
