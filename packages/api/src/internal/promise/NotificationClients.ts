/** What tells of runs, as functions with promises. */
import type * as DateTime from "effect/DateTime"
import type { Deleted } from "../../contract/Common.ts"
import type { AlertChannelId, AlertId, WebhookId } from "../../contract/Ids.ts"
import * as AlertChannels from "../../AlertChannels.ts"
import * as Alerts from "../../Alerts.ts"
import * as Webhooks from "../../Webhooks.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { ListOptions, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** A webhook; without `process`, for all processes. */
export interface NewWebhook extends Omit<Webhooks.NewWebhook, "process"> {
  /** Its id, or what has one. Default: all processes. */
  readonly process?: string | { readonly id: string } | undefined
}

/** The fields of a webhook that change; `process: null` is all processes. */
export interface WebhookChange extends Omit<Webhooks.Change, "process"> {
  /** Its id, or what has one; null: all processes. */
  readonly process?: string | { readonly id: string } | null | undefined
}

/** Which deliveries, and how many are read with one request. */
export interface DeliveryFilter extends NonNullable<Parameters<typeof Webhooks.deliveries>[1]> {}

/** Webhooks: addresses that receive events of process runs. Their receivers use `verifyWebhook` and `receiveWebhook`. */
export interface WebhooksClient {
  /** Returns one webhook with its secret, redacted. */
  readonly get: (webhook: string, options?: CallOptions) => ApiPromise<Webhooks.Webhook>
  /**
   * Returns one page, newest first, without secrets.
   * @example const { data } = await room.webhooks.list({ limit: 50 })
   */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<Webhooks.WebhookListed>>
  /**
   * All webhooks, newest first, without secrets.
   * @example for await (const { endpoint } of room.webhooks.stream()) console.log(endpoint)
   */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<Webhooks.WebhookListed>
  /**
   * Creates a webhook; without `process`, for all processes.
   * @example
   * const endpoint = "https://example.com/hook"
   * await room.webhooks.create({ endpoint, events: ["process_run.completed"] })
   */
  readonly create: (input: NewWebhook, options?: CallOptions) => ApiPromise<Webhooks.Webhook>
  /** Deletes a webhook. Irreversible. */
  readonly remove: (webhook: string, options?: CallOptions) => ApiPromise<Deleted<WebhookId>>
  /**
   * Changes the given fields.
   * @example await room.webhooks.update(webhook, { enabled: false })
   */
  readonly update: (webhook: string, change: WebhookChange, options?: CallOptions) => ApiPromise<Webhooks.Webhook>
  /** Creates a new secret and returns it; for 24 hours deliveries also carry a signature under the old one. */
  readonly rotateSecret: (webhook: string, options?: CallOptions) => ApiPromise<Webhooks.Webhook>
  /** Sends a test event; returns its delivery, which may still be pending. */
  readonly test: (webhook: string, options?: CallOptions) => ApiPromise<Webhooks.WebhookDelivery>
  /**
   * The deliveries of a webhook in the last 14 days, newest first.
   * @example
   * const failed = room.webhooks.deliveries(webhook, { state: "failed" })
   * for await (const { id } of failed) await room.webhooks.redeliver(webhook, id)
   */
  readonly deliveries: (
    webhook: string,
    filter?: DeliveryFilter,
    options?: CallOptions
  ) => AsyncIterable<Webhooks.WebhookDelivery>
  /** Sends the same event again, as a new delivery; rejects with `Conflict` while the old one is pending. */
  readonly redeliver: (webhook: string, delivery: string, options?: CallOptions) => ApiPromise<Webhooks.WebhookDelivery>
}

export const webhooks = /* @__PURE__ */ members<WebhooksClient>(Webhooks, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  remove: 1,
  update: 2,
  rotateSecret: 1,
  test: 1,
  deliveries: 2,
  redeliver: 2
})

/** An alert: what is watched, and whom its messages go to. */
export interface NewAlert extends Omit<Plain<Alerts.AlertDefinition>, "name"> {
  readonly name: string
}

/** Which firings, and how many are read with one request. */
export interface FiringFilter extends Omit<Plain<NonNullable<Parameters<typeof Alerts.firings>[0]>>, "alert"> {
  readonly alert?: string | undefined
}

/** The messages of a test, as they begin. */
export interface TestMessages {
  readonly messages: ReadonlyArray<Alerts.AlertMessage>
}

/** Alerts: what is watched, whom its messages go to, and its firings. */
export interface AlertsClient {
  /** Returns one alert. */
  readonly get: (alert: string, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.alerts.list({ limit: 50 })
   */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<Alerts.Alert>>
  /**
   * All alerts, newest first.
   * @example for await (const { name } of room.alerts.stream()) console.log(name)
   */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<Alerts.Alert>
  /**
   * Creates an alert; rejects with `NotFound` when a channel or what its rule names does not exist.
   * @example
   * const rule = { type: "run_unresolved", process: { id: process } } as const
   * await room.alerts.create({ name: "failed", rule, channels: [{ id: channel }] })
   */
  readonly create: (definition: NewAlert, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /**
   * Replaces an alert. With another rule its firings are over without a message.
   * @example
   * const rule = { type: "run_unresolved" } as const
   * const channels = [{ id: channel }]
   * await room.alerts.update(alert, { name: "any", rule, channels })
   */
  readonly update: (alert: string, definition: NewAlert, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /** Deletes an alert with its firings, without a message. Irreversible. */
  readonly remove: (alert: string, options?: CallOptions) => ApiPromise<Deleted<AlertId>>
  /** Sends a test message to each channel of an alert; `messages` shows what became of them. */
  readonly test: (alert: string, options?: CallOptions) => ApiPromise<TestMessages>
  /**
   * Mutes an alert until then. What still holds at that time is reported then.
   * @example await room.alerts.mute(alert, { until: "2026-12-24T08:00Z", note: "holidays" })
   */
  readonly mute: (
    alert: string,
    mute: { readonly until: DateTime.DateTime.Input; readonly note?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<Alerts.Alert>
  /** Ends the mute of an alert. */
  readonly unmute: (alert: string, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /**
   * The messages of an alert, newest first, with what became of each.
   * @example for await (const { state } of room.alerts.messages(alert)) console.log(state)
   */
  readonly messages: (alert: string, page?: Size, options?: CallOptions) => AsyncIterable<Alerts.AlertMessage>
  /**
   * Firings, newest first: of all alerts or of one, in all states or in one.
   * @example for await (const { id } of room.alerts.firings({ alert })) console.log(id)
   */
  readonly firings: (filter?: FiringFilter, options?: CallOptions) => AsyncIterable<Alerts.AlertFiring>
}

export const alerts = /* @__PURE__ */ members<AlertsClient>(Alerts, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  remove: 1,
  test: 1,
  mute: 2,
  unmute: 1,
  messages: 2,
  firings: 1
})

/** A channel: a name, and the settings of its type. */
export interface NewAlertChannel extends Omit<AlertChannels.AlertChannelDefinition, "name"> {
  readonly name: string
}

/** Channels of alerts: where their messages go, and addresses that are called each minute while the service runs. */
export interface AlertChannelsClient {
  /** Returns a channel, without its secrets. */
  readonly get: (channel: string, options?: CallOptions) => ApiPromise<AlertChannels.AlertChannel>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.alertChannels.list({ limit: 50 })
   */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<AlertChannels.AlertChannel>>
  /**
   * All channels, newest first.
   * @example for await (const { name } of room.alertChannels.stream()) console.log(name)
   */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<AlertChannels.AlertChannel>
  /**
   * Creates a channel. `secret` of the result is the secret of a `webhook`, redacted; it is returned only here.
   * @example
   * const settings = { type: "webhook", url: "https://example.com/alerts" } as const
   * const { secret } = await room.alertChannels.create({ name: "ops", settings })
   */
  readonly create: (definition: NewAlertChannel, options?: CallOptions) => ApiPromise<AlertChannels.AlertChannelCreated>
  /**
   * Replaces the settings of a channel. A password that is left out stays while server, security and user name do.
   * @example
   * const settings = { type: "webhook", url: "https://example.com/new" } as const
   * await room.alertChannels.update(channel, { name: "ops", settings })
   */
  readonly update: (
    channel: string,
    definition: NewAlertChannel,
    options?: CallOptions
  ) => ApiPromise<AlertChannels.AlertChannelCreated>
  /** Gives a `webhook` a new secret, and returns it, redacted. */
  readonly rotateSecret: (channel: string, options?: CallOptions) => ApiPromise<AlertChannels.AlertChannelCreated>
  /** Deletes a channel; rejects with `Conflict` while an alert sends to it. */
  readonly remove: (channel: string, options?: CallOptions) => ApiPromise<Deleted<AlertChannelId>>
}

export const alertChannels = /* @__PURE__ */ members<AlertChannelsClient>(AlertChannels, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  rotateSecret: 1,
  remove: 1
})
