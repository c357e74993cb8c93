/**
 * Alerts: what is watched, whom its messages go to, and its firings. An extension.
 */
import * as Option from "effect/Option"
import * as DateTime from "effect/DateTime"
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
  TimestampInput
} from "../../contract/Common.ts"
import {
  AlertChannelId,
  AlertFiringId,
  AlertId,
  AlertMessageId,
  ProcessId,
  ScheduleId,
  WebhookId,
  WorkerGroupId,
  WorkspaceId
} from "../../contract/Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** A name in the IANA database. */
export const ZoneName = Schema.String.check(
  Schema.makeFilter((zone) =>
    Option.isNone(DateTime.zoneMakeNamed(zone))
      ? `no such time zone: "${zone}"; write a name of the IANA database, such as Europe/Vienna`
      : undefined
  )
)

const Time = Schema.String.check(
  Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { message: "Expected a time of day such as 08:30" })
)

export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const
export type Weekday = (typeof weekdays)[number]

/**
 * Hours of each day in a zone, `from` (in) to `to` (out); a `to` that is not after `from` is of the next day, so that the
 * same time twice is the whole day. Of the days in `weekdays` (default all) but those in `except` (such as 2026-12-25);
 * hours over midnight belong to the day they begin on.
 */
export class AlertHours extends Struct<AlertHours>()({
  zone: ZoneName,
  from: Time,
  to: Time,
  weekdays: Schema.optionalKey(Schema.Array(Schema.Literals(weekdays)).check(Schema.isBetweenLength(1, 7))),
  except: Schema.optionalKey(
    Schema.Array(
      Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d$/, { message: "Expected a day such as 2026-12-25" }))
    ).check(Schema.isMaxLength(1000))
  )
}) {}

const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 366 * 24 * 3600 }))
const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }))
const ofProcess = { process: Schema.optionalKey(Ref(ProcessId)) }

/** What an alert can watch, with the parameters of each; by the name in `type`. */
export const alertRules = {
  run_unresolved: { ...ofProcess },
  failure_group: {
    ...ofProcess,
    grows: Schema.optionalKey(Schema.Struct({ items: Count, within_seconds: Seconds }))
  },
  nothing_completed: { process: Ref(ProcessId), seconds: Seconds, hours: Schema.optionalKey(AlertHours) },
  item_waits: { ...ofProcess, seconds: Seconds },
  no_worker: { worker_group: Schema.optionalKey(Ref(WorkerGroupId)), seconds: Seconds },
  schedule_missed: { schedule: Schema.optionalKey(Ref(ScheduleId)) },
  deliveries_fail: { webhook: Schema.optionalKey(Ref(WebhookId)), attempts: Schema.optionalKey(Count) },
  queue_above: { ...ofProcess, items: Count },
  disk_above: { percent: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 99 })) },
  paused_by_itself: { ...ofProcess }
} as const

export type AlertRuleType = keyof typeof alertRules
// Keys of an object literal are typed as plain strings.
export const alertRuleTypes = Object.keys(alertRules) as ReadonlyArray<AlertRuleType>

const rules = Schema.Union([
  Schema.Struct({ type: Schema.Literal("run_unresolved"), ...alertRules.run_unresolved }),
  Schema.Struct({ type: Schema.Literal("failure_group"), ...alertRules.failure_group }),
  Schema.Struct({ type: Schema.Literal("nothing_completed"), ...alertRules.nothing_completed }),
  Schema.Struct({ type: Schema.Literal("item_waits"), ...alertRules.item_waits }),
  Schema.Struct({ type: Schema.Literal("no_worker"), ...alertRules.no_worker }),
  Schema.Struct({ type: Schema.Literal("schedule_missed"), ...alertRules.schedule_missed }),
  Schema.Struct({ type: Schema.Literal("deliveries_fail"), ...alertRules.deliveries_fail }),
  Schema.Struct({ type: Schema.Literal("queue_above"), ...alertRules.queue_above }),
  Schema.Struct({ type: Schema.Literal("disk_above"), ...alertRules.disk_above }),
  Schema.Struct({ type: Schema.Literal("paused_by_itself"), ...alertRules.paused_by_itself })
])
type Rules = typeof rules
/** Its name stands for all ten in the declarations of what has a rule. */
interface AlertRuleSchema extends Rules {}

/**
 * What an alert watches:
 *
 * - `run_unresolved`: a run ended unresolved, until it is resolved or deleted;
 * - `failure_group`: a group of failures is new; with `grows`, so many items were added to it within that time. Muted
 *   groups do not alert;
 * - `nothing_completed`: no run of the process completed for so long, counted in `hours` if they are given, and from when
 *   the alert was made at the earliest;
 * - `item_waits`: an item has waited for longer;
 * - `no_worker`: no worker of the group, or no worker at all, was online for so long;
 * - `schedule_missed`: the last occurrence of a schedule started no run, or was skipped as missed;
 * - `deliveries_fail`: a webhook's last `attempts` (default 3) attempts of a delivery failed, or one was given up;
 * - `queue_above`: more items of a process wait;
 * - `disk_above`: the disk of a node is fuller than this;
 * - `paused_by_itself`: a process or step was paused by its failures.
 */
export const AlertRule: AlertRuleSchema = rules
export type AlertRule = typeof AlertRule.Type

/** A channel gets no more than one message of an alert in this time, if the alert does not say. */
export const defaultGatherSeconds = 300

/**
 * An alert as it is written; replaces the whole alert. A message is sent when a firing begins and when it is over, and
 * repeated after `repeat_seconds` (default: not). In `quiet` hours nothing is sent: firings that begin and end within them are
 * never reported, and the others are reported when they end. A channel gets at most one message in `gather_seconds` (default
 * five minutes), which stands for all that came meanwhile.
 */
export class AlertDefinition extends Struct<AlertDefinition>()({
  name: Name,
  enabled: Schema.optionalKey(Schema.Boolean),
  rule: AlertRule,
  channels: Schema.Array(Ref(AlertChannelId)).check(Schema.isBetweenLength(1, 20)),
  repeat_seconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 366 * 24 * 3600 }))),
  gather_seconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 24 * 3600 }))),
  quiet: Schema.optionalKey(AlertHours)
}) {}

/** An alert is not sent until then; `by` is the API key. */
export class AlertMute extends Struct<AlertMute>()({
  until: Timestamp,
  note: Schema.NullOr(Schema.String),
  by: Schema.Struct({ id: Schema.String, name: Schema.String })
}) {}

const SentRule = Schema.Union([
  AlertRule,
  Schema.Struct({
    type: Schema.String.check(Schema.makeFilter((type) => !alertRuleTypes.some((known) => known === type)))
  })
])

export class Alert extends Struct<Alert>("Alert")({
  id: AlertId,
  name: Schema.String,
  created_at: Timestamp,
  enabled: Schema.Boolean,
  rule: SentRule,
  channels: Schema.Array(NamedRef(AlertChannelId)),
  repeat_seconds: Schema.NullOr(Schema.Int),
  /** Absent: from a room without it. */
  gather_seconds: Schema.optionalKey(Schema.Int),
  quiet: Schema.NullOr(AlertHours),
  /** It watches since then: since it was made, enabled, or its rule changed. */
  since: Timestamp,
  muted: Schema.NullOr(AlertMute),
  /** How many of its firings are not over. */
  firing: Schema.Int
}) {}

export const firingStates = ["held", "firing", "ending", "over"] as const
export type FiringState = (typeof firingStates)[number]

export const alertMessageKinds = ["began", "repeated", "over", "test"] as const
export type AlertMessageKind = (typeof alertMessageKinds)[number]

export const alertMessageStates = ["pending", "delivered", "failed"] as const

/**
 * One thing that an alert has found: `held` until its first message may be sent, `firing`, `ending` until the last message
 * may be sent, `over`.
 */
export class AlertFiring extends Struct<AlertFiring>("AlertFiring")({
  id: AlertFiringId,
  alert: NamedRef(AlertId),
  state: OpenEnum(firingStates),
  /** What it is about: the id of a run, a process, a schedule, ...; its alert has one firing of it at a time. */
  subject: Schema.String,
  /** A sentence about it, as it was when last seen. */
  message: Schema.String,
  began_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  last_told_at: Schema.NullOr(Timestamp),
  /** Why the last attempt to send one of its messages failed; null when it succeeded. */
  last_error: Schema.NullOr(Schema.String)
}) {}

/** A message to one channel, over all attempts. */
export class AlertMessage extends Struct<AlertMessage>("AlertMessage")({
  id: AlertMessageId,
  firing: Schema.NullOr(Ref(AlertFiringId)),
  channel: NamedRef(AlertChannelId),
  kind: OpenEnum(alertMessageKinds),
  text: Schema.String,
  state: OpenEnum(alertMessageStates),
  created_at: Timestamp,
  attempts: Schema.Int,
  last_attempt_at: Schema.NullOr(Timestamp),
  next_attempt_at: Schema.NullOr(Timestamp),
  error: Schema.NullOr(Schema.String)
}) {}

const eventTypes = OpenEnum(["alert.began", "alert.repeated", "alert.over", "alert.test"])

const firingOfEvent = Schema.Struct({
  id: AlertFiringId,
  subject: Schema.String,
  began_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp)
})

/** The body of the requests to a channel of type `webhook`. `id` is the same in every attempt. */
export class AlertEvent extends Struct<AlertEvent>("AlertEvent")({
  id: AlertMessageId,
  type: eventTypes,
  timestamp: Timestamp,
  workspace_id: WorkspaceId,
  alert: Schema.Struct({ id: AlertId, name: Schema.String, rule: Schema.String }),
  firing: Schema.NullOr(firingOfEvent),
  text: Schema.String,
  /** For how many messages it stands, each of a firing of its own; absent: for itself. */
  count: Schema.optionalKey(Schema.Int),
  /** The first ten of them. */
  firings: Schema.optionalKey(Schema.Array(Schema.Struct({ type: eventTypes, ...firingOfEvent.fields }))),
  /** The page of the console about it. */
  link: Schema.optionalKey(Schema.String)
}) {}

const params = { workspace_id: WorkspaceId, alert_id: AlertId }
const path = "/workspaces/:workspace_id/alerts"
const one = `${path}/:alert_id` as const

export const get = /* @__PURE__ */ Endpoint.get("getAlert", one, () => ({
  extension: true,
  params,
  success: Alert,
  error: NotFoundResponse
}))

export const list = /* @__PURE__ */ Endpoint.get("listAlerts", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(Alert),
  error: InvalidRequestResponse
}))

const written = [InvalidRequestResponse, NotFoundResponse, ConflictResponse] as const

export const create = /* @__PURE__ */ Endpoint.post("createAlert", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: AlertDefinition,
  success: Alert,
  error: written
}))

export const update = /* @__PURE__ */ Endpoint.post("updateAlert", one, () => ({
  extension: true,
  params,
  payload: AlertDefinition,
  success: Alert,
  error: written
}))

export const remove = /* @__PURE__ */ Endpoint.delete("deleteAlert", one, () => ({
  extension: true,
  params,
  success: Deleted(AlertId),
  error: NotFoundResponse
}))

export class AlertTest extends Struct<AlertTest>("AlertTest")({ messages: Schema.Array(AlertMessage) }) {}

export const test = /* @__PURE__ */ Endpoint.post("testAlert", `${one}/test`, () => ({
  extension: true,
  params,
  success: AlertTest,
  error: NotFoundResponse
}))

export const mute = /* @__PURE__ */ Endpoint.post("muteAlert", `${one}/mute`, () => ({
  extension: true,
  params,
  payload: Schema.Struct({
    until: TimestampInput,
    note: Schema.optionalKey(Text.check(Schema.isMaxLength(2000)))
  }),
  success: Alert,
  error: [NotFoundResponse, InvalidRequestResponse]
}))

export const unmute = /* @__PURE__ */ Endpoint.post("unmuteAlert", `${one}/unmute`, () => ({
  extension: true,
  params,
  success: Alert,
  error: NotFoundResponse
}))

export const messages = /* @__PURE__ */ Endpoint.get("listAlertMessages", `${one}/messages`, () => ({
  extension: true,
  params,
  query: listQuery,
  success: Page(AlertMessage),
  error: [InvalidRequestResponse, NotFoundResponse]
}))

export const firings = /* @__PURE__ */ Endpoint.get(
  "listAlertFirings",
  "/workspaces/:workspace_id/alert-firings",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId },
    query: {
      ...listQuery,
      alert_id: Schema.optional(AlertId),
      state: Schema.optional(Schema.Literals(firingStates))
    },
    success: Page(AlertFiring),
    error: InvalidRequestResponse
  })
)
