/**
 * How long the service keeps idempotency keys. The header is the same in requests, where it asks, and in responses.
 */

/** Seconds, whole. */
export const lifetimeHeader = "idempotency-key-ttl"

/** Seconds: the lifetime of a key for which a request does not ask, and the longest that it can ask for (7 days). */
export const keyLifetime = { default: 86_400, max: 604_800 } as const
