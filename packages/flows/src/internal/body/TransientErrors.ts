/**
 * The durable retry of ready steps: transient failures are retried for a day.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Retry, Transient } from "./Position.ts"

const firstMillis = 1_000
const longestMillis = Duration.toMillis("5 minutes")
const untilMillis = Duration.toMillis("24 hours")

/**
 * Pauses are random up to 1 s, doubled with each attempt to at most 5 minutes, so that executions that failed together do not retry
 * together. A script does not wait for a day: it has only the attempts of the client.
 */
export const durably =
  <E>(transient: (error: E) => Transient | null): Retry<E> =>
  ({ attempt, durable, elapsedMillis, error }) => {
    const found = durable && elapsedMillis < untilMillis ? transient(error) : null
    if (found === null) return Effect.succeed(null)
    const longest = Math.min(firstMillis * 2 ** Math.min(attempt - 1, 20), longestMillis)
    return Effect.map(Random.next, (random) => (found.retryAfterMillis ?? 0) + random * longest)
  }
