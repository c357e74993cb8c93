/**
 * The events of a flow, as data. They contain names, paths, counts and times, the result of the whole flow, and the tag and message
 * of a failure, but no inputs and no results of steps.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * Why a step or a flow failed. `failed`: with an error of its error schema; `died`: with a defect, whose details are only in the
 * cause; `interrupted`: by something else, such as the failure of another branch.
 */
export const Failure = Schema.Struct({
  kind: Schema.Literals(["failed", "died", "interrupted"]),
  tag: Schema.NullOr(Schema.String),
  message: Schema.String,
  /** Only in the record of a durable execution. */
  stack: Schema.optionalKey(Schema.String)
})
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

const flowFields = {
  executionId: Schema.String,
  flow: Schema.String,
  /** Milliseconds since 1970. */
  at: Schema.Finite
}

export const FlowStarted = Schema.TaggedStruct("FlowStarted", { ...flowFields, version: Schema.Finite })
/** `result` is the result of the flow as JSON. */
export const FlowCompleted = Schema.TaggedStruct("FlowCompleted", { ...flowFields, result: Schema.Json })
export const FlowFailed = Schema.TaggedStruct("FlowFailed", { ...flowFields, failure: Failure })

const stepFields = {
  executionId: Schema.String,
  /** The path of the step, such as `file[a.csv]/submit`: unique in an execution. */
  path: Schema.String,
  /** Counts from 1. */
  attempt: Schema.Finite,
  /** Milliseconds since 1970. */
  at: Schema.Finite
}

/** An attempt of a step begins. Sleeps and sub-flows count as steps. */
export const StepStarted = Schema.TaggedStruct("StepStarted", stepFields)
export const StepSucceeded = Schema.TaggedStruct("StepSucceeded", stepFields)
/** An attempt failed; the next one begins in `delayMillis`. */
export const StepRetrying = Schema.TaggedStruct("StepRetrying", {
  ...stepFields,
  failure: Failure,
  delayMillis: Schema.Finite
})
/** The step failed and is not retried. */
export const StepFailed = Schema.TaggedStruct("StepFailed", { ...stepFields, failure: Failure })
/** A step reports its progress, with `Flow.progress`. */
export const StepProgress = Schema.TaggedStruct("StepProgress", {
  ...stepFields,
  done: Schema.Finite,
  /** Null when it is not known. */
  total: Schema.NullOr(Schema.Finite),
  message: Schema.NullOr(Schema.String)
})

/** Any event; a schema, so that events can be sent and stored. */
export const FlowEvent = Schema.Union([
  FlowStarted,
  FlowCompleted,
  FlowFailed,
  StepStarted,
  StepSucceeded,
  StepRetrying,
  StepFailed,
  StepProgress
])
export type FlowEvent = typeof FlowEvent.Type

/** Receives the events of the flows that run under it. The flow waits for `publish`, so it should be quick. */
export interface FlowEvents {
  readonly publish: (event: FlowEvent) => Effect.Effect<void>
}

/**
 * The current listener; by default events are dropped.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { FlowEvents } from "@signalbox/flows/FlowEvents"
 *
 * export const logged = Effect.provideService(FlowEvents, {
 *   publish: (event) =>
 *     Effect.logInfo(event._tag, "path" in event ? event.path : event.flow)
 * })
 * ```
 */
export const FlowEvents = Context.Reference<FlowEvents>("@signalbox/flows/FlowEvents", {
  defaultValue: () => ({ publish: () => Effect.void })
})
