/**
 * The progress of a schedule of the first design. Its rows had no definition, so this is stored separately until a program defines a
 * schedule of this name.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Journal } from "../Journal.ts"
import { Started } from "./Row.ts"

export const Progress = Schema.Struct({
  /** Occurrences up to here have started, or never will. */
  upTo: Schema.Finite,
  /** Executions that had started and may not have ended. */
  running: Schema.Array(Started)
})
export interface Progress extends Schema.Schema.Type<typeof Progress> {}

const decode = Schema.decodeUnknownEffect(Progress)

/** The name of the value in the journal; its prefix differs from that of schedules. */
export const nameOf = (schedule: string): string => `first design: schedule ${schedule}`

/** Returns the progress, or null. */
export const read = (journal: Journal["Service"], schedule: string): Effect.Effect<Progress | null> =>
  Effect.flatMap(journal.read(nameOf(schedule)), (json) =>
    json === null ? Effect.succeed(null) : Effect.orDie(decode(json))
  )

/** Deletes the progress when the schedule has taken it over. */
export const forget = (journal: Journal["Service"], schedule: string, { running, upTo }: Progress) =>
  journal.swap(nameOf(schedule), { upTo, running: running.map((one) => ({ ...one })) }, null)
