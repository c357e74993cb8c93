/**
 * Why the environment of a task package cannot be read.
 */
import * as Schema from "effect/Schema"

/**
 * A file that describes an environment cannot be used. The message begins with the file and the line, if it is about one,
 * and names the remedy.
 *
 * ```ts
 * import { InvalidRecipe } from "@signalbox/task-package/InvalidRecipe"
 *
 * export const example = new InvalidRecipe({
 *   file: "conda.yaml",
 *   line: 4,
 *   message: "conda.yaml:4: expected a text"
 * })
 * ```
 */
export class InvalidRecipe extends Schema.TaggedError<InvalidRecipe>()("InvalidRecipe", {
  file: Schema.String,
  /** Counted from 1; null when it is about the whole file. */
  line: Schema.NullOr(Schema.Int),
  message: Schema.String
}) {}
