/**
 * Records everything a service logs and traces, as text, so that a test can look for what must not be there.
 */
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"

/** The text of a value however deep it goes; what was named before is not named again. */
const textOf = (value: unknown): string => {
  const seen = new Set<unknown>()
  return (
    JSON.stringify(value, (_key, part: unknown) => {
      if (typeof part === "bigint") return String(part)
      if (part instanceof Map) return [...part.entries()]
      if (part instanceof Error) return `${part.name}: ${part.message}`
      if (typeof part !== "object" || part === null) return part
      if (seen.has(part)) return "seen"
      seen.add(part)
      return part
    }) ?? ""
  )
}

/** What was said so far, and the layer that records it: provide it below the service. */
export const makeRecording = () => {
  const said: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        const failure = Exit.isFailure(exit) ? String(exit.cause) : ""
        said.push(textOf([span.name, span.attributes, span.events, failure]))
        end(time, exit)
      }
      return span
    }
  })
  const logger = Logger.make(({ cause, fiber, message }) => {
    said.push(textOf([message, fiber.getRef(References.CurrentLogAnnotations), String(cause)]))
  })
  const layer = Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, "All"),
    Layer.succeed(Tracer.Tracer, tracer)
  )
  return { said, layer }
}
