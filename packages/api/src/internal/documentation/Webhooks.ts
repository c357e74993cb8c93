/** Webhooks and their deliveries. */
import type { WebhookDelivery, WebhookListed, Webhooks } from "../../contract/Webhooks.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBodyOr, badPage, unknown } from "./Phrases.ts"

const badTarget = "`endpoint` is an address that the service may not call, such as a private one"

const definition = {
  endpoint: "https://example.com/hooks/signalbox",
  enabled_events: ["process_run.completed", "process_run.unresolved"],
  process: { id: ids.process }
} as const

const listed: (typeof WebhookListed)["Encoded"] = {
  id: ids.webhook,
  process: definition.process,
  enabled_events: ["process_run.unresolved"],
  endpoint: definition.endpoint,
  enabled: true
}

const secret = "whsec_c2VjcmV0"

const delivery: (typeof WebhookDelivery)["Encoded"] = {
  id: ids.delivery,
  event_id: ids.event,
  event_type: "process_run.test",
  process_run: null,
  state: "pending",
  created_at: "2026-11-20T08:15:31.236Z",
  attempts: 0,
  last_attempt_at: null,
  next_attempt_at: "2026-11-20T08:15:31.236Z",
  response_status: null,
  error: null,
  body: '{"id":"019aa0b2-5c00-7000-8000-0000000000e4","webhookEventTimestamp":"2026-11-20T08:15:31.341Z","event":"process_run","action":"test","payload":{"workspaceId":"019aa0b2-5c00-7000-8000-0000000000a1","processId":"00000000-0000-0000-0000-000000000000","processName":"test event","processRunId":"00000000-0000-0000-0000-000000000000","state":"completed","seqNo":0,"startedAt":null,"endedAt":null,"duration":null,"result":null,"errorCode":null,"pause":null}}'
}

export const webhooks: Documented<typeof Webhooks> = {
  getWebhook: {
    description: "Returns a webhook with the secret that signs its deliveries.",
    response: { ...listed, secret },
    errors: { 404: unknown("webhook") }
  },
  listWebhooks: {
    description: "Returns the webhooks of the workspace, newest first, without their secrets.",
    response: { data: [listed], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createWebhook: {
    description:
      "Creates a webhook: an address that receives the given events of one process, or of all without `process`. Each event is sent at least once, in no guaranteed order, and retried for 41 hours. The service creates the `secret`; verify the signature of each delivery with it.",
    request: definition,
    response: { ...listed, enabled_events: definition.enabled_events, secret },
    errors: { 400: badBodyOr(badTarget), 404: unknown("process") }
  },
  deleteWebhook: {
    description: "Deletes a webhook. Irreversible. Its pending deliveries are dropped.",
    response: { id: ids.webhook, deleted: true },
    errors: { 404: unknown("webhook") }
  },
  updateWebhook: {
    description:
      "Changes the given fields. `enabled: true` enables a webhook again that its receiver disabled with a 410. `rotate_secret: true` creates a new secret and returns it; for 24 hours `webhook-signature` also carries a signature under the old one, while `x-rc-signature` uses the new one immediately.",
    request: { enabled_events: ["process_run.unresolved"], enabled: true },
    response: { ...listed, secret },
    errors: {
      400: badBodyOr(badTarget),
      404: "The workspace has no such webhook, or no process with the id in `process`."
    }
  },
  testWebhook: {
    description:
      "Sends a test event to a webhook, even if it is disabled, and returns its delivery, which is usually still `pending`. Each call sends another event.",
    response: delivery,
    errors: { 404: unknown("webhook") }
  },
  listWebhookDeliveries: {
    description:
      "Returns the deliveries of the last 14 days, newest first, each with its body, its attempts and why the last one failed.",
    response: { data: [delivery], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("webhook") }
  },
  redeliverWebhookDelivery: {
    description:
      "Sends the event of a delivery again, as a new delivery with the same `event_id`, so that receivers can recognise it.",
    response: {
      ...delivery,
      id: ids.secondDelivery,
      created_at: "2026-11-20T08:15:31.281Z",
      next_attempt_at: "2026-11-20T08:15:31.281Z"
    },
    errors: {
      404: "The workspace has no such webhook, or the webhook has no such delivery, or no longer.",
      409: "The delivery is still pending: it will be attempted anyway. Wait for its end."
    }
  }
}
