/**
 * How long the service keeps idempotency keys. The header is the same in requests, where it asks, and in responses.
 */

import * as Context from "effect/Context"

/**
 * Annotates an endpoint for which the service keeps no record of idempotency keys: called again it does the same again, and
 * it waits for others for longer than the transaction of a record may last.
 */
export const WithoutRecord = Context.Reference<boolean>("@signalbox/api/contract/WithoutRecord", {
  defaultValue: () => false
})

/** Seconds, whole. */
export const lifetimeHeader = "idempotency-key-ttl"

/** Seconds: the lifetime of a key for which a request does not ask, and the longest that it can ask for (7 days). */
export const keyLifetime = { default: 86_400, max: 604_800 } as const
