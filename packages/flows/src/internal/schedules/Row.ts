/**
 * The record of a schedule: one value of the journal, which every change replaces as a whole. Times are milliseconds since 1970.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Definition } from "@signalbox/schedule/Definition"
import { skipReasons, State } from "@signalbox/schedule/Due"
import { FlowDefect } from "../../FlowDefect.ts"
import type { Journal } from "../journal/Journal.ts"
import { canonical } from "../model/Values.ts"

/** `changed`: the definition was changed before it began. The others are those of `@signalbox/schedule`. */
export const reasons = [...skipReasons, "changed"] as const

/** The outcome of an occurrence. */
export const Outcome = Schema.Struct({
  at: Schema.Finite,
  outcome: Schema.Literals(["started", "skipped"]),
  /** Null when it started, and for a span of others too many to be listed. */
  reason: Schema.NullOr(Schema.Literals(reasons)),
  /** The reason as text; null when it started normally. */
  why: Schema.NullOr(Schema.String),
  /** The id of the execution. */
  execution: Schema.NullOr(Schema.String)
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

export const Started = Schema.Struct({ at: Schema.Finite, execution: Schema.String })
export interface Started extends Schema.Schema.Type<typeof Started> {}

export const Row = Schema.Struct({
  format: Schema.Literal(1),
  flow: Schema.String,
  version: Schema.Finite,
  /** The digest of the definition, the flow and its version. Processes with another one do not carry the schedule out. */
  digest: Schema.String,
  definition: Definition,
  /** When this definition was set. */
  setAt: Schema.Finite,
  state: State,
  /** When the next occurrence starts; null: none is left. */
  wakeAt: Schema.NullOr(Schema.Finite),
  /** Occurrences that are to start. Each is started under its key, then removed: a process may die in between. */
  starting: Schema.Array(Schema.Finite),
  /** Whether running executions are cancelled before those of `starting` start: still to be cancelled, or awaited after that. */
  stop: Schema.NullOr(Schema.Literals(["cancel", "await"])),
  /** Past occurrences that start when no execution runs. */
  backfill: Schema.Array(Schema.Finite),
  /** Executions that had not ended at the last poll. */
  running: Schema.Array(Started),
  /** Why an occurrence cannot start. */
  problem: Schema.NullOr(Schema.Struct({ since: Schema.Finite, message: Schema.String })),
  /** The newest last. */
  recent: Schema.Array(Outcome)
})
export interface Row extends Schema.Schema.Type<typeof Row> {}

const mostRecent = 50
/** With `overlap: "allow"` the ends of executions are not polled, so their list is bounded. */
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

/** Whether two rows have the same JSON. */
export const equal = (one: Row, other: Row): boolean => canonical(encode(one)) === canonical(encode(other))

/** Returns the names of all schedules. */
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

/** Returns the row of a schedule, or null. */
export const read = (journal: Journal["Service"], schedule: string): Effect.Effect<Row | null> =>
  Effect.flatMap(journal.read(nameOf(schedule)), (json) => decoded(schedule, json))

/**
 * Changes the row of a schedule, creates it, or deletes it with null. `change` runs again when another process has changed the row in
 * between; nothing is written when it returns its argument. Returns the new row, and the second result of `change`.
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
