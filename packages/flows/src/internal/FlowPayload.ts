/**
 * What engines are told of an execution and of a step, besides the code.
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

/** The payload of the workflow that a flow is. */
export const FlowPayload = Schema.Struct({
  flow: Schema.String,
  version: Schema.Finite,
  /** What the flow's `idempotencyKey` gives. */
  key: Schema.String,
  /** Counts from 1; a retry from a step is the next. */
  generation: Schema.Finite,
  /** The input by the flow's schema. */
  input: Schema.Json,
  /** The execution whose steps, up to `before`, are taken as they were. */
  resumes: Schema.NullOr(Schema.Struct({ execution: Schema.String, before: Schema.String }))
})
export interface FlowPayload extends Schema.Schema.Type<typeof FlowPayload> {}

export const stepKinds = ["step", "flow", "sleep", "signal", "wait", "compensation"] as const
export type StepKind = (typeof stepKinds)[number]

/** What a step is, for the engine that records it; an annotation of its activity. */
export interface StepInfo {
  readonly name: string
  readonly kind: StepKind
  /** The input by the step's schema, null when it has none. */
  readonly input: Schema.Json
}

export const StepInfo = Context.Reference<StepInfo | null>("@signalbox/flows/StepInfo", { defaultValue: () => null })

/** The tag of the workflow that a version of a flow is. */
export const workflowName = ({ flow, version }: Pick<FlowPayload, "flow" | "version">): string => `${flow}@${version}`

/** That of an execution. */
export const payloadOf = ({ flow, generation, input, key, resumes, version }: FlowPayload): FlowPayload => ({
  flow,
  version,
  key,
  generation,
  input,
  resumes
})
