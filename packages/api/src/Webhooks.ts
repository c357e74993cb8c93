/** Webhooks: addresses that receive events of process runs. `verify`, `receive` and `sign` are for their receivers. */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type { WebhookDeliveryId, WebhookId } from "./contract/Ids.ts"
import type { Deleted, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Webhooks.ts"
import { names, page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, processOf, type ProcessRef, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type { DeliveryState, Webhook, WebhookDelivery, WebhookEventType, WebhookListed } from "./contract/Webhooks.ts"
export { InvalidSignature, receive, sign, UnreadableEvent, verify, type WebhookEvent } from "./WebhookSignature.ts"

const call = {
  get: returning<contract.Webhook, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.WebhookListed>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.Webhook, InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  remove: returning<Deleted<WebhookId>, NotFound>()(inWorkspace(contract.remove)),
  update: returning<contract.Webhook, InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  test: returning<contract.WebhookDelivery, NotFound>()(inWorkspace(contract.test)),
  listDeliveries: returning<Page<contract.WebhookDelivery>, InvalidRequest | NotFound>()(
    inWorkspace(contract.listDeliveries)
  ),
  redeliver: returning<contract.WebhookDelivery, Conflict | NotFound>()(inWorkspace(contract.redeliver))
}

/** Returns one webhook with its secret, redacted. */
export const get = Effect.fn("Webhooks.get")((webhook: WebhookId) => call.get({ params: { webhook_id: webhook } }))

/** Returns one page, newest first, without secrets. */
export const list = Effect.fn("Webhooks.list")(
  (options: ListOptions = {}) => call.list({ query: options }),
  refusing("webhooks.list", { 0: page })
)

/** Emits all webhooks, newest first, without secrets. */
export const stream = (options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("webhooks.stream", pageSize, options))

/** A new webhook. */
export interface NewWebhook {
  readonly endpoint: string
  readonly events: ReadonlyArray<contract.WebhookEventType>
  /** Default: all processes. */
  readonly process?: ProcessRef | undefined
}

const newWebhook = names<NewWebhook>("member", { endpoint: 1, events: 1, process: 1 })

/**
 * Creates a webhook; without `process`, for all processes.
 *
 * ```ts
 * import * as Webhooks from "@signalbox/api/Webhooks"
 *
 * export const created = Webhooks.create({
 *   endpoint: "https://example.com/hook",
 *   events: ["process_run.completed"]
 * })
 * ```
 */
export const create = Effect.fn("Webhooks.create")(
  (input: NewWebhook) =>
    call.create({
      payload: {
        endpoint: input.endpoint,
        enabled_events: input.events,
        process: input.process === undefined ? null : processOf(input.process)
      }
    }),
  refusing("webhooks.create", { 0: newWebhook })
)

/** Deletes a webhook. Irreversible. */
export const remove = Effect.fn("Webhooks.remove")((webhook: WebhookId) =>
  call.remove({ params: { webhook_id: webhook } })
)

/** What changes of a webhook. */
export interface Change {
  readonly endpoint?: string | undefined
  readonly events?: ReadonlyArray<contract.WebhookEventType> | undefined
  /** Null: all processes. */
  readonly process?: ProcessRef | null | undefined
  readonly enabled?: boolean | undefined
}

const changes = names<Change>("member", { endpoint: 1, events: 1, process: 1, enabled: 1 })

/**
 * Changes the given fields; `process: null` is all processes. An extension of the hosted service's interface.
 *
 * ```ts
 * import type { WebhookId } from "@signalbox/api/contract/Ids"
 * import * as Webhooks from "@signalbox/api/Webhooks"
 *
 * export const off = (webhook: WebhookId) =>
 *   Webhooks.update(webhook, { enabled: false })
 * ```
 */
export const update = Effect.fn("Webhooks.update")(
  (webhook: WebhookId, change: Change) =>
    call.update({
      params: { webhook_id: webhook },
      payload: defined({
        endpoint: change.endpoint,
        enabled_events: change.events,
        process: change.process == null ? change.process : processOf(change.process),
        enabled: change.enabled
      })
    }),
  refusing("webhooks.update", { 1: changes })
)

/**
 * Creates a new secret for a webhook and returns it; for 24 hours deliveries also carry a signature under the old one.
 */
export const rotateSecret = Effect.fn("Webhooks.rotateSecret")((webhook: WebhookId) =>
  call.update({ params: { webhook_id: webhook }, payload: { rotate_secret: true } })
)

/** Sends a test event; returns its delivery, which may still be pending. */
export const test = Effect.fn("Webhooks.test")((webhook: WebhookId) => call.test({ params: { webhook_id: webhook } }))

/** Which deliveries. */
export interface DeliveryFilter {
  readonly state?: contract.DeliveryState | undefined
  /** Deliveries per page, 1 to 500. */
  readonly limit?: number | undefined
}

const deliveryFilter = names<DeliveryFilter>("filter", { state: 1, limit: 1 })

/**
 * Emits the deliveries of a webhook in the last 14 days, newest first.
 *
 * ```ts
 * import type { WebhookId } from "@signalbox/api/contract/Ids"
 * import * as Webhooks from "@signalbox/api/Webhooks"
 *
 * export const failed = (webhook: WebhookId) =>
 *   Webhooks.deliveries(webhook, { state: "failed" })
 * ```
 */
export const deliveries = (webhook: WebhookId, filter: DeliveryFilter = {}) =>
  pages((cursor) =>
    call.listDeliveries({
      params: { webhook_id: webhook },
      query: { state: filter.state, limit: filter.limit, cursor }
    })
  ).pipe(refusingStream("webhooks.deliveries", deliveryFilter, filter))

/** Sends the same event again, as a new delivery. Fails with `Conflict` while the old one is pending. */
export const redeliver = Effect.fn("Webhooks.redeliver")((webhook: WebhookId, delivery: WebhookDeliveryId) =>
  call.redeliver({ params: { webhook_id: webhook, delivery_id: delivery } })
)
