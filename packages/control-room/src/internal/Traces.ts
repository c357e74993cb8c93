/** The trace that a request belongs to, for what it starts: a run and its step runs are part of it. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as HttpTraceContext from "effect/http/HttpTraceContext"

/** Whether this process collects spans. */
export const enabled: Effect.Effect<boolean> = References.TracerEnabled

/** The nearest span that is not one of the database. */
const outside = (span: Tracer.AnySpan): Tracer.AnySpan | null => {
  if (span._tag === "ExternalSpan" || !span.name.startsWith("sql.")) return span
  return Option.match(span.parent, { onNone: () => null, onSome: outside })
}

/** The request or task that runs, as a `traceparent`; null when its span is not collected. */
export const current: Effect.Effect<string | null> = Effect.map(Effect.serviceOption(Tracer.ParentSpan), (found) => {
  const span = Option.isSome(found) ? outside(found.value) : null
  return span?._tag === "Span" && span.sampled ? (HttpTraceContext.toHeaders(span)["traceparent"] ?? null) : null
})
