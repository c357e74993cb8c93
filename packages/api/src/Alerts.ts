/**
 * Alerts: what is watched, whom its messages go to, and its firings. An extension of the hosted service's interface.
 */
import { defined } from "@signalbox/transport/Defined"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Deleted, Page } from "./contract/Common.ts"
import type { AlertId } from "./contract/Ids.ts"
import * as contract from "./internal/endpoints/Alerts.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import { names, page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type {
  Alert,
  AlertDefinition,
  AlertEvent,
  AlertFiring,
  AlertHours,
  AlertMessage,
  AlertRule,
  AlertRuleType,
  FiringState
} from "./contract/Alerts.ts"

type Refusal = Conflict | InvalidRequest | NotFound

const call = {
  get: returning<contract.Alert, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.Alert>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.Alert, Refusal>()(inWorkspace(contract.create)),
  update: returning<contract.Alert, Refusal>()(inWorkspace(contract.update)),
  remove: returning<Deleted<AlertId>, NotFound>()(inWorkspace(contract.remove)),
  test: returning<{ readonly messages: ReadonlyArray<contract.AlertMessage> }, NotFound>()(inWorkspace(contract.test)),
  mute: returning<contract.Alert, InvalidRequest | NotFound>()(inWorkspace(contract.mute)),
  unmute: returning<contract.Alert, NotFound>()(inWorkspace(contract.unmute)),
  messages: returning<Page<contract.AlertMessage>, InvalidRequest | NotFound>()(inWorkspace(contract.messages)),
  firings: returning<Page<contract.AlertFiring>, InvalidRequest>()(inWorkspace(contract.firings))
}

/** Returns an alert. */
export const get = Effect.fn("Alerts.get")((alert: AlertId) => call.get({ params: { alert_id: alert } }))

/** Returns one page, newest first. */
export const list = Effect.fn("Alerts.list")(
  (options: ListOptions = {}) => call.list({ query: options }),
  refusing("alerts.list", { 0: page })
)

/** Emits all alerts, newest first. */
export const stream = (options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("alerts.stream", pageSize, options))

/**
 * Creates an alert. Fails with `InvalidRequest` that names the field, with `NotFound` when a channel or what its rule names
 * does not exist, and with `Conflict` when the name is in use.
 *
 * ```ts
 * import * as Alerts from "@signalbox/api/Alerts"
 * import type { AlertChannelId, ProcessId } from "@signalbox/api/contract/Ids"
 *
 * export const nothingDone = (process: ProcessId, channel: AlertChannelId) =>
 *   Alerts.create({
 *     name: "invoices stand still",
 *     rule: {
 *       type: "nothing_completed",
 *       process: { id: process },
 *       seconds: 4 * 3600,
 *       hours: {
 *         zone: "Europe/Vienna",
 *         from: "08:00",
 *         to: "18:00",
 *         weekdays: ["mon", "tue", "wed", "thu", "fri"]
 *       }
 *     },
 *     channels: [{ id: channel }],
 *     repeat_seconds: 24 * 3600
 *   })
 * ```
 */
export const create = Effect.fn("Alerts.create")(
  (definition: contract.AlertDefinition) => call.create({ payload: definition }),
  refusing("alerts.create", { 0: contract.AlertDefinition })
)

/** Replaces an alert. With another rule it watches anew, and its firings are over without a message. */
export const update = Effect.fn("Alerts.update")(
  (alert: AlertId, definition: contract.AlertDefinition) =>
    call.update({ params: { alert_id: alert }, payload: definition }),
  refusing("alerts.update", { 1: contract.AlertDefinition })
)

/** Deletes an alert with its firings, without a message. Irreversible. */
export const remove = Effect.fn("Alerts.remove")((alert: AlertId) => call.remove({ params: { alert_id: alert } }))

/** Sends a test message to each channel of an alert, and returns them as they begin; `messages` shows what became of them. */
export const test = Effect.fn("Alerts.test")((alert: AlertId) => call.test({ params: { alert_id: alert } }))

/** Until when an alert is muted, and why. */
export interface MuteOptions {
  readonly until: DateTime.DateTime.Input
  readonly note?: string | undefined
}

/**
 * Mutes an alert until then. What still holds at that time is reported then.
 *
 * ```ts
 * import type { AlertId } from "@signalbox/api/contract/Ids"
 * import * as Alerts from "@signalbox/api/Alerts"
 *
 * export const untilMonday = (alert: AlertId) =>
 *   Alerts.mute(alert, { until: "2026-11-30T08:00:00Z", note: "known" })
 * ```
 */
export const mute = Effect.fn("Alerts.mute")(
  (alert: AlertId, options: MuteOptions) =>
    call.mute({
      params: { alert_id: alert },
      payload: {
        until: DateTime.formatIso(DateTime.makeUnsafe(options.until)),
        ...defined({ note: options.note })
      }
    }),
  refusing("alerts.mute", { 1: names<MuteOptions>("option", { until: 1, note: 1 }) })
)

/** Ends the mute of an alert. */
export const unmute = Effect.fn("Alerts.unmute")((alert: AlertId) => call.unmute({ params: { alert_id: alert } }))

/** Emits the messages of an alert, newest first, with what became of each. */
export const messages = (alert: AlertId, options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => call.messages({ params: { alert_id: alert }, query: { ...options, cursor } })).pipe(
    refusingStream("alerts.messages", pageSize, options)
  )

/** Which firings. */
export interface FiringFilter {
  readonly alert?: AlertId | undefined
  readonly state?: contract.FiringState | undefined
  /** Firings per page, 1 to 500. */
  readonly limit?: number | undefined
}

const firingFilter = names<FiringFilter>("filter", { alert: 1, state: 1, limit: 1 })

/**
 * Emits firings, newest first: of all alerts or of one, in all states or in one.
 *
 * ```ts
 * import type { AlertId } from "@signalbox/api/contract/Ids"
 * import * as Alerts from "@signalbox/api/Alerts"
 *
 * export const of = (alert: AlertId) => Alerts.firings({ alert, limit: 50 })
 * ```
 */
export const firings = (filter: FiringFilter = {}) =>
  pages((cursor) =>
    call.firings({ query: { alert_id: filter.alert, state: filter.state, limit: filter.limit, cursor } })
  ).pipe(refusingStream("alerts.firings", firingFilter, filter))
