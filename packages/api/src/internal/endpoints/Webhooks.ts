/** Webhooks: addresses that receive events of process runs, defined in `WebhookEvents`. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CallbackUrl, Deleted, listQuery, OpenEnum, Page, Ref, Timestamp } from "../../contract/Common.ts"
import { EventId, ProcessId, ProcessRunId, WebhookDeliveryId, WebhookId, WorkspaceId } from "../../contract/Ids.ts"
import { type PauseAction, pauseActions } from "./Pauses.ts"
import { type ProcessRunAction, processRunActions } from "./ProcessRuns.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export type WebhookEventType = `process_run.${ProcessRunAction}` | `process.${PauseAction}`

/** Those of `process` are extensions. */
export const webhookEventTypes: ReadonlyArray<WebhookEventType> = [
  ...processRunActions.map((action) => `process_run.${action}` as const),
  ...pauseActions.map((action) => `process.${action}` as const)
]

const listed = {
  id: WebhookId,
  /** Null: all processes of the workspace. */
  process: Schema.NullOr(Ref(ProcessId)),
  enabled_events: Schema.Array(OpenEnum(webhookEventTypes)),
  endpoint: Schema.String,
  /** Extension: false when an endpoint responded with 410, or after a manual change; nothing is sent then. */
  enabled: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true)))
}

/** A webhook in lists. */
export class WebhookListed extends Struct<WebhookListed>("WebhookListed")(listed) {}

/** `secret` signs the deliveries; the service creates it, `whsec_` and 32 random bytes in base64. */
export class Webhook extends Struct<Webhook>("Webhook")({
  ...listed,
  secret: Schema.RedactedFromValue(Schema.String)
}) {}

const EnabledEvents = Schema.Array(Schema.Literals(webhookEventTypes)).check(Schema.isBetweenLength(1, 100))

export const deliveryStates = ["pending", "delivered", "failed"] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** An event for a webhook: `pending` while another attempt will be made. Stored for 14 days. */
export class WebhookDelivery extends Struct<WebhookDelivery>("WebhookDelivery")({
  id: WebhookDeliveryId,
  /** The `id` in the body and the `webhook-id` of every attempt. */
  event_id: EventId,
  event_type: OpenEnum([...webhookEventTypes, "process_run.test"]),
  /** Null for a test event. */
  process_run: Schema.NullOr(Ref(ProcessRunId)),
  state: OpenEnum(deliveryStates),
  created_at: Timestamp,
  attempts: Schema.Int,
  last_attempt_at: Schema.NullOr(Timestamp),
  /** The time of the next attempt, null when none will be made. */
  next_attempt_at: Schema.NullOr(Timestamp),
  /** The status of the last response, null without one. */
  response_status: Schema.NullOr(Schema.Int),
  /** Why the last attempt failed, null if it did not. */
  error: Schema.NullOr(Schema.String),
  /** The body, exactly as every attempt sends it. */
  body: Schema.String
}) {}

const params = { workspace_id: WorkspaceId, webhook_id: WebhookId }

export const get = /* @__PURE__ */ Endpoint.get("getWebhook", "/workspaces/:workspace_id/webhooks/:webhook_id", () => ({
  params,
  success: Webhook,
  error: NotFoundResponse
}))

export const list = /* @__PURE__ */ Endpoint.get("listWebhooks", "/workspaces/:workspace_id/webhooks", () => ({
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(WebhookListed),
  error: InvalidRequestResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createWebhook", "/workspaces/:workspace_id/webhooks", () => ({
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    endpoint: CallbackUrl,
    enabled_events: EnabledEvents,
    process: Schema.optionalKey(Schema.NullOr(Ref(ProcessId)))
  }),
  success: Webhook,
  error: [InvalidRequestResponse, NotFoundResponse]
}))

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteWebhook",
  "/workspaces/:workspace_id/webhooks/:webhook_id",
  () => ({
    params,
    success: Deleted(WebhookId),
    error: NotFoundResponse
  })
)

export const update = /* @__PURE__ */ Endpoint.post(
  "updateWebhook",
  "/workspaces/:workspace_id/webhooks/:webhook_id",
  () => ({
    extension: true,
    params,
    payload: Schema.Struct({
      endpoint: Schema.optionalKey(CallbackUrl),
      enabled_events: Schema.optionalKey(EnabledEvents),
      process: Schema.optionalKey(Schema.NullOr(Ref(ProcessId))),
      enabled: Schema.optionalKey(Schema.Boolean),
      rotate_secret: Schema.optionalKey(Schema.Boolean)
    }),
    success: Webhook,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const test = /* @__PURE__ */ Endpoint.post(
  "testWebhook",
  "/workspaces/:workspace_id/webhooks/:webhook_id/test",
  () => ({ extension: true, params, success: WebhookDelivery, error: NotFoundResponse })
)

export const listDeliveries = /* @__PURE__ */ Endpoint.get(
  "listWebhookDeliveries",
  "/workspaces/:workspace_id/webhooks/:webhook_id/deliveries",
  () => ({
    extension: true,
    params,
    query: { ...listQuery, state: Schema.optional(Schema.Literals(deliveryStates)) },
    success: Page(WebhookDelivery),
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const redeliver = /* @__PURE__ */ Endpoint.post(
  "redeliverWebhookDelivery",
  "/workspaces/:workspace_id/webhooks/:webhook_id/deliveries/:delivery_id/redeliver",
  () => ({
    extension: true,
    params: { ...params, delivery_id: WebhookDeliveryId },
    success: WebhookDelivery,
    error: [NotFoundResponse, ConflictResponse]
  })
)
