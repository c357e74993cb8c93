/**
 * Why a zip is not taken as a task package.
 */
import * as Schema from "effect/Schema"

/** The zip is damaged, ambiguous or unsafe. The message names the entry, if it is about one, and the remedy. */
export class InvalidZip extends Schema.TaggedError<InvalidZip>()("InvalidZip", { message: Schema.String }) {}
