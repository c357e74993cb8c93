/** What starts runs, and what tells of them, as functions with promises. */
import type * as DateTime from "effect/DateTime"
import type { Deleted } from "../../contract/Common.ts"
import type { AlertChannelId, AlertId, ScheduleId, TriggerId, WebhookId } from "../../contract/Ids.ts"
import * as AlertChannels from "../../AlertChannels.ts"
import * as Alerts from "../../Alerts.ts"
import * as Schedules from "../../Schedules.ts"
import * as Triggers from "../../Triggers.ts"
import * as Webhooks from "../../Webhooks.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { ListOptions, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** Which page of the list, and of which process. */
export interface ListOfProcess extends ListOptions {
  readonly process?: string | undefined
}

/** Of which process, and how many are read with one request. */
export interface SizeOfProcess extends Size {
  readonly process?: string | undefined
}

/** A schedule: when runs of which process start, and with what. */
export interface NewSchedule extends Omit<Plain<Schedules.NewSchedule>, "name" | "process"> {
  readonly name: string
  /** Its id, or what has one. */
  readonly process: string | { readonly id: string }
}

/** When a schedule would start runs. */
export interface Rules extends Schedules.ScheduleRules {}

/** Schedules: times at which runs of a process start. */
export interface SchedulesClient {
  /** Returns a schedule with its inputs and its runs that have not ended. */
  readonly get: (schedule: string, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Returns one page, newest first. */
  readonly list: (page?: ListOfProcess, options?: CallOptions) => ApiPromise<ListPage<Schedules.ScheduleListed>>
  /** All schedules, newest first. */
  readonly stream: (page?: SizeOfProcess, options?: CallOptions) => AsyncIterable<Schedules.ScheduleListed>
  /** Creates a schedule, which counts from now; rejects with `Conflict` when the name is in use. */
  readonly create: (definition: NewSchedule, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Replaces the definition of a schedule; a pause and the history stay. */
  readonly update: (schedule: string, definition: NewSchedule, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Creates the schedule, or replaces the definition of the one with its name. Safe to repeat. */
  readonly put: (definition: NewSchedule, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Deletes a schedule with its history; its runs go on. Irreversible. */
  readonly remove: (schedule: string, options?: CallOptions) => ApiPromise<Deleted<ScheduleId>>
  /** Pauses a schedule: until it is resumed, its occurrences are skipped. The note says why. */
  readonly pause: (schedule: string, note: string, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Resumes a schedule: occurrences from now on begin. */
  readonly resume: (schedule: string, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Returns the next ten times of a schedule. */
  readonly next: (schedule: string, options?: CallOptions) => ApiPromise<ReadonlyArray<Schedules.ScheduleTime>>
  /** Returns the next ten times that a schedule with these rules would have. Nothing is stored. */
  readonly preview: (rules: Rules, options?: CallOptions) => ApiPromise<ReadonlyArray<Schedules.ScheduleTime>>
  /** What became of the occurrences of a schedule, newest first. */
  readonly occurrences: (
    schedule: string,
    page?: Size,
    options?: CallOptions
  ) => AsyncIterable<Schedules.ScheduleOccurrence>
}

export const schedules = members<SchedulesClient>(Schedules, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  put: 1,
  remove: 1,
  pause: 2,
  resume: 1,
  next: 1,
  preview: 1,
  occurrences: 2
})

/** A trigger: under which conditions runs of which process start. */
export interface NewTrigger extends Omit<Plain<Triggers.NewTrigger>, "name" | "process"> {
  readonly name: string
  /** Its id, or what has one. */
  readonly process: string | { readonly id: string }
}

/** Triggers: conditions under which runs of a process start, and addresses whose requests become work items. */
export interface TriggersClient {
  /** Returns a trigger with its runs that have not ended. */
  readonly get: (trigger: string, options?: CallOptions) => ApiPromise<Triggers.Trigger>
  /** Returns one page, newest first. */
  readonly list: (page?: ListOfProcess, options?: CallOptions) => ApiPromise<ListPage<Triggers.TriggerListed>>
  /** All triggers, newest first. */
  readonly stream: (page?: SizeOfProcess, options?: CallOptions) => AsyncIterable<Triggers.TriggerListed>
  /** Creates a trigger. `url` of the result is its address, redacted; it is returned only here. */
  readonly create: (definition: NewTrigger, options?: CallOptions) => ApiPromise<Triggers.TriggerCreated>
  /** Replaces the definition of a trigger; its address stays, and a secret that is left out. */
  readonly update: (
    trigger: string,
    definition: NewTrigger,
    options?: CallOptions
  ) => ApiPromise<Triggers.TriggerCreated>
  /** Gives a trigger a new address, and revokes the old one. */
  readonly rotateUrl: (trigger: string, options?: CallOptions) => ApiPromise<Triggers.TriggerCreated>
  /** Deletes a trigger and revokes its address. Its runs go on, and its items stay. Irreversible. */
  readonly remove: (trigger: string, options?: CallOptions) => ApiPromise<Deleted<TriggerId>>
}

export const triggers = members<TriggersClient>(Triggers, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  rotateUrl: 1,
  remove: 1
})

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
  /** Returns one page, newest first, without secrets. */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<Webhooks.WebhookListed>>
  /** All webhooks, newest first, without secrets. */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<Webhooks.WebhookListed>
  /** Creates a webhook; without `process`, for all processes. */
  readonly create: (input: NewWebhook, options?: CallOptions) => ApiPromise<Webhooks.Webhook>
  /** Deletes a webhook. Irreversible. */
  readonly remove: (webhook: string, options?: CallOptions) => ApiPromise<Deleted<WebhookId>>
  /** Changes the given fields. */
  readonly update: (webhook: string, change: WebhookChange, options?: CallOptions) => ApiPromise<Webhooks.Webhook>
  /** Creates a new secret and returns it; for 24 hours deliveries also carry a signature under the old one. */
  readonly rotateSecret: (webhook: string, options?: CallOptions) => ApiPromise<Webhooks.Webhook>
  /** Sends a test event; returns its delivery, which may still be pending. */
  readonly test: (webhook: string, options?: CallOptions) => ApiPromise<Webhooks.WebhookDelivery>
  /** The deliveries of a webhook in the last 14 days, newest first. */
  readonly deliveries: (
    webhook: string,
    filter?: DeliveryFilter,
    options?: CallOptions
  ) => AsyncIterable<Webhooks.WebhookDelivery>
  /** Sends the same event again, as a new delivery; rejects with `Conflict` while the old one is pending. */
  readonly redeliver: (webhook: string, delivery: string, options?: CallOptions) => ApiPromise<Webhooks.WebhookDelivery>
}

export const webhooks = members<WebhooksClient>(Webhooks, {
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
  readonly get: (alert: string, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /** Returns one page, newest first. */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<Alerts.Alert>>
  /** All alerts, newest first. */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<Alerts.Alert>
  /** Creates an alert; rejects with `NotFound` when a channel or what its rule names does not exist. */
  readonly create: (definition: NewAlert, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /** Replaces an alert. With another rule its firings are over without a message. */
  readonly update: (alert: string, definition: NewAlert, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /** Deletes an alert with its firings, without a message. Irreversible. */
  readonly remove: (alert: string, options?: CallOptions) => ApiPromise<Deleted<AlertId>>
  /** Sends a test message to each channel of an alert; `messages` shows what became of them. */
  readonly test: (alert: string, options?: CallOptions) => ApiPromise<TestMessages>
  /** Mutes an alert until then. What still holds at that time is reported then. */
  readonly mute: (
    alert: string,
    mute: { readonly until: DateTime.DateTime.Input; readonly note?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<Alerts.Alert>
  /** Ends the mute of an alert. */
  readonly unmute: (alert: string, options?: CallOptions) => ApiPromise<Alerts.Alert>
  /** The messages of an alert, newest first, with what became of each. */
  readonly messages: (alert: string, page?: Size, options?: CallOptions) => AsyncIterable<Alerts.AlertMessage>
  /** Firings, newest first: of all alerts or of one, in all states or in one. */
  readonly firings: (filter?: FiringFilter, options?: CallOptions) => AsyncIterable<Alerts.AlertFiring>
}

export const alerts = members<AlertsClient>(Alerts, {
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
  /** Returns one page, newest first. */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<AlertChannels.AlertChannel>>
  /** All channels, newest first. */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<AlertChannels.AlertChannel>
  /** Creates a channel. `secret` of the result is the secret of a `webhook`, redacted; it is returned only here. */
  readonly create: (definition: NewAlertChannel, options?: CallOptions) => ApiPromise<AlertChannels.AlertChannelCreated>
  /** Replaces the settings of a channel. A password that is left out stays while server, security and user name do. */
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

export const alertChannels = members<AlertChannelsClient>(AlertChannels, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  rotateSecret: 1,
  remove: 1
})
