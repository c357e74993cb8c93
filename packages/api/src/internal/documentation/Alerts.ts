/** Alerts. */
import type { Alert, AlertMessage, Alerts } from "../../contract/Alerts.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBodyOr, badPage, nameExists, unknown } from "./Phrases.ts"

const definition = {
  name: "too many invoices",
  rule: { type: "queue_above", process: { id: ids.process }, items: 100 },
  channels: [{ id: ids.alertChannel }],
  repeat_seconds: 86_400
} as const

const badAlert = badBodyOr("a channel is a heartbeat, which receives no messages")
const noTarget = "A channel, or what the rule names, does not exist in the workspace; the message names the field."

const rule = { ...definition.rule, items: 1 }

const alert: (typeof Alert)["Encoded"] = {
  id: ids.alert,
  name: "too many invoices",
  created_at: "2026-11-20T08:15:31.542Z",
  enabled: true,
  rule,
  channels: [{ id: ids.alertChannel, name: "operations, Vienna" }],
  repeat_seconds: 86_400,
  gather_seconds: 300,
  quiet: null,
  since: "2026-11-20T08:15:31.554Z",
  muted: null,
  firing: 0
}

const note = "we are moving the server"

const muted: NonNullable<(typeof Alert)["Encoded"]["muted"]> = {
  until: "2036-11-21T08:00:00.000Z",
  note,
  by: { id: ids.callerKey, name: "deploy" }
}

const message: (typeof AlertMessage)["Encoded"] = {
  id: ids.alertMessage,
  firing: null,
  channel: { id: ids.alertChannel, name: "operations, Vienna" },
  kind: "test",
  text: "This is a test message of the alert.",
  state: "pending",
  created_at: "2026-11-20T08:15:31.564Z",
  attempts: 0,
  last_attempt_at: null,
  next_attempt_at: "2026-11-20T08:15:31.564Z",
  error: null
}

export const alerts: Documented<typeof Alerts> = {
  getAlert: {
    description: "Returns an alert, with the number of its active firings and whether it is muted.",
    response: { ...alert, muted },
    errors: { 404: unknown("alert") }
  },
  listAlerts: {
    description: "Returns the alerts of the workspace, newest first.",
    response: { data: [{ ...alert, muted }], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createAlert: {
    description:
      "Creates an alert: a rule, and the channels to notify. A message is sent when a firing begins and when it is resolved, and repeated after `repeat_seconds`, if given. In `quiet` hours nothing is sent; firings that are active at their end are sent then. The name is unique in the workspace.",
    request: { ...definition, quiet: { zone: "Europe/Vienna", from: "22:00", to: "07:00" } },
    response: {
      ...alert,
      rule: definition.rule,
      quiet: { zone: "Europe/Vienna", from: "22:00", to: "07:00" },
      since: "2026-11-20T08:15:31.542Z"
    },
    errors: { 400: badAlert, 404: noTarget, 409: nameExists("alert") }
  },
  updateAlert: {
    description:
      "Replaces the whole alert. With another rule the alert is reset, and its firings end without a message. A disabled alert does not fire.",
    request: { ...definition, rule },
    response: alert,
    errors: { 400: badAlert, 404: `${unknown("alert")} Or: ${noTarget}`, 409: nameExists("alert") }
  },
  deleteAlert: {
    description: "Deletes an alert with its firings, without a message. Irreversible.",
    response: { id: ids.alert, deleted: true },
    errors: { 404: unknown("alert") }
  },
  testAlert: {
    description:
      "Sends a test message to each channel of an alert, also in quiet hours and while it is muted, and returns the messages, which are usually still `pending`.",
    response: { messages: [message] },
    errors: { 404: unknown("alert") }
  },
  muteAlert: {
    description:
      "Mutes an alert until the given time. Firings that are active at that time are sent then. Muting a muted alert replaces time and note.",
    request: { until: "2036-11-21T08:00:00Z", note },
    response: { ...alert, muted },
    errors: { 400: badBodyOr("`until` is not in the future"), 404: unknown("alert") }
  },
  unmuteAlert: {
    description: "Unmutes an alert. Changes nothing when it is not muted.",
    response: alert,
    errors: { 404: unknown("alert") }
  },
  listAlertMessages: {
    description: "Returns the messages of an alert, newest first, each with its attempts and why the last one failed.",
    response: { data: [message], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("alert") }
  },
  listAlertFirings: {
    description: "Returns the firings of alerts of the workspace, newest first; of one alert with `alert_id`.",
    response: {
      data: [
        {
          id: ids.alertFiring,
          alert: { id: ids.alert, name: "too many invoices" },
          state: "firing",
          subject: ids.process,
          message: 'more than 1 work items of the process "Invoices" are waiting',
          began_at: "2026-11-20T11:15:32.996Z",
          ended_at: null,
          last_told_at: "2026-11-20T11:15:32.996Z",
          last_error: null
        }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage }
  }
}
