/**
 * The events of a flow.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { FlowDefect } from "../../FlowDefect.ts"
import type { Failure, FlowEvent, FlowEvents } from "../../FlowEvents.ts"
import { FlowChanged } from "../../FlowErrors.ts"

/** Converts a cause for an event. Only our own defects are quoted: others may contain anything. */
export const failureOf = (cause: Cause.Cause<unknown>): Failure => {
  if (Cause.hasInterruptsOnly(cause)) return { kind: "interrupted", tag: null, message: "interrupted" }
  const error = Cause.squash(cause)
  const kind = Cause.hasFails(cause) ? "failed" : "died"
  const named = Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) ? error._tag : undefined
  const tag = named ?? (error instanceof Error ? error.name : null)
  const quotable = kind === "failed" || error instanceof FlowDefect || error instanceof FlowChanged
  const message = quotable && error instanceof Error ? error.message.slice(0, 500) : ""
  return { kind, tag, message: message === "" ? (tag ?? kind) : message }
}

/** Converts a cause for the record, which only operators see: with the message and the stack of a defect. */
export const detailOf = (cause: Cause.Cause<unknown>): Failure => {
  const failure = failureOf(cause)
  const error = Cause.squash(cause)
  if (failure.kind === "interrupted") return failure
  if (typeof error === "string" && error !== "") return { ...failure, message: error.slice(0, 2_000) }
  if (!(error instanceof Error)) return failure
  const message = error.message === "" ? failure.message : error.message.slice(0, 2_000)
  return { ...failure, message, stack: (error.stack ?? "").slice(0, 8_000) }
}

/** Publishes an event with the current time. */
export const publishTo = (events: FlowEvents) => (event: (now: number) => FlowEvent) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => events.publish(event(now)))
