/** What new files of this process may be read by. */
import * as Effect from "effect/Effect"

/** What is written until the scope closes, by this process and by tasks that it starts, is for its user alone. */
export const own = Effect.acquireRelease(
  Effect.sync(() => process.umask(0o077)),
  (before) => Effect.sync(() => process.umask(before))
)
