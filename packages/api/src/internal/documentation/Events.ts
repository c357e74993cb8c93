/** The requests that the service sends: to webhooks, to callbacks and to channels of alerts. */
import type { AlertEvent } from "../../contract/Alerts.ts"
import type { WebhookEvent } from "../../contract/WebhookEvents.ts"
import { webhookHeaders } from "../../contract/WebhookSigning.ts"
import { ids } from "./ExampleIds.ts"

const processRunEvent: (typeof WebhookEvent)["Encoded"] = {
  id: ids.event,
  webhookEventTimestamp: "2026-11-20T08:15:32.512Z",
  event: "process_run",
  action: "unresolved",
  payload: {
    workspaceId: ids.workspace,
    processId: ids.process,
    processName: "Invoices",
    processRunId: ids.processRun,
    state: "unresolved",
    seqNo: 2,
    startedAt: "2026-11-20T08:15:32.093Z",
    endedAt: "2026-11-20T08:15:32.512Z",
    duration: 0.419,
    result: "error",
    errorCode: "NO_AMOUNT",
    pause: null
  }
}

const alertEvent: (typeof AlertEvent)["Encoded"] = {
  id: ids.alertMessage,
  type: "alert.began",
  timestamp: "2026-11-20T08:20:00.000Z",
  workspace_id: ids.workspace,
  alert: { id: ids.alert, name: "too many invoices", rule: "queue_above" },
  firing: { id: ids.alertFiring, subject: ids.process, began_at: "2026-11-20T08:19:58.120Z", ended_at: null },
  text: 'more than 100 work items of the process "Invoices" are waiting.'
}

const headerTexts: Readonly<Record<keyof typeof webhookHeaders, string>> = {
  rcSignature: "The hex HMAC-SHA256 of the raw body under the UTF-8 bytes of the secret.",
  id: "The `id` of the body; the same in every attempt.",
  timestamp: "When this attempt was made, in whole seconds since 1970.",
  signature:
    "`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>` under the key of the secret; several, separated by spaces, while a secret is rotated."
}

const signed = Object.entries(webhookHeaders).map(([header, name]) => ({
  name,
  in: "header",
  required: true,
  // The entries are those of `webhookHeaders`.
  description: headerTexts[header as keyof typeof webhookHeaders],
  schema: { type: "string" }
}))

const event = (operationId: string, summary: string, description: string, schema: string, example: object) => ({
  post: {
    operationId,
    summary,
    description,
    parameters: signed,
    requestBody: {
      required: true,
      content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` }, example } }
    },
    responses: { "2XX": { description: "Received." } }
  }
})

/** The section `webhooks` of the document. */
export const events = {
  processRun: event(
    "receiveProcessRunEvent",
    "Sent to webhooks and callbacks when a process run starts, completes or stays unresolved",
    "Sent at least once, in no guaranteed order: ignore an `id` that is known, and an event of a run with a lower `seqNo` than one that was seen. Any 2xx is success, 410 disables the webhook; otherwise it is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 24 h.",
    "WebhookEvent",
    processRunEvent
  ),
  alert: event(
    "receiveAlertEvent",
    "Sent to alert channels of the type webhook when a firing begins and when it is over",
    "Sent at least once: ignore an `id` that is known. Any 2xx is success; otherwise it is retried.",
    "AlertEvent",
    alertEvent
  )
}
