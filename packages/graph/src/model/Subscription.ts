/**
 * Subscriptions to changes. The service never shows the `clientState` again.
 */
import * as Schema from "effect/Schema"
import { maybe } from "./Common.ts"

export const SubscriptionId = Schema.String.pipe(Schema.brand("SubscriptionId"))
export type SubscriptionId = typeof SubscriptionId.Type

const text = maybe(Schema.String)
/** An address that may give access by itself, as that of a trigger does. */
const address = Schema.RedactedFromValue(Schema.String)

export class Subscription extends Schema.Opaque<Subscription>()(
  Schema.Struct({
    id: SubscriptionId,
    /** What is watched, as it was subscribed to. */
    resource: Schema.String,
    /** `created`, `updated`, `deleted`, or several with commas. */
    changeType: text,
    notificationUrl: maybe(address),
    lifecycleNotificationUrl: maybe(address),
    /** When it ends unless it is renewed, ISO 8601. */
    expirationDateTime: Schema.String,
    applicationId: text,
    creatorId: text,
    includeResourceData: maybe(Schema.Boolean)
  })
) {}

const day = 24 * 60

/** The longest lifetimes in minutes; the first that fits counts. `withData`: of notifications that hold what has changed. */
const lifetimes: ReadonlyArray<{ readonly of: RegExp; readonly minutes: number; readonly withData?: number }> = [
  { of: /^(?:teams|chats)\/|\/chats\//i, minutes: 3 * day, withData: day },
  { of: /^communications\/presences/i, minutes: 60 },
  { of: /^communications\/callrecords/i, minutes: 4_230 },
  { of: /\/conversations$/i, minutes: 4_230 },
  { of: /(?:^|\/)drives?(?:\/|$)/i, minutes: 42_300 },
  { of: /\/lists(?:\/|$)/i, minutes: 42_300 },
  { of: /\/(?:messages|events|contacts)(?:[/?(]|$)/i, minutes: 7 * day, withData: day },
  { of: /^security\//i, minutes: 43_200 },
  { of: /^(?:users|groups)(?:[/?(]|$)/i, minutes: 29 * day }
]

/** What the shortest of them is; taken where the resource is none of these. */
const shortest = 60

/**
 * Minutes that a subscription to a resource may last, by the page "subscription resource type" of the service's documentation; an hour
 * for one that this library does not know.
 */
export const longestMinutes = (resource: string, options: { readonly withData?: boolean | undefined } = {}): number => {
  const found = lifetimes.find(({ of }) => of.test(resource.replace(/^\/+/, "")))
  return (options.withData === true ? found?.withData : undefined) ?? found?.minutes ?? shortest
}
