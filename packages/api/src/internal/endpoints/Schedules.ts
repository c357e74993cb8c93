/** Schedules: times at which runs of a process start. An extension. */
import * as Schema from "effect/Schema"
import {
  Deleted,
  listQuery,
  Name,
  NamedRef,
  OpenEnum,
  Page,
  Ref,
  Text,
  Timestamp,
  TimestampText,
  UnrecognisedTag
} from "../../contract/Common.ts"
import { ProcessId, ProcessRunId, ScheduleId, ScheduleOccurrenceId, WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import { masked } from "./SecretFields.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const scheduleWeekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const
export const scheduleOtherwises = ["skip", "before", "after"] as const
export const scheduleMissed = ["none", "last", "all"] as const
export const scheduleOverlaps = ["skip", "queue", "allow", "stop"] as const

/**
 * Why an occurrence was skipped:
 * - `missed`: it was not processed in time, and `missed` of the schedule excludes it.
 * - `overlap`: an earlier run was still running, or another occurrence began instead.
 * - `calendar`: its day is excluded.
 * - `paused`: the schedule was paused.
 * - `changed`: the schedule was changed before it started.
 * - `refused`: the process could not be started.
 * - `no_items`: no work item waited in the queue of the process.
 */
export const skipReasons = ["missed", "overlap", "calendar", "paused", "changed", "refused", "no_items"] as const
export type SkipReason = (typeof skipReasons)[number]

const Payloads = Schema.Struct({
  type: Schema.Literal("with_payloads"),
  payloads: Schema.Array(Schema.Json).check(Schema.isBetweenLength(1, 1000))
})
const Queue = Schema.Struct({ type: Schema.Literal("with_inputs") })
const Default = Schema.Struct({ type: Schema.Literal("default") })

/**
 * What each run starts with: fixed payloads, in which `{at}` in any text is the time of the occurrence, such as
 * `2026-11-20T08:00:00.000Z`; all items that wait in the queue of the process; or (`default`) the default work item of
 * the process, else one empty item.
 */
export const ScheduleInputs = Schema.Union([Payloads, Queue, Default])
export type ScheduleInputs = typeof ScheduleInputs.Type

/** Who did something. */
export class Actor extends Struct<Actor>("Actor")({
  type: OpenEnum(["api_key", "user"]),
  id: Schema.String,
  name: Schema.String
}) {}

class Calendar extends Struct<Calendar>()({
  dates: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(3660))),
  weekdays: Schema.optionalKey(Schema.Array(Schema.Literals(scheduleWeekdays))),
  otherwise: Schema.optionalKey(Schema.Literals(scheduleOtherwises))
}) {}

/** The fields that determine when a schedule comes and what an occurrence does, as they are written. */
export const scheduleRules = {
  /** Five fields, or six with seconds first. One of `cron`, `every` and `at` is given. */
  cron: Schema.optionalKey(Text),
  /** Such as `90 minutes`; at least a second. */
  every: Schema.optionalKey(Text),
  /** The first of the times of `every`; default 1970-01-01T00:00:00Z. */
  anchor: Schema.optionalKey(TimestampText),
  /** Once. */
  at: Schema.optionalKey(TimestampText),
  /** A name of the IANA database; default `UTC`. */
  zone: Schema.optionalKey(Text),
  from: Schema.optionalKey(TimestampText),
  until: Schema.optionalKey(TimestampText),
  calendar: Schema.optionalKey(Calendar),
  jitter: Schema.optionalKey(Text),
  missed: Schema.optionalKey(Schema.Literals(scheduleMissed)),
  overlap: Schema.optionalKey(Schema.Literals(scheduleOverlaps)),
  queue: Schema.optionalKey(Schema.Int)
}

/** When a schedule comes, without its name and process. */
export class ScheduleRules extends Struct<ScheduleRules>()(scheduleRules) {}

/** A schedule as it is written; replaces the whole schedule. */
export class ScheduleDefinition extends Struct<ScheduleDefinition>()({
  name: Name,
  process: Ref(ProcessId),
  ...scheduleRules,
  inputs: Schema.optionalKey(ScheduleInputs)
}) {}

const listed = {
  id: ScheduleId,
  name: Schema.String,
  process: NamedRef(ProcessId),
  created_at: Timestamp,
  cron: Schema.NullOr(Schema.String),
  every: Schema.NullOr(Schema.String),
  anchor: Schema.NullOr(Timestamp),
  at: Schema.NullOr(Timestamp),
  zone: Schema.String,
  from: Schema.NullOr(Timestamp),
  until: Schema.NullOr(Timestamp),
  calendar: Schema.Struct({
    dates: Schema.Array(Schema.String),
    weekdays: Schema.Array(OpenEnum(scheduleWeekdays)),
    otherwise: OpenEnum(scheduleOtherwises)
  }),
  jitter: Schema.String,
  missed: OpenEnum(scheduleMissed),
  overlap: OpenEnum(scheduleOverlaps),
  queue: Schema.Int,
  /** Since when, by whom and why; null: it is not paused. */
  paused: Schema.NullOr(Schema.Struct({ since: Timestamp, by: Actor, note: Schema.String })),
  /** The time of the next occurrence, also while it is paused; null when none is left. */
  next_at: Schema.NullOr(Timestamp),
  /** Times of the occurrences that begin when an earlier run has ended. */
  waiting: Schema.Array(Timestamp)
}

/** A schedule in lists. */
export class ScheduleListed extends Struct<ScheduleListed>("ScheduleListed")(listed) {}

/** A schedule with what its runs start with, and its runs that have not ended. */
export class Schedule extends Struct<Schedule>("Schedule")({
  ...listed,
  inputs: Schema.Union([
    ...ScheduleInputs.members,
    Schema.Struct({ type: UnrecognisedTag(["with_payloads", "with_inputs", "default"]) })
  ]),
  /** The pointers to what is masked in the payloads of `inputs`; they begin with the index of the payload. */
  masked,
  running: Schema.Array(Ref(ProcessRunId))
}) {}

/** A time that has not come; `starts_at` is later by the jitter, `local` is the time in the zone of the schedule. */
export class ScheduleTime extends Struct<ScheduleTime>("ScheduleTime")({
  at: Timestamp,
  starts_at: Timestamp,
  local: Schema.String
}) {}

/** What became of an occurrence: its run, or the reason why there is none. Stored for 90 days, the last 10,000. */
export class ScheduleOccurrence extends Struct<ScheduleOccurrence>("ScheduleOccurrence")({
  id: ScheduleOccurrenceId,
  /** The time of the schedule that it is the occurrence of: there is one for each. */
  at: Timestamp,
  recorded_at: Timestamp,
  outcome: OpenEnum(["started", "skipped"]),
  /** Null when it was started. */
  reason: Schema.NullOr(OpenEnum(skipReasons)),
  why: Schema.NullOr(Schema.String),
  /** Null when it was skipped. A run may have been deleted since. */
  process_run: Schema.NullOr(Ref(ProcessRunId))
}) {}

const params = { workspace_id: WorkspaceId, schedule_id: ScheduleId }
const path = "/workspaces/:workspace_id/schedules"
const one = `${path}/:schedule_id` as const

export const get = /* @__PURE__ */ Endpoint.get("getSchedule", one, () => ({
  extension: true,
  params,
  success: Schedule,
  error: NotFoundResponse
}))

export const list = /* @__PURE__ */ Endpoint.get("listSchedules", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: { ...listQuery, process_id: Schema.optional(ProcessId) },
  success: Page(ScheduleListed),
  error: InvalidRequestResponse
}))

const written = [
  InvalidRequestResponse,
  NotFoundResponse,
  ConflictResponse,
  ForbiddenResponse,
  PayloadTooLargeResponse
] as const

export const create = /* @__PURE__ */ Endpoint.post("createSchedule", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: ScheduleDefinition,
  success: Schedule,
  error: written
}))

export const update = /* @__PURE__ */ Endpoint.post("updateSchedule", one, () => ({
  extension: true,
  params,
  payload: ScheduleDefinition,
  success: Schedule,
  error: written
}))

export const remove = /* @__PURE__ */ Endpoint.delete("deleteSchedule", one, () => ({
  extension: true,
  params,
  success: Deleted(ScheduleId),
  error: NotFoundResponse
}))

export const pause = /* @__PURE__ */ Endpoint.post("pauseSchedule", `${one}/pause`, () => ({
  extension: true,
  params,
  payload: Schema.Struct({ note: Text.check(Schema.isMaxLength(1000)) }),
  success: Schedule,
  error: [InvalidRequestResponse, NotFoundResponse]
}))

export const resume = /* @__PURE__ */ Endpoint.post("resumeSchedule", `${one}/resume`, () => ({
  extension: true,
  params,
  success: Schedule,
  error: NotFoundResponse
}))

export const next = /* @__PURE__ */ Endpoint.get("getScheduleTimes", `${one}/next`, () => ({
  extension: true,
  params,
  success: Schema.Struct({ data: Schema.Array(ScheduleTime) }),
  error: NotFoundResponse
}))

export const previewTimes = /* @__PURE__ */ Endpoint.post("previewScheduleTimes", `${path}/preview`, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: ScheduleRules,
  success: Schema.Struct({ data: Schema.Array(ScheduleTime) }),
  error: InvalidRequestResponse
}))

export const listOccurrences = /* @__PURE__ */ Endpoint.get("listScheduleOccurrences", `${one}/occurrences`, () => ({
  extension: true,
  params,
  query: listQuery,
  success: Page(ScheduleOccurrence),
  error: [InvalidRequestResponse, NotFoundResponse]
}))
