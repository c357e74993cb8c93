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
