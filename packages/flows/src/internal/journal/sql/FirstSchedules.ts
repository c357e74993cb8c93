/**
 * Carries the progress of schedules of the first design over into values of the journal. Its rows say up to when each was carried
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

/** As many as a schedule looks after. */
const mostRunning = 100

/** The times that the first design wrote, such as 2026-11-20T06:00:00.000Z. */
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
  // It was set only after what it began had been created, which the process may not have lived to do.
  const upTo = Math.max(scheduledTo, last === undefined || last.at === null ? scheduledTo : Date.parse(last.at))
  const progress: Progress = {
    upTo,
    running: open.map(({ at, id }) => ({ at: Date.parse(at), execution: id })).toReversed()
  }
  yield* sql`
    INSERT INTO flow_value (name, value, token)
    VALUES (${Texts.toText(nameOf(name))}, ${canonical({ ...progress, running: [...progress.running] })}, '')`
  // Under the keys of today, so that a backfill finds what has begun in its time.
  yield* sql`UPDATE flow_execution SET flow_key = CAST(${`${name} `} AS TEXT) || ${time} WHERE ${ofSchedule}`
  yield* sql`DELETE FROM flow_schedule WHERE name = ${name}`
})

/** Returns how many schedules there were. Runs in a transaction, before the executions are carried over. */
export const carrySchedules = Effect.fnUntraced(function* (sql: SqlClient, now: number) {
  const schedules = yield* sql<{ readonly name: string; readonly scheduled_to: number }>`
    SELECT name, scheduled_to FROM flow_schedule`
  yield* Effect.forEach(schedules, ({ name, scheduled_to }) => carryOne(sql, name, scheduled_to, now), {
    discard: true
  })
  return schedules.length
})
