/** Classifies failures: a lost lease, an unavailable service, and the exception of a failed item. */
import { type CallError, transient } from "@signalbox/api/ControlRoomError"
import type { Release } from "@signalbox/api/robot/StepRunSession"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { LeaseLost } from "./LeaseLost.ts"
import { isApplicationFailure, isBusinessFailure } from "./TaskFailure.ts"

const tagged = (error: unknown): { readonly _tag: string } | undefined =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" ? { _tag: error._tag } : undefined

const isTag = (error: unknown, tag: string): error is { readonly _tag: string } => tagged(error)?._tag === tag

/** Whether an error, from our own calls or through a task, means that the lease is lost. */
export const isLeaseLost = (error: unknown): boolean => {
  const reason = isTag(error, "ControlRoomError") && "reason" in error ? error.reason : error
  return (isTag(reason, "Conflict") || isTag(reason, "Unexpected")) && "code" in reason && reason.code === "LEASE_LOST"
}

/** Whether the service is only unavailable for a time, so that the same call may succeed later. */
export const isUnavailable = (error: CallError): boolean => transient(error) !== null

/** Whether the service does not, or no longer, know the worker. */
export const isUnknownWorker = (error: CallError): boolean =>
  error._tag === "ControlRoomError" && (error.reason._tag === "Unauthorized" || error.reason._tag === "Forbidden")

/** Pauses of 0.25 s, doubled up to 5 s. */
export const backoff = Schedule.jittered(
  Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("5 seconds")])
)

/** Retries a call, which must be safe to repeat, until the service is available. A lost lease becomes `LeaseLost`. */
export const retryUntilAvailable = <A, E extends CallError, R>(
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, E | LeaseLost, R> =>
  call.pipe(
    Effect.retry({ while: isUnavailable, schedule: backoff }),
    Effect.mapError((error) => (isLeaseLost(error) ? new LeaseLost() : error))
  )

const maxMessageLength = 500

/** One line of text about any thrown value. */
export const messageOf = (error: unknown): string => {
  const text = error instanceof Error && error.message !== "" ? error.message : (tagged(error)?._tag ?? String(error))
  const line = text.replace(/\s*[\r\n]+\s*/g, " ").trim()
  return line.length <= maxMessageLength ? line : `${line.slice(0, maxMessageLength - 1)}…`
}

/** The exception of a failed item. */
export type ItemException = Extract<Release, { readonly state: "FAILED" }>["exception"]

export const exceptionOf = (error: unknown): ItemException => {
  if (isBusinessFailure(error)) return { type: "BUSINESS", code: error.code, message: error.message }
  if (isApplicationFailure(error)) return { type: "APPLICATION", code: error.code, message: error.message }
  return { type: "APPLICATION", code: tagged(error)?._tag ?? "UNEXPECTED", message: messageOf(error) }
}

/** The place in the code that an error came from, without its message, which may contain data of the item. */
export const placeOf = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null
  const stack = error.stack ?? ""
  const trace = error.message === "" ? stack : stack.slice(stack.lastIndexOf(error.message) + error.message.length)
  return /\n\s+at (.*:\d+:\d+\)?)/.exec(trace)?.[1] ?? null
}
