/**
 * Writes of several executions as one statement of Postgres. It takes those whose rows it can lock at once, and leaves the others, so
 * that no write waits for the execution of another one, and two statements never wait for each other. Each is fenced as if it was alone:
 * its row is locked by id and epoch, and the rest of it depends on that.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { encode, flag, integer, query, Row, text } from "@signalbox/sql/Table"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fence, Write } from "../../model/Execution.ts"
import { isReleased } from "../Common.ts"
import { anyText, entriesOfMany, executionTable, executionValues, toEntryOfMany, writtenRow } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { isSmall, put, storedRowsOf } from "./Tables.ts"

export interface Request {
  readonly fence: Fence
  readonly write: Write
  readonly at: number
}

/** The columns that such a write may replace. */
const { fields: replaceable } = executionTable.pick(
  "state",
  "owner",
  "wake_at",
  "result",
  "error",
  "failure",
  "ended_at"
)
const members = ["state", "owner", "wakeAt", "result", "error", "failure", "endedAt"]

/** Most columns are not replaced by most writes, so `replaces` has the names of those that are, each between commas. */
const givenRow = Row({
  id: anyText,
  epoch: integer,
  at: integer,
  seen: integer,
  begins: flag,
  releases: flag,
  replaces: text,
  ...replaceable
})

const newValue = (column: string) =>
  `CASE WHEN position(',${column},' IN r.replaces) > 0 THEN r.${column} ELSE f.${column} END`

const assigned = Object.keys(replaceable)
  .filter((column) => column !== "wake_at")
  .map((column) => `${column} = ${newValue(column)}`)
  .join(", ")

const isEmpty = (list: ReadonlyArray<unknown> = []): boolean => list.length === 0

/** Whether a write is one of those that occur most: steps begin and end, and with them the execution, or its time in memory. */
export const isCommon = ({ entries, execution, newChapter, said, settled, suspends, taken, undos }: Write): boolean =>
  [undos, taken, settled, suspends].every(isEmpty) &&
  newChapter !== true &&
  said === undefined &&
  execution.state !== "halted" &&
  execution.state !== "suspended" &&
  Object.keys(execution).every((member) => members.includes(member)) &&
  entries.every(({ details }) => details === undefined)

/** Returns the stored rows of a write. */
const rowsOfWrite = ({ at, fence, write: { begins = false, entries, execution, seen } }: Request) => {
  const values = executionValues(defined(execution))
  const replaces = `,${Object.keys(values).join(",")},`
  return {
    given: encode(givenRow, { ...fence, at, seen, begins, releases: isReleased(execution), replaces, ...values }),
    entries: entries.map((entry) => toEntryOfMany({ ...entry, execution: fence.id }))
  }
}

type Rows = ReturnType<typeof rowsOfWrite>

/** Returns the rows of the first write of each execution, if they are small; the others are done alone. */
const firstOf = (all: ReadonlyArray<Request>): ReadonlyMap<Request, Rows> => {
  const ids = new Set<string>()
  const firsts = new Map<Request, Rows>()
  for (const request of all) {
    const rows = rowsOfWrite(request)
    const isFirst = !ids.has(request.fence.id)
    ids.add(request.fence.id)
    if (isFirst && isSmall(rows.given) && rows.entries.every(isSmall)) firsts.set(request, rows)
  }
  return firsts
}

export const make = ({ leaseNow, sql }: Pick<Store, "leaseNow" | "sql">) => {
  const statement = (all: ReadonlyArray<Rows>, at: number) => {
    const entries = all.flatMap((rows) => rows.entries)
    const added = put(sql, entriesOfMany, { aside: 0, next_redo: 0 }, entries, "mine", sql`WHERE r.execution = mine.id`)
    const given = storedRowsOf(
      sql,
      givenRow,
      all.map((rows) => rows.given)
    )
    const wakeAt = sql.literal(newValue("wake_at"))
    const parts = [
      sql`given AS MATERIALIZED (SELECT r.* FROM ${given})`,
      sql`held AS MATERIALIZED (
        SELECT f.id FROM flow_run f JOIN given r ON r.id = f.id
        WHERE f.id = ANY (ARRAY(SELECT id FROM given)) AND f.epoch = r.epoch
          AND (r.begins = 0 OR COALESCE(f.commanded, 0) <= r.seen)
        ${Dialect.skipLocked(sql, "f")}
      )`,
      // As in `Writes.ts`: messages that the owner has not read wake what it releases.
      sql`mine AS (
        UPDATE flow_run f SET changed_at = r.at, seen = r.seen, ${sql.literal(assigned)},
          wake_at = CASE WHEN r.releases = 1 AND f.mail > r.seen THEN ${leaseNow(at)} ELSE ${wakeAt} END
        FROM given r WHERE f.id = ANY (ARRAY(SELECT id FROM held)) AND r.id = f.id
        RETURNING f.id, f.state, f.owner, f.wake_at
      )`,
      ...added.map((part) => sql`added AS (${part})`)
    ]
    return sql`WITH ${sql.csv(parts)} SELECT * FROM mine`
  }

  /** Returns the rows after their writes; null for one that was not written, for whatever reason. */
  return (all: ReadonlyArray<Request>): Effect.Effect<ReadonlyArray<typeof writtenRow.Type | null>, SqlError> => {
    const firsts = firstOf(all)
    if (firsts.size === 0) return Effect.succeed([])
    const at = Math.max(...all.map((one) => one.at))
    // Planned each time: a plan that was made for few rows would read all rows when there are many.
    return Effect.map(query(writtenRow, statement([...firsts.values()], at).unprepared), (rows) => {
      const written = new Map(rows.map((row) => [row.id, row]))
      return all.map((one) => (firsts.has(one) ? (written.get(one.fence.id) ?? null) : null))
    })
  }
}
