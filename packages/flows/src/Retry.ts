/**
 * Retries of steps: the option `retry`, and which failures of HTTP services are worth one.
 */
import { ControlRoomError, transient } from "@signalbox/api/ControlRoomError"
import { actedOn } from "@signalbox/transport/Attempts"
import { retryAfterMillis } from "@signalbox/transport/RetryAfter"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"

/** How a step is retried when it fails with an error of its schema. Defects are never retried. */
export interface RetryOptions<E> {
  /** The number of attempts, the first included. */
  readonly attempts: number
  /**
   * The pause before the second attempt; default 1 second. A function returns the pause before each further attempt from the error
   * and the number of the attempt that failed (from 1), such as `Retry.http`; null: the step is not retried.
   */
  readonly delay?: Duration.Input | ((error: E, attempt: number) => Duration.Input | null)
  /** The factor by which each further pause is longer; default 2, and 1 keeps them equal. Not with a function as `delay`. */
  readonly backoff?: number
  /** The longest pause, without `jitter`. It shortens longer ones, also those that a service asks for by `Retry-After`. */
  readonly max?: Duration.Input
  /**
   * The largest random part that is added to each pause, as a share of it from 0 to 1; default 0. With 0.5 a pause of 10 seconds
   * takes 10 to 15 seconds. So executions that failed together do not retry together.
   */
  readonly jitter?: number
  /** No attempt begins later than this after the first one began; default: no limit. */
  readonly within?: Duration.Input
  /** Which errors are retried; default: all. */
  readonly while?: (error: E) => boolean
}

type Shape = Readonly<Record<string, unknown>>

const isShape = (value: unknown): value is Shape => Predicate.isObjectOrArray(value)

/** Members in which errors have the response, or the error that they stand for. */
const holders = ["response", "reason", "data", "cause"] as const

/** Returns an error and everything in its `holders`, from the outside in. */
const layersOf = (error: unknown): ReadonlyArray<Shape> => {
  const found = new Set<Shape>()
  const add = (value: unknown): void => {
    if (!isShape(value) || found.has(value)) return
    found.add(value)
    for (const name of holders) add(value[name])
  }
  add(error)
  return [...found]
}

const numberOf = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null)

const statusOf = ({ status, statusCode }: Shape): number | null => {
  const found = numberOf(status) ?? numberOf(statusCode)
  return found !== null && found >= 100 && found < 600 ? found : null
}

/** The first result that is not null. */
const first = <A>(layers: ReadonlyArray<Shape>, of: (layer: Shape) => A | null): A | null => {
  for (const layer of layers) {
    const found = of(layer)
    if (found !== null) return found
  }
  return null
}

const headerOf = (headers: unknown, name: string): string | undefined => {
  if (!isShape(headers)) return undefined
  const value: unknown =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  return typeof value === "string" || typeof value === "number" ? `${value}` : undefined
}

/** The headers of a response: a `Headers`, a `Map`, or a record with names in any case. */
export type ResponseHeaders = { readonly get: (name: string) => unknown } | { readonly [name: string]: unknown }

/**
 * Returns how many milliseconds a service asks to wait: by `Retry-After` in seconds or as a date, or by `Retry-After-Ms`. Null when
 * the headers do not say. For the `retryAfterMillis` of an error class of your own, which `http` reads.
 *
 * ```ts
 * import * as Retry from "@signalbox/flows/Retry"
 *
 * // 2500
 * export const pause = Retry.afterMillis({ "retry-after": "2.5" })
 * ```
 */
export const afterMillis = (headers: ResponseHeaders): number | null => {
  const read = (name: string) => headerOf(headers, name)
  return retryAfterMillis({ "retry-after": read("retry-after"), "retry-after-ms": read("retry-after-ms") }, Date.now())
}

/** Errors of Node and of its HTTP client after which the same request may succeed: no connection, a broken one, no answer. */
const passingCodes: ReadonlySet<unknown> = new Set([
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_SOCKET"
])
/** Tags and names of errors of time limits. */
const timeouts: ReadonlySet<unknown> = new Set(["StepTimeout", "TimeoutError"])

const isUnanswered = ({ _tag, code, name }: Shape): true | null =>
  passingCodes.has(code) || timeouts.has(_tag) || timeouts.has(name) ? true : null

const firstMillis = 1_000
const longestMillis = Duration.toMillis("5 minutes")

/** The pause when the service does not name one: 1 second, doubled with each attempt to at most 5 minutes. */
const pauseOf = (attempt: number): number => Math.min(firstMillis * 2 ** Math.min(attempt - 1, 20), longestMillis)

/** Returns the pause that an error asks for; null in an object when it names none, null when the same request would fail again. */
const transientOf = (error: unknown): { readonly retryAfterMillis: number | null } | null => {
  if (error instanceof ControlRoomError) return transient(error)
  const layers = layersOf(error)
  const status = first(layers, statusOf)
  if (status === null) return first(layers, isUnanswered) === null ? null : { retryAfterMillis: null }
  if (actedOn(status) === null) return null
  return {
    retryAfterMillis: first(layers, (layer) =>
      isShape(layer.headers) ? afterMillis(layer.headers) : numberOf(layer.retryAfterMillis)
    )
  }
}

/**
 * The `delay` of a step that calls a service over HTTP. Returns the pause before the next attempt, and null for an error after which
 * the same request would fail again.
 *
 * Retried are the statuses 408, 425, 429 and 5xx (except 501 and 505), connections that were refused or broke, and time limits,
 * `StepTimeout` included. The pause is the one that the service asks for by `Retry-After` or `Retry-After-Ms`; else 1 second, doubled
 * with each attempt to at most 5 minutes.
 *
 * It reads `status` or `statusCode`, and `headers` or `retryAfterMillis`, of the error or of its `response`, `reason`, `data` or
 * `cause`. So it knows the errors of `HttpClient` and of the control room, a `Response` that was thrown, and classes of your own
 * with these fields. The steps of `defineStep` have the exception as `cause`.
 *
 * ```ts
 * import * as Retry from "@signalbox/flows/Retry"
 * import { defineStep } from "@signalbox/flows/Promises"
 * import * as Schema from "effect/Schema"
 *
 * export const charge = defineStep({
 *   name: "charge",
 *   input: Schema.Struct({ customer: Schema.String, cents: Schema.Finite }),
 *   output: Schema.Struct({ receipt: Schema.String }),
 *   retry: { attempts: 20, delay: Retry.http, jitter: 0.5, within: "1 day" },
 *   run: async (input, { idempotencyKey, signal }) => {
 *     const response = await fetch("https://payments.example/charges", {
 *       method: "POST",
 *       body: JSON.stringify(input),
 *       headers: { "idempotency-key": idempotencyKey },
 *       signal
 *     })
 *     if (!response.ok) throw response
 *     return { receipt: await response.text() }
 *   }
 * })
 * ```
 */
export const http = (error: unknown, attempt: number): Duration.Duration | null => {
  const found = transientOf(error)
  return found === null ? null : Duration.millis(found.retryAfterMillis ?? pauseOf(attempt))
}
