import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

/** The content of a task package cannot be read, or the package takes it from elsewhere. Nothing was uploaded for it. */
export class PackageError extends TaggedError<PackageError>()("PackageError", {
  package: Schema.String,
  message: Schema.String
}) {}
