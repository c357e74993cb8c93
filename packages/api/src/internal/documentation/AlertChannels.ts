/** Channels of alerts. */
import type { AlertChannel, AlertChannels } from "../../contract/AlertChannels.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBodyOr, badPage, nameExists, unknown } from "./Phrases.ts"

const badChannel = badBodyOr(
  "the address is one that the service may not call, or a mail server is given a user name without a password or a password without TLS"
)

const mayNotName =
  "The key is unknown or of another workspace, or it lacks `Alerts.write_alerts`, or, to name a secret in `password_from`, `Vault.read_secret_values`."

const definition = {
  name: "operations",
  settings: { type: "webhook", url: "https://example.com/hooks/alerts" }
} as const

const channel: (typeof AlertChannel)["Encoded"] = {
  id: ids.alertChannel,
  name: "operations, Vienna",
  type: "webhook",
  target: definition.settings.url,
  email: null,
  created_at: "2026-11-20T08:15:31.510Z",
  last_sent_at: null,
  last_failed_at: null,
  last_error: null
}

export const alertChannels: Documented<typeof AlertChannels> = {
  getAlertChannel: {
    description:
      "Returns a channel, when something was last sent to it, and why the last attempt failed. Secrets, and addresses that are secrets, are not returned.",
    response: channel,
    errors: { 404: unknown("alert channel") }
  },
  listAlertChannels: {
    description: "Returns the channels of the workspace, newest first.",
    response: { data: [channel], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createAlertChannel: {
    description:
      "Creates a channel: `webhook`, `slack`, `teams`, `ntfy` or `email`, or a `heartbeat`, an address that is called every minute while the service checks its alerts. The `secret` of a webhook is returned only here; verify the signature of each message with it. The name is unique in the workspace.",
    request: definition,
    response: { ...channel, name: definition.name, secret: "whsec_c2VjcmV0" },
    errors: {
      400: badChannel,
      403: mayNotName,
      404: "The workspace has no secret with the name in `password_from`.",
      409: nameExists("alert channel")
    }
  },
  updateAlertChannel: {
    description:
      "Replaces the name and settings of a channel. The secret of a webhook is unchanged; an omitted mail password is retained only while host, port and user name are the same.",
    request: { ...definition, name: channel.name },
    response: { ...channel, secret: null },
    errors: {
      400: badChannel,
      403: mayNotName,
      404: "The workspace has no such channel, or no secret with the name in `password_from`.",
      409: `${nameExists("alert channel")} Or an alert uses the channel, which would become a heartbeat.`
    }
  },
  rotateAlertChannelSecret: {
    description:
      "Creates a new secret of a webhook channel and returns it. For 24 hours `webhook-signature` also carries a signature under the old one, while `x-rc-signature` uses the new one immediately.",
    response: { ...channel, secret: "whsec_c2VjcmV0" },
    errors: { 404: unknown("alert channel"), 409: "The channel is not a webhook. Change its settings instead." }
  },
  deleteAlertChannel: {
    description: "Deletes a channel. Irreversible.",
    response: { id: ids.alertChannel, deleted: true },
    errors: {
      404: unknown("alert channel"),
      409: "An alert uses the channel; the message names the alert. Change the alert first."
    }
  }
}
