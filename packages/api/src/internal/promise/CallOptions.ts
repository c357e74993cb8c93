/** Options of one call, which every function with promises takes after its own parameters. */
import { check, OptionError, type Rules, text, time } from "@signalbox/transport/OptionError"
import { checkPolicy } from "@signalbox/transport/Policy"
import type * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type { Policy } from "../../Policy.ts"
import { ownHeaders } from "../calls/Connection.ts"
import { InvalidRequest } from "./Errors.ts"
import { type Call, failure } from "./Failure.ts"

/**
 * How one call is made: the last argument of every function, after all of its own. `room.with(options)` is for several calls, and for
 * functions whose own parameters are left out.
 */
export interface CallOptions {
  /** Aborts the call and its requests; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** How long the call may take with all its requests and pauses, in milliseconds or as `"5 seconds"`; then it rejects with `Timeout`. */
  readonly timeout?: Duration.Input | undefined
  /** Headers of its requests to the service, besides those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Of its first request that creates something; further ones have `/2`, `/3` and so on after it. */
  readonly idempotencyKey?: string | undefined
  /** Overrides of the client's policy of retries and time limits. */
  readonly policy?: Partial<Policy> | undefined
}

const rules: Rules<CallOptions> = {
  signal: (value) => (value instanceof AbortSignal ? null : "expected an AbortSignal"),
  timeout: time,
  idempotencyKey: text
}

const names = ["signal", "timeout", "headers", "idempotencyKey", "policy"]

/** Throws an `OptionError` for a header that the client sets itself, or that is no text. */
export const checkHeaders = (of: string, headers: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(headers)) {
    const option = `headers.${name}`
    if (ownHeaders.has(name.toLowerCase()))
      throw new OptionError(option, `${of}: ${option}: the client sets this header`)
    if (typeof value !== "string" || !/^[\t\x20-\x7e]*$/.test(value))
      throw new OptionError(option, `${of}: ${option}: expected a text that a header can carry`)
  }
}

/** Checks what was given as the options of a call. */
export const checked = (given: unknown, call: Call): CallOptions => {
  if (given === undefined) return {}
  const of = call.operation
  const expected = "options of a call, with signal, timeout, headers, idempotencyKey or policy"
  if (!Predicate.isObject(given)) throw failure(InvalidRequest, `the last argument: expected ${expected}`, call)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw failure(InvalidRequest, `${unknown} is not one of the ${expected}`, call)
  // Its members are checked now.
  const options = given as CallOptions
  check(of, options, rules)
  checkHeaders(of, options.headers ?? {})
  checkPolicy(of, options.policy ?? {}, "policy.")
  return options
}

/** Options on top of others. */
export const merged = (outer: CallOptions, inner: CallOptions): CallOptions => {
  const signals = [outer.signal, inner.signal].filter((signal) => signal !== undefined)
  return {
    signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
    timeout: inner.timeout ?? outer.timeout,
    headers: outer.headers === undefined ? inner.headers : { ...outer.headers, ...inner.headers },
    idempotencyKey: inner.idempotencyKey ?? outer.idempotencyKey,
    policy: outer.policy === undefined ? inner.policy : { ...outer.policy, ...inner.policy }
  }
}
