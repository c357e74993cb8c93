/** Which spans there are: those of a request, of what it starts, and of background tasks. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as HttpTraceContext from "effect/http/HttpTraceContext"

/** Whether this process collects spans. */
export const enabled: Effect.Effect<boolean> = References.TracerEnabled

/** Spans of polls have the level Debug: exporters can leave them out, as most find nothing. */
export const polling = Effect.provideService(References.CurrentTraceLevel, "Debug")

/** What a poll has found to do is as important as a request. */
export const working = Effect.provideService(References.CurrentTraceLevel, "Info")

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
