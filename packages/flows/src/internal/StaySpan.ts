/**
 * The spans of executions.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { Execution } from "./Journal.ts"

/**
 * A trace for each execution, whatever process runs it: its id is that of the execution. Null for one whose id is none.
 */
const traceOf = (id: string): Tracer.ExternalSpan | null => {
  const traceId = id.replaceAll("-", "")
  return /^[\da-f]{32}$/.test(traceId) ? Tracer.externalSpan({ traceId, spanId: traceId.slice(0, 16) }) : null
}

/** A span around one stay of an execution in memory, linked to that of who submitted it. */
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
