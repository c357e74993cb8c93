/**
 * The spans of executions.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { Execution } from "../model/Execution.ts"

/**
 * Returns the trace of an execution, whose id is that of the execution in all processes; null if that is no trace id.
 */
const traceOf = (id: string): Tracer.ExternalSpan | null => {
  const traceId = id.replaceAll("-", "")
  return /^[\da-f]{32}$/.test(traceId) ? Tracer.externalSpan({ traceId, spanId: traceId.slice(0, 16) }) : null
}

/** Puts a span around one period of an execution in memory, linked to the span that submitted it. */
export const inStay = <A, E, R>(
  { flow, id, version }: Execution,
  isNew: boolean,
  effect: (span: Tracer.Span) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.serviceOption(Tracer.ParentSpan), (submitter) => {
    const parent = traceOf(id)
    return Effect.useSpan(
      `flow ${flow}`,
      {
        ...(parent === null ? { root: true } : { parent }),
        attributes: { "flow.version": version, "flow.execution_id": id },
        links: isNew && Option.isSome(submitter) ? [{ span: submitter.value, attributes: {} }] : []
      },
      effect
    )
  })
