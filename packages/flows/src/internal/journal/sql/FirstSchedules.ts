/**
 * Converts the progress of schedules of the first design to values of the journal. Its rows have the time up to which each was carried
 * out; its executions had keys of another form.
 */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { iso } from "../../schedules/Decide.ts"
import { nameOf, type Progress } from "../../schedules/Progress.ts"
import { canonical } from "../../Values.ts"
import * as Texts from "./Texts.ts"

interface Begun {
  readonly id: string
  readonly at: string
}

/** The same bound as in the row of a schedule. */
const mostRunning = 100

/** The times of the first design, such as 2026-11-20T06:00:00.000Z. */
const timePattern = "____-__-__T__:__:__.___Z"

const carryOne = Effect.fnUntraced(function* (sql: SqlClient, name: string, scheduledTo: number, now: number) {
  const prefix = `${name} at `
  const length = [...prefix].length
  const time = sql`substr(flow_key, ${sql.literal(`${length + 1}`)})`
  const ofSchedule = sql`version IS NOT NULL AND substr(flow_key, 1, ${sql.literal(`${length}`)}) = ${prefix}
    AND ${time} LIKE ${timePattern}`
  const [last] = yield* sql<{ readonly at: string | null }>`
    SELECT max(${time}) AS at FROM flow_execution WHERE ${ofSchedule} AND ${time} <= ${iso(now)}`
  const open = yield* sql<Begun>`
    SELECT id, ${time} AS at FROM flow_execution WHERE ${ofSchedule} AND state IN ('running', 'failed')
    ORDER BY 2 DESC LIMIT ${mostRunning}`
  // The column was set after the creation of the execution, so the process may have died in between.
  const upTo = Math.max(scheduledTo, last === undefined || last.at === null ? scheduledTo : Date.parse(last.at))
  const progress: Progress = {
    upTo,
    running: open.map(({ at, id }) => ({ at: Date.parse(at), execution: id })).toReversed()
  }
  yield* sql`
    INSERT INTO flow_value (name, value, token)
    VALUES (${Texts.toText(nameOf(name))}, ${canonical({ ...progress, running: [...progress.running] })}, '')`
  // With the new keys, so that a backfill finds executions that have already begun.
  yield* sql`UPDATE flow_execution SET flow_key = CAST(${`${name} `} AS TEXT) || ${time} WHERE ${ofSchedule}`
  yield* sql`DELETE FROM flow_schedule WHERE name = ${name}`
})

/** Returns the number of schedules. Runs in a transaction, before the executions are converted. */
export const carrySchedules = Effect.fnUntraced(function* (sql: SqlClient, now: number) {
  const schedules = yield* sql<{ readonly name: string; readonly scheduled_to: number }>`
    SELECT name, scheduled_to FROM flow_schedule`
  yield* Effect.forEach(schedules, ({ name, scheduled_to }) => carryOne(sql, name, scheduled_to, now), {
    discard: true
  })
  return schedules.length
})
