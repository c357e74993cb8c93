/** Why a zip is refused as a task package. */
import * as Schema from "effect/Schema"

/**
 * The zip is damaged, ambiguous or unsafe. The message names the entry, if it is about one, and the remedy.
 *
 * ```ts
 * import * as TaskPackage from "@signalbox/task-package/TaskPackage"
 * import * as Effect from "effect/Effect"
 *
 * export const logged = TaskPackage.inspect("invoices.zip").pipe(
 *   Effect.catchTag("InvalidZip", ({ message }) => Effect.logError(message))
 * )
 * ```
 */
export class InvalidZip extends Schema.TaggedError<InvalidZip>()("InvalidZip", { message: Schema.String }) {}
