/** Whether the spans of requests are of use to anybody. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/** Whether spans are exported, or belong to a trace that began elsewhere: the native tracer exports none. */
export const isTraced: Effect.Effect<boolean> = Effect.withFiberSucceed(({ cache: { span, tracer } }) => {
  if (tracer !== undefined && tracer !== Tracer.nativeTracer) return true
  let outermost = span
  while (outermost?._tag === "Span") outermost = Option.getOrUndefined(outermost.parent)
  return outermost !== undefined
})
