/** Who is told of the events of a call: listeners, the log at debug level, and the current span. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as LogLevel from "effect/LogLevel"
import * as Tracer from "effect/Tracer"
import { type Audience, ClientEvents, type Listeners, silent } from "../../Events.ts"
import { type Events, lineOf } from "./Words.ts"

/** Tells an event, by the name of its listener. */
export type Tell = <K extends keyof Events>(name: K, event: Events[K]) => Effect.Effect<void>

const spanEvents: Readonly<Record<keyof Events, string>> = {
  onRequest: "client.request",
  onResponse: "client.response",
  onRetry: "client.retry",
  onPause: "client.pause"
}

/** Listeners, as functions of their events. */
type ByName = { readonly [K in keyof Events]?: ((event: Events[K]) => unknown) | undefined }

/** A listener may be an async function, whose rejection nobody else would handle. */
const call = <K extends keyof Events>(
  listeners: ByName,
  name: K,
  event: Events[K],
  failed: (cause: unknown) => void
) => {
  try {
    const returned = listeners[name]?.(event)
    if (returned instanceof Promise) returned.catch(failed)
  } catch (cause) {
    failed(cause)
  }
}

/** The span that somebody sees: the native tracer exports none. */
const seenSpan = ({ span, tracer }: Fiber.Fiber.Cache): Tracer.Span | undefined =>
  tracer === undefined || tracer === Tracer.nativeTracer || span?._tag !== "Span" ? undefined : span

/** Null: nobody is told, and no event needs to be made. */
export const telling = (audience: Audience | undefined): Effect.Effect<Tell | null> =>
  Effect.withFiberSucceed((fiber) => {
    const local = fiber.getRef(ClientEvents)
    const isLogged = LogLevel.isLessThanOrEqualTo(fiber.cache.minimumLogLevel, "Debug")
    const span = seenSpan(fiber.cache)
    const ofConnection = audience?.listeners ?? []
    if (local === silent && ofConnection.length === 0 && !isLogged && span === undefined) return null

    const listeners: ReadonlyArray<Listeners> = local === silent ? ofConnection : [...ofConnection, local]
    const heard = audience ?? { hasThrown: false }
    const context = fiber.context
    const warn = (cause: unknown) => {
      if (heard.hasThrown) return
      heard.hasThrown = true
      const warning = Effect.logWarning("a listener to the events of a client failed; the calls go on", cause)
      Effect.runForkWith(context)(warning)
    }

    return Effect.fnUntraced(function* (name, event) {
      for (const one of listeners) call(one, name, event, warn)
      // Its members are texts, numbers and nulls.
      if (span !== undefined) span.event(spanEvents[name], yield* Clock.currentTimeNanos, { ...event })
      if (isLogged) yield* Effect.annotateLogs(Effect.logDebug(lineOf(name, event)), { ...event })
    })
  })
