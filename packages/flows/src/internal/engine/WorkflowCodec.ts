/**
 * Payloads and results of workflows as JSON.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Workflow from "effect/workflow/Workflow"
import type { JsonExit } from "../sql/Rows.ts"

export interface WorkflowCodec {
  readonly encodePayload: (payload: unknown) => Effect.Effect<unknown>
  readonly decodePayload: (json: unknown) => Effect.Effect<object>
  /** What does not fit the schemas becomes a defect that says so. */
  readonly encodeExit: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<JsonExit>
  readonly decodeExit: (exit: JsonExit) => Effect.Effect<Exit.Exit<unknown, unknown>>
}

const make = (any: Workflow.Any): WorkflowCodec => {
  // Every workflow is made by `Workflow.make`, which gives it its schemas.
  const workflow = any as Workflow.Any & Workflow.AnyWithProps
  // The services that schemas need are those of the caller, or of the registration: the engine's types leave them out.
  const payload = Schema.toCodecJson(workflow.payloadSchema) as unknown as Schema.Codec<object, unknown>
  const exit = Schema.Exit(
    Schema.toCodecJson(workflow.successSchema),
    Schema.toCodecJson(workflow.errorSchema),
    Schema.Unknown
  ) as unknown as Schema.Codec<Exit.Exit<unknown, unknown>, Exit.Exit<unknown, unknown>>
  const encodePayload = Schema.encodeUnknownEffect(payload)
  const decodePayload = Schema.decodeUnknownEffect(payload)
  const encodeExit = Schema.encodeUnknownEffect(exit)
  const decodeExit = Schema.decodeUnknownEffect(exit)
  const name = workflow._tag
  const wrong = (what: string) => (error: Schema.SchemaError) =>
    Effect.die(new Error(`${what} of the workflow ${name} does not fit its schema: ${error.message}`))
  return {
    encodePayload: (value) => Effect.catch(encodePayload(value), wrong("the payload")),
    decodePayload: (json) => Effect.catch(decodePayload(json), wrong("the recorded payload")),
    encodeExit: (value) =>
      Effect.catchCause(Effect.catch(encodeExit(value), wrong("the result")), (cause) =>
        Effect.succeed(Exit.failCause(cause))
      ),
    decodeExit: (json) => Effect.catch(decodeExit(json), wrong("the recorded result"))
  }
}

export type WorkflowCodecs = (workflow: Workflow.Any) => WorkflowCodec

/** One codec for each workflow. */
export const makeCache = (): WorkflowCodecs => {
  const known = new WeakMap<Workflow.Any, WorkflowCodec>()
  return (workflow) => {
    const there = known.get(workflow)
    if (there !== undefined) return there
    const codec = make(workflow)
    known.set(workflow, codec)
    return codec
  }
}
