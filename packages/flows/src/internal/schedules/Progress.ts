/**
 * How far the first design had carried a schedule out. Its rows held no definition, so this waits beside the schedules until a
 * program defines one of this name.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Journal } from "../Journal.ts"
import { Started } from "./Row.ts"

export const Progress = Schema.Struct({
  /** Occurrences up to here have begun, or never will. */
  upTo: Schema.Finite,
  /** What had begun and may not have ended. */
  running: Schema.Array(Started)
})
export interface Progress extends Schema.Schema.Type<typeof Progress> {}

const decode = Schema.decodeUnknownEffect(Progress)

/** The name of the value in the journal; does not begin as those of schedules do. */
export const nameOf = (schedule: string): string => `first design: schedule ${schedule}`

/** Null when there is none. */
export const read = (journal: Journal["Service"], schedule: string): Effect.Effect<Progress | null> =>
  Effect.flatMap(journal.read(nameOf(schedule)), (json) =>
    json === null ? Effect.succeed(null) : Effect.orDie(decode(json))
  )

/** The schedule has taken it over. */
export const forget = (journal: Journal["Service"], schedule: string, { running, upTo }: Progress) =>
  journal.swap(nameOf(schedule), { upTo, running: running.map((one) => ({ ...one })) }, null)
