/**
 * What is recorded of a schedule: one value of the journal, which every change replaces as a whole. Times are milliseconds
 * since 1970.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Definition } from "@signalbox/schedule/Definition"
import { skipReasons, State } from "@signalbox/schedule/Due"
import { FlowDefect } from "../../FlowDefect.ts"
import type { Journal } from "../Journal.ts"
import { canonical } from "../Values.ts"

/** `changed`: the definition was changed before it began. The others are those of `@signalbox/schedule`. */
export const reasons = [...skipReasons, "changed"] as const

/** What became of an occurrence. */
export const Outcome = Schema.Struct({
  at: Schema.Finite,
  outcome: Schema.Literals(["started", "skipped"]),
  /** Null when it started, and for a span of others too many to be listed. */
  reason: Schema.NullOr(Schema.Literals(reasons)),
  /** For people; null when there is nothing to say. */
  why: Schema.NullOr(Schema.String),
  /** The id of what was started. */
  execution: Schema.NullOr(Schema.String)
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

export const Started = Schema.Struct({ at: Schema.Finite, execution: Schema.String })
export interface Started extends Schema.Schema.Type<typeof Started> {}

export const Row = Schema.Struct({
  format: Schema.Literal(1),
  flow: Schema.String,
  version: Schema.Finite,
  /** Of the definition, the flow and its version. Processes that want another one leave the schedule alone. */
  digest: Schema.String,
  definition: Definition,
  /** When this definition was set. */
  setAt: Schema.Finite,
  state: State,
  /** When the next occurrence starts; null: none is left. */
  wakeAt: Schema.NullOr(Schema.Finite),
  /** Occurrences that were decided to begin. Each is begun under its key, then taken off: a process may die in between. */
  starting: Schema.Array(Schema.Finite),
  /** What runs is stopped before what is `starting` begins: it is yet to be cancelled, or was and has not ended. */
  stop: Schema.NullOr(Schema.Literals(["cancel", "await"])),
  /** Occurrences of the past that begin when nothing runs. */
  backfill: Schema.Array(Schema.Finite),
  /** Executions that had not ended when they were last looked at. */
  running: Schema.Array(Started),
  /** Why an occurrence cannot begin. */
  problem: Schema.NullOr(Schema.Struct({ since: Schema.Finite, message: Schema.String })),
  /** The newest last. */
  recent: Schema.Array(Outcome)
})
export interface Row extends Schema.Schema.Type<typeof Row> {}

const mostRecent = 50
/** Those of a schedule whose runs may overlap are not looked at, so they are bounded. */
const mostRunning = 100

const codec = Schema.toCodecJson(Row)
const decode = Schema.decodeUnknownEffect(codec)
const encode = Schema.encodeSync(codec)

const prefix = "schedule "
const nameOf = (schedule: string): string => prefix + schedule

const bounded = (row: Row): Row => ({
  ...row,
  recent: row.recent.slice(-mostRecent),
  running: row.running.slice(-mostRunning)
})

/** Whether two rows are recorded as the same. */
export const equal = (one: Row, other: Row): boolean => canonical(encode(one)) === canonical(encode(other))

/** The names of all schedules. */
export const names = (journal: Journal["Service"]) =>
  Effect.map(journal.names(prefix), (all) => all.map((name) => name.slice(prefix.length)))

const decoded = (schedule: string, json: Schema.Json) =>
  json === null
    ? Effect.succeed(null)
    : Effect.catch(decode(json), (error) =>
        Effect.die(
          new FlowDefect({
            message: `the record of the schedule ${schedule} was written by another build and cannot be read: ${error.message}`
          })
        )
      )

/** Null when there is no such schedule. */
export const read = (journal: Journal["Service"], schedule: string): Effect.Effect<Row | null> =>
  Effect.flatMap(journal.read(nameOf(schedule)), (json) => decoded(schedule, json))

/**
 * Changes the row of a schedule, creates it, or deletes it with null. `change` runs again when another process has changed the
 * row meanwhile; nothing is written when it returns what it was given. Returns the row as it is then, and what `change` returned
 * with it.
 */
export const update = Effect.fnUntraced(function* <A, E, R>(
  journal: Journal["Service"],
  schedule: string,
  change: (row: Row | null, now: number) => Effect.Effect<readonly [row: Row | null, value: A], E, R>
) {
  while (true) {
    const json = yield* journal.read(nameOf(schedule))
    const before = yield* decoded(schedule, json)
    const [row, value] = yield* change(before, yield* journal.now)
    if (row === before) return [row, value] as const
    const next = row === null ? null : encode(bounded(row))
    if (canonical(next) === canonical(json)) return [row, value] as const
    if (yield* journal.swap(nameOf(schedule), json, next)) return [row, value] as const
  }
})
