/**
 * What a task may fail its item with, and what it gets when it asks for a file that the item lacks.
 */
import * as Schema from "effect/Schema"

/** The data of the item are bad or missing: it fails with type BUSINESS and is never tried again by itself. */
export class BusinessFailure extends Schema.TaggedError<BusinessFailure>()("BusinessFailure", {
  code: Schema.String,
  message: Schema.String
}) {}

/** The work went wrong although the data may be good: the item fails with type APPLICATION and may be tried again. */
export class ApplicationFailure extends Schema.TaggedError<ApplicationFailure>()("ApplicationFailure", {
  code: Schema.String,
  message: Schema.String
}) {}

/** The work item has no file of this name; the message lists those that it has. */
export class FileMissing extends Schema.TaggedError<FileMissing>()("FileMissing", {
  file: Schema.String,
  message: Schema.String
}) {}
