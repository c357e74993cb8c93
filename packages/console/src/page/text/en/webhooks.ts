/** Text of webhooks and their deliveries. */
import type { WebhookEventType } from "@signalbox/api/contract/Webhooks"
import { type Node, phrase } from "../phrase.ts"

export const webhooks = {
  new: "New webhook",
  none: "No webhooks yet",
  url: "URL",
  allProcesses: "all processes",
  unknownProcess: "unknown process",
  delivered: "delivered",
  nextAttempt: (time: Node) => phrase`next attempt ${time}`,
  delivery: (event: string) => `Delivery: ${event}`,
  eventId: "Event ID",
  response: "Response",
  noResponse: "none yet",
  payload: "Payload",
  redelivered: "The event is sent again as a new delivery.",
  allDeliveries: "All deliveries",
  deliveries: "Deliveries",
  noDeliveries: "No deliveries in the last 14 days",
  noDeliveriesHint: "Send a test event to check the receiver.",
  noMatch: "No matching deliveries",
  viewAll: "View all deliveries",
  attempts: "Attempts",
  lastAttempt: "Last attempt",
  redeliver: "Redeliver",
  signingSecret: "Signing secret",
  deleteWebhook: "Delete webhook",
  deleted: "Webhook deleted.",
  deleteHint: (url: Node) =>
    phrase`No more events are sent to ${url}, and pending deliveries are dropped. This action cannot be undone.`,
  shownOnce: (button: Node) => phrase`shown once, when created ${button}`,
  webhook: "Webhook",
  disabled: "Webhook disabled.",
  enabled: "Webhook enabled.",
  testDelivered: "Test event delivered.",
  testSent: "Test event sent. The deliveries show the response.",
  sendTest: "Send test event",
  disabledHint: (title: Node) =>
    phrase`${title} No events are sent. A person disabled the webhook, or the receiver responded with 410 Gone.`,
  editTitle: "Edit webhook",
  create: "Create webhook",
  updated: "Webhook updated.",
  urlHint: "Receives each event as a signed JSON POST",
  events: {
    "process_run.started": "Run started",
    "process_run.completed": "Run completed",
    "process_run.unresolved": "Run unresolved",
    "process.paused": "Process paused",
    "process.resumed": "Process resumed"
  } satisfies Readonly<Record<WebhookEventType, string>>,
  test: "Test",
  noneHint: "A webhook notifies another system when runs start, complete or need attention."
}
