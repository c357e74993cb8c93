/** The lifetime of idempotency keys. The header is the same in requests, which ask for a lifetime, and in responses. */

import * as Context from "effect/Context"

/**
 * Annotates an endpoint without idempotency records: a repeated call has the same effect, and it waits longer than the
 * transaction of a record may last.
 */
export const WithoutRecord = Context.Reference<boolean>("@signalbox/api/contract/WithoutRecord", {
  defaultValue: () => false
})

/**
 * Annotates an endpoint whose response is a credential, or has one: a repeated call gets the response again only from the key or
 * session that made the first.
 */
export const ReturnsCredential = Context.Reference<boolean>("@signalbox/api/contract/ReturnsCredential", {
  defaultValue: () => false
})

/** Whole seconds. */
export const lifetimeHeader = "idempotency-key-ttl"

/** Seconds: the default lifetime of a key, and the longest that a request can ask for (7 days). */
export const keyLifetime = { default: 86_400, max: 604_800 } as const
