/** Schedules. */
import type { Schedule, ScheduleListed, Schedules, ScheduleTime } from "../../contract/Schedules.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badBodyOr, badPage, largePayload, nameExists, unknown, unknownOne } from "./Phrases.ts"

const mayNotStart =
  "The key is unknown or of another workspace, or it lacks `Schedules.write_schedules` or `Processes.trigger_processes`."

const rules = { cron: "30 2 * * mon-fri", zone: "Europe/Vienna" } as const

const badSchedule = badBodyOr(
  "not exactly one of `cron`, `every` and `at` is given, a time or zone is not valid, or a payload does not match the input schema of the process"
)

const definition = {
  name: "nightly",
  process: { id: ids.process },
  ...rules,
  calendar: { dates: ["2036-12-25"], otherwise: "before" },
  missed: "last",
  overlap: "skip",
  inputs: { type: "with_payloads", payloads: [{ day: "{at}" }] }
} as const

const listed: (typeof ScheduleListed)["Encoded"] = {
  id: ids.schedule,
  name: "nightly",
  process: { id: ids.process, name: "Invoices" },
  created_at: "2026-11-20T08:15:31.354Z",
  cron: "30 2 * * mon-fri",
  every: null,
  anchor: null,
  at: null,
  zone: "Europe/Vienna",
  from: null,
  until: null,
  calendar: { dates: ["2036-12-25"], weekdays: [], otherwise: "before" },
  jitter: "0 seconds",
  missed: "last",
  overlap: "queue",
  queue: 1,
  paused: null,
  next_at: "2026-11-23T01:30:00.000Z",
  waiting: []
}

const schedule: (typeof Schedule)["Encoded"] = { ...listed, inputs: definition.inputs, masked: [], running: [] }

const note = "the ERP is down until noon"

const paused: NonNullable<(typeof Schedule)["Encoded"]["paused"]> = {
  since: "2026-11-20T08:15:31.404Z",
  by: { type: "api_key", id: ids.callerKey, name: "deploy" },
  note
}

const times: ReadonlyArray<(typeof ScheduleTime)["Encoded"]> = [
  {
    at: "2026-11-23T01:30:00.000Z",
    starts_at: "2026-11-23T01:30:00.000Z",
    local: "2026-11-23T02:30:00.000+01:00[Europe/Vienna]"
  },
  {
    at: "2026-11-24T01:30:00.000Z",
    starts_at: "2026-11-24T01:30:00.000Z",
    local: "2026-11-24T02:30:00.000+01:00[Europe/Vienna]"
  }
]

export const schedules: Documented<typeof Schedules> = {
  getSchedule: {
    description: "Returns a schedule with its next time, what its runs start with, and its runs that have not ended.",
    response: { ...schedule, paused },
    errors: { 404: unknown("schedule") }
  },
  listSchedules: {
    description: "Returns the schedules of the workspace, or of one process, newest first.",
    response: { data: [listed], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createSchedule: {
    description:
      "Creates a schedule: one of `cron`, `every` and `at`, in a time zone. It counts from now; earlier times start nothing. Each time starts one run, or is recorded as skipped with the reason. In payloads, `{at}` in any text is the time of the occurrence. The schedule continues when the key that created it is revoked.",
    request: definition,
    response: { ...schedule, overlap: "skip" },
    errors: {
      400: badSchedule,
      403: mayNotStart,
      404: unknown("process"),
      409: nameExists("schedule"),
      413: largePayload
    }
  },
  updateSchedule: {
    description:
      "Replaces the whole schedule; a pause and the history stay. With other times it counts from now, and occurrences that wait for an earlier run are skipped as `changed`. Runs that have started continue.",
    request: { ...definition, overlap: "queue", queue: 1 },
    response: schedule,
    errors: {
      400: badSchedule,
      403: mayNotStart,
      404: unknownOne("schedule", "process"),
      409: nameExists("schedule"),
      413: largePayload
    }
  },
  deleteSchedule: {
    description: "Deletes a schedule with its history. Irreversible. Its runs continue.",
    response: { id: ids.schedule, deleted: true },
    errors: { 404: unknown("schedule") }
  },
  pauseSchedule: {
    description:
      "Pauses a schedule: until it is resumed, its occurrences are skipped as `paused`. Its runs continue. The note records the reason.",
    request: { note },
    response: { ...schedule, paused },
    errors: { 400: badBody, 404: unknown("schedule") }
  },
  resumeSchedule: {
    description:
      "Ends the pause of a schedule. Only times from now on start runs; skipped ones do not. Changes nothing when it is not paused.",
    response: schedule,
    errors: { 404: unknown("schedule") }
  },
  getScheduleTimes: {
    description:
      "Returns the next ten times of a schedule, fewer when no more are left, also while it is paused. `starts_at` is later than `at` by the jitter; `local` is the time in the zone of the schedule.",
    response: { data: times },
    errors: { 404: unknown("schedule") }
  },
  previewScheduleTimes: {
    description:
      "Returns the next ten times that a schedule with these rules would have if it were created now. Nothing is stored.",
    request: rules,
    response: { data: times },
    errors: { 400: badBodyOr("not exactly one of `cron`, `every` and `at` is given, or a time or zone is not valid") }
  },
  listScheduleOccurrences: {
    description:
      "Returns the past occurrences of a schedule, newest first: the run that was started, or the reason why none was. Stored for 90 days, at most the last 10,000.",
    response: {
      data: [
        {
          id: ids.occurrence,
          at: "2026-11-26T01:30:00.000Z",
          recorded_at: "2026-11-24T08:15:33.048Z",
          outcome: "started",
          reason: null,
          why: null,
          process_run: { id: ids.scheduledRun }
        }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage, 404: unknown("schedule") }
  }
}
