/** The waits that services ask of clients. */

/** Headers of a response, with names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/** Returns the value of a header as a number from 0 on; undefined when it is not one. */
export const readNumber = (headers: Headers, name: string): number | undefined => {
  const value = Number(headers[name]?.trim() || Number.NaN)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

/**
 * Returns how many milliseconds from `now` (milliseconds since the epoch) the service asks to wait: `Retry-After-Ms`,
 * or `Retry-After` in seconds, whole or not, or as a date. Returns null when the header is missing or invalid.
 *
 * ```ts
 * import { retryAfterMillis } from "@signalbox/transport/RetryAfter"
 *
 * // 2500
 * export const pause = retryAfterMillis({ "retry-after": "2.5" }, Date.now())
 * ```
 */
export const retryAfterMillis = (headers: Headers, now: number): number | null => {
  const millis = readNumber(headers, "retry-after-ms") ?? (readNumber(headers, "retry-after") ?? Number.NaN) * 1000
  if (Number.isFinite(millis)) return Math.ceil(millis)
  const value = headers["retry-after"] ?? ""
  // A number that is not a count of seconds (negative, exponents) would be parsed as a year.
  const date = /[a-df-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
