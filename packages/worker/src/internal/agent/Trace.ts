/** The span of a step run: part of the trace of its run, and the parent of what its task does. */
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import type { Ending } from "../outcome/StepRunError.ts"

const parentOf = ({ traceparent }: Lease): Tracer.SpanOptions =>
  traceparent === undefined
    ? { root: true }
    : Option.match(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent })), {
        onNone: () => ({ root: true }),
        onSome: (parent) => ({ parent })
      })

/** Puts the span around a step run. */
export const inSpan = <E, R>(lease: Lease, effect: Effect.Effect<Ending, E, R>): Effect.Effect<Ending, E, R> => {
  const attributes = {
    "signalbox.step_run_id": lease.step_run_id,
    "signalbox.process_run_id": lease.process_run_id,
    "signalbox.task": lease.task.name
  }
  return Effect.useSpan("step run", { ...parentOf(lease), kind: "consumer", attributes }, (span) =>
    effect.pipe(
      // `Effect.withParentSpan` changes the requirement, so that no generic `R` fits.
      Effect.updateContext((context: Context.Context<R>) => Context.add(context, Tracer.ParentSpan, span)),
      Effect.tap((ending) =>
        Effect.sync(() => {
          if (ending !== null) span.attribute("error.type", ending === "lost" ? "LEASE_LOST" : ending.code)
        })
      )
    )
  )
}

/**
 * The variables by which a robot continues the trace: the span of its step run, or of the service where this process
 * collects no spans. None when the run belongs to no trace.
 */
export const variables = ({ traceparent }: Lease): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.gen(function* () {
    const span = yield* Effect.serviceOption(Tracer.ParentSpan)
    const isCollected = (yield* Tracer.Tracer) !== Tracer.nativeTracer
    const own =
      isCollected && span._tag === "Some" && span.value._tag === "Span" && span.value.sampled
        ? HttpTraceContext.toHeaders(span.value)["traceparent"]
        : undefined
    const given = own ?? traceparent
    return given === undefined ? {} : { TRACEPARENT: given }
  })
