/**
 * What every journal does, sentence by sentence of its contract.
 */
import type { Place } from "./journal/Bench.ts"
import { commands } from "./journal/Commands.ts"
import { executions } from "./journal/Executions.ts"
import { forks } from "./journal/Forks.ts"
import { limits } from "./journal/Limits.ts"
import { messages } from "./journal/Messages.ts"
import { notifications } from "./journal/Notifications.ts"
import { ownership } from "./journal/Ownership.ts"
import { kept } from "./journal/Values.ts"
import { prepared } from "./journal/Prepared.ts"
import { sayings } from "./journal/Said.ts"
import { versions } from "./journal/Versions.ts"
import { debounces, many, when } from "./journal/When.ts"
import { writes } from "./journal/Writes.ts"

const parts = [
  executions,
  writes,
  messages,
  sayings,
  commands,
  ownership,
  limits,
  when,
  many,
  debounces,
  kept,
  versions,
  forks,
  prepared
]

export const journalSuite = (place: Place): void => {
  for (const part of parts) part(place)
  // Repeated calls notify again.
  if (place.losesAnswers !== true) notifications(place)
}
