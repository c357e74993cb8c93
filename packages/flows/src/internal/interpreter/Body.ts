/**
 * The body of a flow as the interpreter runs it: JSON in, JSON out.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { ExecutionId } from "../model/Identity.ts"
import type { Flow } from "../body/FlowType.ts"
import type { Body } from "./Contract.ts"
import { inSpan, reveal } from "../body/Position.ts"
import { checkError, type Codec, readRecorded, record, recordResult } from "../model/Values.ts"

/** Returns the body of a flow. With a span, it is that of the period in memory; a plain run has a separate one. */
export const bodyOf = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  context: Context.Context<R>
) => {
  const what = `the flow ${flow.name}`
  const says = new Set(flow.states.map(({ name }) => name))
  return (
    execution: { readonly id: string; readonly input: Schema.Json },
    span: Tracer.AnySpan | null = null
  ): Body => {
    const services = span === null ? context : Context.add(context, Tracer.ParentSpan, span)
    const run = Effect.gen(function* () {
      const input = yield* readRecorded(execution.id, flow.input, execution.input, `the input of ${what}`)
      const value = yield* Effect.suspend(() => reveal(flow.body(input))).pipe(
        Effect.tapError((error) => checkError(flow.error, error, what))
      )
      return (yield* recordResult(flow.success, value, `the result of ${what}`)).json
    })
    const attributes = { "flow.version": flow.version, "flow.execution_id": execution.id }
    return {
      // The position of a branch is in the context of its fiber, so the services are merged into that.
      run: Effect.updateContext(
        span === null ? inSpan(`flow ${flow.name}`, attributes, run) : run,
        (inner: Context.Context<never>) => Context.merge(Context.add(services, ExecutionId, execution.id), inner)
      ),
      says,
      encodeError: (error) => Effect.map(record(flow.error, error, `the error of ${what}`), ({ json }) => json),
      context: services
    }
  }
}
