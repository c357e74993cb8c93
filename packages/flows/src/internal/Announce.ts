/**
 * How what happens in a flow becomes events.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { FlowDefect } from "../FlowDefect.ts"
import type { Failure, FlowEvent, FlowEvents } from "../FlowEvents.ts"
import { FlowChanged } from "../FlowErrors.ts"

/** A cause in an event. Defects are not quoted, except ours: they may hold anything. */
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

/** Publishes an event that is made for the time at hand. */
export const publishTo = (events: FlowEvents) => (event: (now: number) => FlowEvent) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => events.publish(event(now)))
