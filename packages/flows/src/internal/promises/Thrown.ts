/**
 * What async functions throw, as errors that can be recorded.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

/**
 * The failure of a step or a flow of promises. It is recorded, so it has only the name or tag of the exception, and its message.
 * Of a `Response` that was thrown it has the status, in `data`. Throw one yourself to pass other `data`, without secrets. In the `retry` of the step its `cause` is the exception
 * itself, which is not recorded.
 */
export class FlowError extends TaggedError<FlowError>()("FlowError", {
  /** The `_tag` or the `name` of the exception. */
  type: Schema.String,
  message: Schema.String,
  data: Schema.NullOr(Schema.Json)
}) {}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** Returns the error that is recorded of what a step or a flow threw. */
export const errorOf = (thrown: unknown): FlowError => {
  if (thrown instanceof FlowError) return thrown
  if (thrown instanceof Response) {
    const { status, statusText } = thrown
    return new FlowError({
      type: "Response",
      message: `the service responded with ${`${status} ${statusText}`.trim()}`,
      data: { status }
    })
  }
  if (!(thrown instanceof Error)) return new FlowError({ type: "Error", message: String(thrown), data: null })
  const tag = "_tag" in thrown ? text(thrown._tag) : undefined
  return new FlowError({ type: tag ?? thrown.name, message: thrown.message, data: null })
}

/** The error of an attempt, with what was thrown, for the decision about a retry. */
export const failureOf = (thrown: unknown): FlowError => {
  const error = errorOf(thrown)
  // Not enumerable, so that it is neither recorded nor compared.
  return error === thrown ? error : Object.defineProperty(error, "cause", { value: thrown })
}
