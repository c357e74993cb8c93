/**
 * Subscriptions: the service calls an address of yours when something changes. They end unless they are renewed, and notifications can
 * be lost, so they only say when to look: what has changed, `Delta` says, and `Arrivals` does both.
 *
 * What can be subscribed to, the page "subscription resource type" of the service's documentation says: of drives the root alone, of
 * lists the whole, both with `updated` alone.
 */
import { check, matching, positive, text } from "@signalbox/transport/OptionError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import type { Scope } from "effect/Scope"
import * as Stream from "effect/Stream"
import type { DriveAddress } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { json, list, unit } from "./internal/requests/Call.ts"
import { longestMinutes, Subscription, type SubscriptionId } from "./model/Subscription.ts"
import type { Notification } from "./Notifications.ts"
import { path, type Path } from "./Path.ts"

export { longestMinutes, Subscription, SubscriptionId } from "./model/Subscription.ts"

/** What becomes of something that is watched. */
export type ChangeType = "created" | "updated" | "deleted"

/** The clocks of the two sides differ: what is asked for stays below the longest by so many minutes. */
const margin = 10

/**
 * A drive as it is subscribed to: its root, with everything below it.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Subscriptions from "@signalbox/graph/Subscriptions"
 *
 * // "/drives/b!x/root"
 * export const resource = Subscriptions.drive(Drive.of({ id: "b!x" }))
 * ```
 */
export const drive = (address: DriveAddress): Path => address.root

/** A subscription to make. */
export interface NewSubscription {
  /** What is watched: `drive(...)`, or a path such as `users/ann@contoso.example/mailFolders('inbox')/messages`. */
  readonly resource: Path | string
  /** Default: `updated`, the only one of drives and lists. */
  readonly changeTypes?: ReadonlyArray<ChangeType> | undefined
  /** Where notifications go: https, and reachable for the service. It is asked for an answer before this call returns. */
  readonly notificationUrl: string | Redacted.Redacted
  /** Where lifecycle notifications go; default: as the others. They cannot be had later. */
  readonly lifecycleNotificationUrl?: string | Redacted.Redacted | undefined
  /** Comes with every notification, and proves where it is from: a secret of 1 to 128 characters. */
  readonly clientState: string | Redacted.Redacted
  /** How long it lasts; default: nearly as long as its resource allows. */
  readonly minutes?: number | undefined
  /** Notifications hold what has changed, encrypted for this certificate (base64). */
  readonly resourceData?: { readonly certificate: string; readonly certificateId: string } | undefined
}

const one = json(Subscription)
const many = list(Subscription)

const plain = (value: string | Redacted.Redacted) => (typeof value === "string" ? value : Redacted.value(value))

const rules = {
  minutes: positive,
  clientState: matching(/^[^]{1,128}$/, "expected a secret of 1 to 128 characters"),
  notificationUrl: text
}

const expiration = Effect.fnUntraced(function* (resource: string, minutes: number | undefined, withData = false) {
  const longest = longestMinutes(resource, { withData })
  const now = yield* Clock.currentTimeMillis
  return new Date(now + (minutes ?? longest - margin) * 60_000).toISOString()
})

/**
 * Makes a subscription. Fails with `InvalidRequest` when the receiver does not answer the validation, or when the resource cannot be
 * subscribed to like this. It is sent once: when its answer is lost, there may be a subscription that nobody knows, until it ends.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Subscriptions from "@signalbox/graph/Subscriptions"
 * import type * as Redacted from "effect/Redacted"
 *
 * export const watch = (clientState: Redacted.Redacted) =>
 *   Subscriptions.create({
 *     resource: Subscriptions.drive(Drive.me),
 *     notificationUrl: "https://intake.contoso.example/graph",
 *     clientState
 *   })
 * ```
 */
export const create = Effect.fn("Subscriptions.create")(function* (given: NewSubscription) {
  const { changeTypes = ["updated"], minutes, resourceData } = given
  const clientState = plain(given.clientState)
  const notificationUrl = plain(given.notificationUrl)
  check("Subscriptions.create", { minutes, clientState, notificationUrl }, rules)
  const resource = typeof given.resource === "string" ? given.resource : given.resource.encoded
  return yield* one({
    path: path`/subscriptions`,
    method: "POST",
    json: {
      resource,
      changeType: changeTypes.join(","),
      notificationUrl,
      lifecycleNotificationUrl: plain(given.lifecycleNotificationUrl ?? notificationUrl),
      clientState,
      expirationDateTime: yield* expiration(resource, minutes, resourceData !== undefined),
      includeResourceData: resourceData === undefined ? undefined : true,
      encryptionCertificate: resourceData?.certificate,
      encryptionCertificateId: resourceData?.certificateId
    }
  })
})

/** A subscription; fails with `NotFound` when it has ended. */
export const get = Effect.fn("Subscriptions.get")((id: SubscriptionId | string) =>
  one({ path: path`/subscriptions/${id}` })
)

/** The subscriptions of this app that have not ended; with a person's token, those that were made for that person. */
export const stream: Stream.Stream<Subscription, GraphError, Graph> = many({ path: path`/subscriptions` }).pipe(
  Stream.withSpan("Subscriptions.stream")
)

/** What is needed of a subscription to renew it. */
export type Renewable = Pick<Subscription, "id" | "resource" | "includeResourceData">

/**
 * Lets a subscription last for so many minutes from now, by default nearly as long as its resource allows, and authorizes it again.
 * Fails with `NotFound` when it has ended.
 */
export const renew = Effect.fn("Subscriptions.renew")(function* (
  subscription: Renewable,
  options: { readonly minutes?: number | undefined } = {}
) {
  check("Subscriptions.renew", options, { minutes: positive })
  const withData = subscription.includeResourceData === true
  return yield* one({
    path: path`/subscriptions/${subscription.id}`,
    method: "PATCH",
    json: { expirationDateTime: yield* expiration(subscription.resource, options.minutes, withData) },
    repeatable: true
  })
})

/** Ends a subscription; one that has ended already fails with `NotFound`. */
export const remove = Effect.fn("Subscriptions.remove")((id: SubscriptionId | string) =>
  unit({ path: path`/subscriptions/${id}`, method: "DELETE" })
)

/** Why it is time to look what has changed. `recreated`, `missed`: notifications were lost. */
export type Hint = "notified" | "missed" | "recreated"

/** A subscription that is kept. */
export interface Kept {
  /** As it is now. */
  readonly current: Effect.Effect<Subscription>
  /** When to look, for one consumer; hints that it does not get to are one. Never ends. */
  readonly hints: Stream.Stream<Hint>
}

/** Pauses between attempts: longer ones than those of a call, and without an end. */
const patiently = Schedule.jittered(Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("5 minutes")]))

/** A renewal is due when half of the time is over, and once a day in any case. */
const renewalMillis = ({ expirationDateTime }: Subscription) =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    Math.min(Math.max(100, (Date.parse(expirationDateTime) - now) / 2), 86_400_000)
  )

const warned = (what: string) => (call: Effect.Effect<Subscription, GraphError, Graph>) =>
  Effect.tapError(call, (error) => Effect.logWarning(`cannot ${what} a subscription: ${error.message}`))

/**
 * Makes a subscription and keeps it while the scope is open: renews it in time, authorizes it again when the service asks for that, and
 * makes another one when it has been removed. Those of this app for the same resource and address are removed first: they are of a run
 * that was killed. The receiver must listen already; `notifications` are what it reads. Fails when the first subscription cannot be
 * made; later failures are warnings in the log, and tried again without an end, since a delta finds what no notification told.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import type { Notification } from "@signalbox/graph/Notifications"
 * import * as Subscriptions from "@signalbox/graph/Subscriptions"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * export const watch = Effect.fn(function* (
 *   clientState: string,
 *   received: Stream.Stream<Notification>
 * ) {
 *   const subscription = {
 *     resource: Subscriptions.drive(Drive.me),
 *     notificationUrl: "https://intake.contoso.example/graph",
 *     clientState
 *   }
 *   const { hints } = yield* Subscriptions.keep(subscription, received)
 *   yield* Stream.runForEach(hints, (hint) => Effect.log(hint))
 * })
 * ```
 */
export const keep: (
  given: NewSubscription,
  notifications: Stream.Stream<Notification>
) => Effect.Effect<Kept, GraphError, Graph | Scope> = Effect.fn("Subscriptions.keep")(function* (
  given: NewSubscription,
  notifications: Stream.Stream<Notification>
) {
  const hints = yield* Queue.sliding<Hint>(1)
  const orders = yield* Queue.unbounded<"renew" | "recreate">()
  const resource = typeof given.resource === "string" ? given.resource : given.resource.encoded
  const address = plain(given.notificationUrl)
  yield* stream.pipe(
    Stream.filter(
      (former) =>
        former.resource === resource &&
        former.notificationUrl !== undefined &&
        former.notificationUrl !== null &&
        Redacted.value(former.notificationUrl) === address
    ),
    Stream.mapEffect(({ id }) => Effect.catchReason(remove(id), "GraphError", "NotFound", () => Effect.void)),
    Stream.runDrain
  )
  const current = yield* Ref.make(yield* create(given))
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Ref.get(current), ({ id }) => Effect.ignore(Effect.timeout(remove(id), "5 seconds")))
  )

  const recreate = Effect.gen(function* () {
    const made = yield* Effect.retry(warned("make")(create(given)), patiently)
    yield* Ref.set(current, made)
    yield* Queue.offer(hints, "recreated")
  })
  const renewed = Effect.gen(function* () {
    const { minutes } = given
    const found = yield* Effect.flatMap(Ref.get(current), (subscription) => renew(subscription, { minutes })).pipe(
      warned("renew"),
      Effect.retry({ schedule: patiently, while: ({ reason }) => reason._tag !== "NotFound" }),
      Effect.asSome,
      Effect.catch(() => Effect.succeedNone)
    )
    if (Option.isNone(found)) return yield* recreate
    yield* Ref.set(current, found.value)
  })
  const round = Effect.gen(function* () {
    const due = yield* Effect.flatMap(Ref.get(current), renewalMillis)
    const order = yield* Effect.timeoutOption(Queue.take(orders), due)
    if (Option.isSome(order) && order.value === "recreate") return yield* recreate
    yield* renewed
    // What happened before it was authorized again is not told.
    if (Option.isSome(order)) yield* Queue.offer(hints, "missed")
  })
  yield* Effect.forkScoped(Effect.forever(round))

  yield* Effect.forkScoped(
    Stream.runForEach(notifications, ({ lifecycleEvent, subscriptionId }) =>
      Effect.gen(function* () {
        if (lifecycleEvent === null) return yield* Queue.offer(hints, "notified")
        if (lifecycleEvent === "missed") return yield* Queue.offer(hints, "missed")
        // One of a subscription that is no longer kept concerns nobody.
        if (subscriptionId !== (yield* Ref.get(current)).id) return
        yield* Queue.offer(orders, lifecycleOrders[lifecycleEvent] ?? "renew")
      })
    )
  )
  return { current: Ref.get(current), hints: Stream.fromQueue(hints) }
})

/** What a lifecycle notification asks for; one that is not known: to renew, which does no harm. */
const lifecycleOrders: Readonly<Record<string, "renew" | "recreate">> = {
  reauthorizationRequired: "renew",
  subscriptionRemoved: "recreate"
}
