/**
 * Subscriptions, and the notifications that are sent for them.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Failure from "../model/Failure.ts"
import * as Ids from "../model/Ids.ts"
import type { ChangeKind, Changes } from "../model/Model.ts"
import { masked, Traffic } from "./Traffic.ts"

export const lifecycleEvents = ["missed", "reauthorizationRequired", "subscriptionRemoved"] as const
/** What a lifecycle notification says. */
export type LifecycleEvent = (typeof lifecycleEvents)[number]

/** What is watched. */
export interface Watched {
  readonly changes: ReadonlyArray<Changes>
  /** What of a notification says which item it is about; null: the resource as a whole has changed, whatever happened. */
  readonly item: ((id: string) => { readonly resource: string; readonly resourceData: object }) | null
}

export interface Subscription {
  readonly id: string
  readonly applicationId: string
  readonly creatorId: string
  readonly resource: string
  readonly changeTypes: ReadonlyArray<string>
  readonly clientState: string | null
  readonly lifecycleUrl: string | null
  readonly watched: Watched
  notificationUrl: string
  expiresAt: number
  /** Nothing is sent until it is authorized again. */
  isPaused: boolean
}

/** Attempts of a notification, and milliseconds until the second one; each later pause is twice as long. */
const attempts = 6
const firstPause = 200

/** Changes of one request are told together. */
const gatherMillis = 5

/** How long a receiver may take, by the page "Receive change notifications through webhooks". */
const mayTake = { validation: "10 seconds", notification: "3 seconds" } as const

/** How a receiver answered; null: not at all. */
type Answered = { readonly status: number; readonly type: string; readonly text: string } | null

const make = Effect.fnUntraced(function* (settings: { readonly tenant: string; readonly subscriptionSeconds: number }) {
  const traffic = yield* Traffic
  const client = yield* HttpClient.HttpClient
  const fork = yield* FiberSet.makeRuntime()
  const subscriptions = new Map<string, Subscription & { readonly stop: () => void }>()

  const post = (url: string, body: HttpBody.HttpBody, within: string): Effect.Effect<Option.Option<Answered>> =>
    client.execute(HttpClientRequest.post(url, { body })).pipe(
      Effect.flatMap(({ headers, status, text }) =>
        Effect.map(text, (text): Answered => ({ status, text, type: headers["content-type"] ?? "" }))
      ),
      Effect.orElseSucceed(() => null),
      Effect.timeoutOption(within === "validation" ? mayTake.validation : mayTake.notification)
    )

  /** Whether the receiver is there, and wants notifications. */
  const validate = Effect.fnUntraced(function* (url: string) {
    const token = `Validation: Testing client application reachability for subscription Request-Id: ${Ids.random()}`
    const address = `${url}${url.includes("?") ? "&" : "?"}validationToken=${encodeURIComponent(token)}`
    const answered = yield* post(address, HttpBody.text("", "text/plain; charset=utf-8"), "validation")
    if (Option.isNone(answered)) return yield* Failure.subscriptionInvalid("Subscription validation request timed out.")
    const { value } = answered
    if (value?.status === 200 && value.type.startsWith("text/plain") && value.text === token) return
    return yield* Failure.subscriptionInvalid(
      `Subscription validation request failed. ${value === null ? "" : `HTTP status code is '${value.status}'. `}` +
        "Notification endpoint must respond with 200 OK to validation request."
    )
  })

  /** Sends notifications until the receiver confirms them, with what goes wrong by the rules. */
  const deliver = Effect.fnUntraced(function* (url: string, value: ReadonlyArray<object>) {
    const { host, pathname, search } = new URL(url)
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const at = yield* Clock.currentTimeMillis
      const rules = traffic.meet({ host: "notifications", method: "POST", url: `${pathname}${search}` })
      for (const rule of rules) if (rule.fault === "delay") yield* Effect.sleep(rule.millis)
      const lost = rules.find(({ fault }) => fault === "drop")
      const isLost = lost?.fault === "drop" && lost.when !== "after"
      const answered = isLost
        ? null
        : Option.getOrNull(
            yield* post(
              url,
              HttpBody.text(JSON.stringify({ value }), "application/json; charset=utf-8"),
              "notification"
            )
          )
      traffic.record({
        host: "notifications",
        method: "POST",
        url: masked(`${pathname}${search}`),
        status: answered?.status ?? 0,
        authorization: false,
        hostHeader: host,
        headers: {},
        batched: false,
        faults: rules.map(({ fault }) => fault),
        at
      })
      if (isLost || (lost === undefined && answered !== null && answered.status < 300)) return
      yield* Effect.sleep(firstPause * 2 ** (attempt - 1))
    }
  })

  const common = (subscription: Subscription) => ({
    id: Ids.secret().slice(0, 12),
    subscriptionId: subscription.id,
    subscriptionExpirationDateTime: new Date(subscription.expiresAt).toISOString(),
    clientState: subscription.clientState,
    tenantId: settings.tenant
  })

  const active = (id: string, now: number) => {
    const subscription = subscriptions.get(id)
    if (subscription === undefined || subscription.expiresAt > now) return subscription
    remove(id)
    return undefined
  }

  const remove = (id: string) => {
    subscriptions.get(id)?.stop()
    subscriptions.delete(id)
  }

  /** Notes the changes of what is watched, and sends those that came meanwhile together. */
  const watch = (subscription: Subscription): (() => void) => {
    const { changeTypes, watched } = subscription
    let waiting: Array<{ readonly id: string; readonly kind: ChangeKind }> = []
    let isSending = false
    const drain = Effect.gen(function* () {
      while (waiting.length > 0) {
        yield* Effect.sleep(gatherMillis)
        const changes = waiting
        waiting = []
        if (active(subscription.id, yield* Clock.currentTimeMillis) === undefined || subscription.isPaused) continue
        const value =
          watched.item === null
            ? [{ ...common(subscription), changeType: "updated", resource: subscription.resource, resourceData: {} }]
            : changes.map(({ id, kind }) => ({ ...common(subscription), changeType: kind, ...watched.item?.(id) }))
        yield* deliver(subscription.notificationUrl, value)
      }
      isSending = false
    })
    const watcher = (id: string, kind: ChangeKind) => {
      if (watched.item !== null && !changeTypes.includes(kind)) return
      waiting.push({ id, kind })
      if (isSending) return
      isSending = true
      fork(drain)
    }
    for (const { watchers } of watched.changes) watchers.add(watcher)
    return () => {
      for (const { watchers } of watched.changes) watchers.delete(watcher)
    }
  }

  return {
    validate,
    remove,
    /** When a subscription ends that was asked to last until then. */
    endOf: (asked: number, now: number) => Math.min(asked, now + settings.subscriptionSeconds * 1000),
    add: (given: Omit<Subscription, "id" | "isPaused">): Subscription => {
      const subscription: Subscription = { ...given, id: Ids.random(), isPaused: false }
      subscriptions.set(subscription.id, Object.assign(subscription, { stop: watch(subscription) }))
      return subscription
    },
    find: (id: string, now: number): Subscription | undefined => active(id, now),
    all: (now: number): ReadonlyArray<Subscription> => [...subscriptions.keys()].flatMap((id) => active(id, now) ?? []),
    /** Sends a lifecycle notification of a subscription, or of all. False: there is none. */
    lifecycle: (event: LifecycleEvent, id?: string) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const concerned = (id === undefined ? [...subscriptions.keys()] : [id]).flatMap((id) => active(id, now) ?? [])
        for (const subscription of concerned) {
          if (event === "reauthorizationRequired") subscription.isPaused = true
          if (event === "subscriptionRemoved") remove(subscription.id)
          const { lifecycleUrl } = subscription
          if (lifecycleUrl !== null) {
            fork(deliver(lifecycleUrl, [{ ...common(subscription), lifecycleEvent: event }]))
          }
        }
        return concerned.length > 0
      })
  }
})

export class Notifier extends Context.Service<Notifier, Effect.Success<ReturnType<typeof make>>>()(
  "@signalbox/graph-sandbox/internal/Notifier"
) {
  static readonly layer = (settings: Parameters<typeof make>[0]): Layer.Layer<Notifier, never, Traffic> =>
    Layer.effect(Notifier)(make(settings)).pipe(Layer.provide(FetchHttpClient.layer))
}
