/**
 * Entries as an owner writes them. Most steps have no details, so their column is written only of those that have some.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { Entry } from "../../model/Execution.ts"
import { detailedEntries, entries } from "./Rows.ts"
import { put } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const hasDetails = ({ details }: Entry): boolean => details !== undefined

/** Deletes the details of earlier attempts: those in this write, and those in the table. */
const forget = (all: ReadonlyArray<Entry>) => {
  const firsts = new Map<string, number>()
  for (const { details, path } of all) if (details === null) firsts.set(path, Infinity)
  const written = all.map((entry) => {
    const first = firsts.get(entry.path)
    if (first === undefined) return entry
    firsts.set(entry.path, Math.min(first, entry.attempt))
    return { ...entry, details: null }
  })
  return { written, earlier: [...firsts].filter(([, first]) => first > 1) }
}

/** Returns the statements of an owner's write; `from` is the table with its execution, on Postgres. */
export const written = (
  sql: SqlClient,
  id: string,
  all: ReadonlyArray<Entry>,
  from: string | undefined
): ReadonlyArray<Fragment> => {
  const fixed = { execution: id, aside: 0, next_redo: 0 }
  if (!all.some(hasDetails)) return put(sql, entries, fixed, all, from)
  const { earlier, written } = forget(all)
  const isMine = from === undefined ? sql`` : sql`AND EXISTS (SELECT 1 FROM ${sql.literal(from)})`
  return [
    ...put(
      sql,
      entries,
      fixed,
      written.filter((entry) => !hasDetails(entry)),
      from
    ),
    ...put(sql, detailedEntries, fixed, written.filter(hasDetails), from),
    // One statement of Postgres changes a row once.
    ...earlier.map(
      ([path, first]) => sql`
        UPDATE flow_entry SET details = NULL
        WHERE execution = ${id} AND aside = 0 AND path = ${Texts.addressOf(path)} AND attempt < ${first}
          AND details IS NOT NULL ${isMine}`
    )
  ]
}
