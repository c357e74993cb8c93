import * as Effect from "effect/Effect"
import { Level } from "../../RoutineLog.ts"

/** Logs that something goes as it should. */
export const log = (message: string): Effect.Effect<void> =>
  Effect.flatMap(Level, (level) => Effect.logWithLevel(level)(message))
