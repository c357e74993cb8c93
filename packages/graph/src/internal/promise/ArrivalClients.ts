/** Subscriptions, and what arrives, as functions with promises. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Arrivals from "../../Arrivals.ts"
import { type ArrivalState, ArrivalStore } from "../../ArrivalStore.ts"
import type { Subscription } from "../../model/Subscription.ts"
import type { Notification } from "../../Notifications.ts"
import * as Subscriptions from "../../Subscriptions.ts"
import type { CallOptions, Members } from "./Members.ts"

/** How long a subscription lasts from now. */
export interface RenewOptions {
  readonly minutes?: number | undefined
}

/** What is needed of a subscription to renew it. */
export interface SubscriptionRef extends Subscriptions.Renewable {}

/** Addresses of yours that the service calls when something changes. */
export interface SubscriptionsClient {
  /**
   * Makes a subscription; rejects with `InvalidRequest` when the receiver does not answer the validation.
   * @example
   * const subscription = await graph.subscriptions.create({
   *   resource: driveResource(drive),
   *   notificationUrl: "https://intake.contoso.example/graph",
   *   clientState: secret
   * })
   */
  readonly create: (given: Subscriptions.NewSubscription, options?: CallOptions) => Promise<Subscription>
  /** A subscription; rejects with `NotFound` when it has ended. */
  readonly get: (id: string, options?: CallOptions) => Promise<Subscription>
  /** The subscriptions of this app that have not ended. */
  readonly stream: (options?: CallOptions) => AsyncIterable<Subscription>
  /**
   * Lets a subscription last for so many minutes from now; rejects with `NotFound` when it has ended.
   * @example await graph.subscriptions.renew(subscription, { minutes: 60 })
   */
  readonly renew: (subscription: SubscriptionRef, renew?: RenewOptions, options?: CallOptions) => Promise<Subscription>
  /** Ends a subscription. */
  readonly remove: (id: string, options?: CallOptions) => Promise<void>
  /**
   * Keeps a subscription while the hints are read, and says when to look; `notifications` are those that the receiver reads. What ends
   * the iteration removes the subscription.
   * @example
   * for await (const hint of graph.subscriptions.keep(given, notifications))
   *   console.log(hint)
   */
  readonly keep: (
    given: Subscriptions.NewSubscription,
    notifications: AsyncIterable<Notification>,
    options?: CallOptions
  ) => AsyncIterable<Subscriptions.Hint>
}

/** What an iterable of the program throws is what the iteration rejects with. */
const fromProgram = <A>(iterable: AsyncIterable<A>) =>
  Stream.orDie(Stream.fromAsyncIterable(iterable, (error) => error))

export const subscriptions: Members<SubscriptionsClient> = {
  create: { of: Subscriptions.create, parameters: 1 },
  get: { of: Subscriptions.get, parameters: 1 },
  stream: { of: Subscriptions.stream, parameters: 0 },
  renew: { of: Subscriptions.renew, parameters: 2 },
  remove: { of: Subscriptions.remove, parameters: 1 },
  keep: {
    of: (given: Subscriptions.NewSubscription, notifications: AsyncIterable<Notification>) =>
      Stream.unwrap(Effect.map(Subscriptions.keep(given, fromProgram(notifications)), ({ hints }) => hints)),
    parameters: 2
  }
}

/** Where it is stored how far the looks have come: a file, or what loads and saves it. */
export type StateStore =
  | string
  | {
      readonly load: () => PromiseLike<ArrivalState | null>
      readonly save: (state: ArrivalState) => PromiseLike<void>
    }

/** How one look hands over what has arrived. */
export interface ArrivalOptions extends Arrivals.LookOptions {
  readonly store: StateStore
}

/** How looks follow one another. */
export interface FollowOptions extends ArrivalOptions, Omit<Arrivals.FollowOptions, "hints"> {
  /** When to look without waiting, such as those of `subscriptions.keep`. */
  readonly hints?: AsyncIterable<unknown> | undefined
}

/** A function of the program that gets each arrival; when it throws or rejects, it gets it again at the next look. */
export type ArrivalHandler<A> = (arrival: Arrivals.Arrival<A>) => unknown

/** What arrives, handed over at least once, over restarts. */
export interface ArrivalsClient {
  /**
   * Looks once, and hands over what has arrived since the last look.
   * @example
   * const store = "./arrivals.json"
   * await graph.arrivals.look(messagesIn(mailbox), console.log, { store })
   */
  readonly look: <A>(
    source: Arrivals.Source<A>,
    handle: ArrivalHandler<A>,
    look: ArrivalOptions,
    options?: CallOptions
  ) => Promise<Arrivals.LookReport<A>>
  /**
   * Looks again and again, until it is aborted or the sign-in is lost.
   * @example
   * const files = filesIn(drive, { folder: { path: "/Inbox" } })
   * await graph.arrivals.follow(files, console.log, { store: "./files.json" })
   */
  readonly follow: <A>(
    source: Arrivals.Source<A>,
    handle: ArrivalHandler<A>,
    follow: FollowOptions,
    options?: CallOptions
  ) => Promise<never>
}

const storeOf = (store: StateStore) =>
  typeof store === "string"
    ? ArrivalStore.layerFile(store)
    : Layer.succeed(ArrivalStore, {
        load: Effect.map(
          Effect.promise(() => store.load()),
          Option.fromNullOr
        ),
        save: (state) => Effect.promise(() => store.save(state))
      })

/** What it throws or rejects with, the arrival failed for. */
const handled =
  <A>(handle: ArrivalHandler<A>) =>
  (arrival: Arrivals.Arrival<A>) =>
    Effect.catchDefect(
      Effect.promise(async () => handle(arrival)),
      Effect.fail
    )

export const arrivals: Members<ArrivalsClient> = {
  look: {
    of: (source: Arrivals.Source<unknown>, handle: ArrivalHandler<unknown>, { store, ...options }: ArrivalOptions) =>
      Effect.provide(Arrivals.look(source, handled(handle), options), storeOf(store)),
    parameters: 3
  },
  follow: {
    of: (
      source: Arrivals.Source<unknown>,
      handle: ArrivalHandler<unknown>,
      { hints, store, ...options }: FollowOptions
    ) =>
      Effect.provide(
        Arrivals.follow(source, handled(handle), {
          ...options,
          hints: hints === undefined ? undefined : fromProgram(hints)
        }),
        storeOf(store)
      ),
    parameters: 3
  }
}
