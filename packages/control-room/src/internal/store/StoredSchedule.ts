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
import * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"
import type { Progress } from "../engine/Schedules.ts"

/** Read for lists; inputs may be large. */
export const listedColumns = [
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
] as const

export interface ListedRow {
  readonly workspace_id: string
  readonly id: string
  readonly process_id: string
  readonly process_name: string
  readonly name: string
  readonly definition: string
  readonly created_at: string
  readonly state: string
  readonly paused_by: string | null
  readonly starting: string
  readonly next_at: string | null
  readonly wake_at: string | null
}

export interface ScheduleRow extends ListedRow {
  readonly inputs: string
}

export interface OccurrenceRow {
  readonly id: string
  readonly at: string
  readonly recorded_at: string
  readonly outcome: "started" | "skipped"
  readonly reason: SkipReason | null
  readonly why: string | null
  readonly process_run_id: string | null
}

/** The rules of a definition as they are stored: valid, and with every default. */
export interface StoredRules {
  readonly cron?: string
  readonly every?: string
  readonly anchor?: string
  readonly at?: string
  readonly zone: string
  readonly from?: string
  readonly until?: string
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
export const encodeState = Schema.encodeSync(StateText)

const millisOf = (text: string | null): number | null => (text === null ? null : Date.parse(text))
const isoOf = (millis: number): string => new Date(millis).toISOString()

const progressOf = (row: ListedRow): Progress => ({
  state: decodeState(row.state),
  starting: JSON.parse(row.starting),
  wakeAt: millisOf(row.wake_at)
})

export const parseListed = (row: ListedRow): ScheduleListed => {
  const { state, starting } = progressOf(row)
  const rules: StoredRules = JSON.parse(row.definition)
  const by: Actor | null = row.paused_by === null ? null : JSON.parse(row.paused_by)
  const { paused, queue } = state
  return {
    id: ScheduleId.make(row.id),
    name: row.name,
    process: { id: ProcessId.make(row.process_id), name: row.process_name },
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

export const parseSchedule = (row: ScheduleRow): StoredSchedule => ({
  id: ScheduleId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  name: row.name,
  definition: row.definition,
  // Only what the contract has decoded is stored.
  inputs: ExactJson.parse(row.inputs) as ScheduleInputs,
  progress: progressOf(row),
  pausedBy: row.paused_by === null ? null : JSON.parse(row.paused_by),
  view: parseListed(row)
})

export const parseOccurrence = (row: OccurrenceRow): ScheduleOccurrence => ({
  id: ScheduleOccurrenceId.make(row.id),
  at: row.at,
  recorded_at: row.recorded_at,
  outcome: row.outcome,
  reason: row.reason,
  why: row.why,
  process_run: row.process_run_id === null ? null : { id: ProcessRunId.make(row.process_run_id) }
})
