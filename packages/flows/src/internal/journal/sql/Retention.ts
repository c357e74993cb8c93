/**
 * Retention of executions, waits, and values by name.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import { query, queryOne, Table } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Journal } from "../Journal.ts"
import { canonical } from "../../model/Values.ts"
import { anyText, ended, entryTable, executionId, value as anyValue } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { isAmong, rowsOf } from "./Tables.ts"
import * as Texts from "./Texts.ts"

/** Tables with rows of executions. */
const tables = [
  "flow_entry",
  "flow_undo",
  "flow_message",
  "flow_tag",
  "flow_chapter",
  "flow_command",
  "flow_said",
  "flow_state",
  "flow_feed",
  "flow_answer",
  "flow_transaction"
]

const awaitingRow = entryTable.pick("execution", "path", "long_path").and({ subject: anyText })
const valueTable = Table("flow_value", { name: anyText, value: anyValue })
const nameRow = valueTable.pick("name")
const valueRow = valueTable.pick("value")

export const make = ({ persist, sql, token, transaction }: Store) => {
  /**
   * The row remains with only its key, state and end, so that a concurrent creation always finds the key in use.
   */
  const expire: (typeof Journal.Service)["expire"] = (states, endedBefore, limit) =>
    states.length === 0
      ? Effect.succeed(0)
      : transaction(
          Effect.gen(function* () {
            const expired = yield* query(
              executionId,
              sql`
              WITH old AS MATERIALIZED (
                SELECT id FROM flow_run WHERE expired = 0 AND ended_at < ${endedBefore} AND ${sql.in("state", states)}
                ORDER BY ended_at, id LIMIT ${limit} ${Dialect.skipLocked(sql, "flow_run")}
              ) UPDATE flow_run SET
                expired = 1, epoch = epoch + 1, input = NULL, result = NULL, error = NULL, failure = NULL, tags = '[]',
                parent = NULL, owner = NULL, wake_at = NULL, token = ''
              WHERE id IN (SELECT id FROM old) RETURNING id`
            )
            if (expired.length === 0) return 0
            const ids = rowsOf(sql, executionId, expired)
            for (const table of tables) {
              yield* sql`DELETE FROM ${sql.literal(table)} WHERE execution IN (SELECT r.id FROM ${ids})`
            }
            return expired.length
          })
        ).pipe(unhurried)

  // Rows whose slots are not released yet stay.
  const forget: (typeof Journal.Service)["forget"] = (endedBefore, limit) =>
    Effect.map(
      persist(sql`
        WITH old AS MATERIALIZED (
          SELECT id FROM flow_run WHERE expired = 1 AND ended_at < ${endedBefore} AND slots IS NULL
          ORDER BY ended_at, id LIMIT ${limit} ${Dialect.skipLocked(sql, "flow_run")}
        ) DELETE FROM flow_run WHERE id IN (SELECT id FROM old) RETURNING id`),
      (rows) => rows.length
    )

  /** The index has only the prefixes of long subjects, so `isWanted` filters the result. */
  const awaitingWhere = (condition: Fragment, isWanted: (subject: string) => boolean) =>
    Effect.map(
      persist(
        query(
          awaitingRow,
          sql`
            SELECT ${awaitingRow.of("e")} FROM flow_entry e JOIN flow_run r ON r.id = e.execution
            WHERE ${condition} AND r.state NOT IN ${sql.literal(ended)} ORDER BY e.execution, e.path`
        )
      ),
      (found) =>
        found.flatMap(({ execution, long_path, path, subject }) =>
          isWanted(subject) ? [{ execution, path: Texts.joined(path, long_path), subject }] : []
        )
    )

  const awaiting: (typeof Journal.Service)["awaiting"] = (prefix) => {
    const first = Texts.beginOf(prefix)
    const condition = sql`e.awaits >= ${first} AND e.awaits < ${`${first}\u{10ffff}`}`
    return awaitingWhere(condition, (subject) => subject.startsWith(prefix))
  }

  const awaitingAny: (typeof Journal.Service)["awaitingAny"] = (subjects) => {
    const wanted = new Set(subjects)
    return awaitingWhere(isAmong(sql, "e.awaits", subjects.map(Texts.beginOf)), (subject) => wanted.has(subject))
  }

  const unended: (typeof Journal.Service)["unended"] = (ids) =>
    Effect.map(
      persist(
        query(
          executionId,
          sql`
            SELECT id FROM flow_run
            WHERE ${isAmong(sql, "id", ids.map(Texts.toText))} AND expired = 0 AND state NOT IN ${sql.literal(ended)}`,
          ({ id }) => id
        )
      ),
      (found) => new Set(found)
    )

  const toText = (value: Parameters<typeof canonical>[0]) => (value === null ? null : canonical(value))

  const read: (typeof Journal.Service)["read"] = (name) =>
    Effect.map(
      persist(queryOne(valueRow, sql`SELECT value FROM flow_value WHERE name = ${Texts.toText(name)}`)),
      (row) => row?.value ?? null
    )

  const deleted = Effect.fnUntraced(function* (key: string, before: string | null) {
    const rows = yield* persist(sql`
      DELETE FROM flow_value WHERE name = ${key} AND value = CAST(${before} AS TEXT) RETURNING name`)
    if (rows.length > 0) return true
    // True also for a repeated call whose first response was lost.
    return (yield* persist(sql`SELECT name FROM flow_value WHERE name = ${key}`)).length === 0
  })

  const swap: (typeof Journal.Service)["swap"] = (name, expected, value) =>
    Effect.suspend(() => {
      const before = toText(expected)
      const key = Texts.toText(name)
      if (value === null) return deleted(key, before)
      const swapped = sql`
        INSERT INTO flow_value (name, value, token)
        SELECT CAST(${key} AS TEXT), CAST(${toText(value)} AS TEXT), CAST(${token()} AS TEXT)
        WHERE CAST(${before} AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM flow_value WHERE name = ${key})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, token = excluded.token
        WHERE flow_value.value IS NOT DISTINCT FROM CAST(${before} AS TEXT) OR flow_value.token = excluded.token
        RETURNING name`
      return Effect.map(persist(swapped), (rows) => rows.length > 0)
    })

  const names: (typeof Journal.Service)["names"] = (prefix) => {
    const from = Texts.toText(prefix)
    return persist(
      query(
        nameRow,
        sql`
          SELECT name FROM flow_value
          WHERE name >= ${from} AND substr(name, 1, ${[...from].length}) = ${from} AND value IS NOT NULL ORDER BY name`,
        ({ name }) => name
      )
    )
  }

  return { expire, forget, awaiting, awaitingAny, unended, names, read, swap }
}
