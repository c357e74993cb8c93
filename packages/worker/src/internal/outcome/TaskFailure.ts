/** The failures that a task declares for its item, and the failure for a file that the item lacks. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

/** The data of the item is invalid or missing: it fails with type BUSINESS and is never retried automatically. */
export class BusinessFailure extends TaggedError<BusinessFailure>()("BusinessFailure", {
  code: Schema.String,
  message: Schema.String
}) {}

/** Processing failed although the data may be valid: the item fails with type APPLICATION and may be retried. */
export class ApplicationFailure extends TaggedError<ApplicationFailure>()("ApplicationFailure", {
  code: Schema.String,
  message: Schema.String
}) {}

/** An output that the schema of the task refuses: an `ApplicationFailure` whose item passes no outputs on. */
export class InvalidOutput extends ApplicationFailure {
  readonly isInvalidOutput = true
}

// By their shape: the `signalbox` command has this module in its bundle, and the tasks that it loads import it from node_modules.
const has = (error: unknown, tag: string): error is { readonly code: string; readonly message: string } =>
  error instanceof Error && "_tag" in error && error._tag === tag && "code" in error && typeof error.code === "string"

export const isBusinessFailure = (error: unknown) => has(error, "BusinessFailure")
export const isApplicationFailure = (error: unknown) => has(error, "ApplicationFailure")
export const isInvalidOutput = (error: unknown) => isApplicationFailure(error) && "isInvalidOutput" in error

/** The work item has no file of this name; the message lists its files. */
export class FileMissing extends TaggedError<FileMissing>()("FileMissing", {
  file: Schema.String,
  message: Schema.String
}) {}
