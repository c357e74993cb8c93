/**
 * Rows of new executions.
 */
import { encode, insertion, type StoredRow, text } from "@signalbox/sql/Table"
import type * as Arr from "effect/Array"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Execution, Times } from "../../model/Execution.ts"
import { partitionOf } from "../../model/Partitions.ts"
import { queueOf } from "./Lanes.ts"
import { writer } from "./Members.ts"
import { newExecutionRow, timesRow } from "./Rows.ts"
import { target } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const rowOf = writer<Execution>()(newExecutionRow, {
  flow_key: ({ key }) => Texts.addressOf(key),
  long_key: ({ key }) => Texts.longOf(key),
  limits: ({ limits }) => (limits.length === 0 ? null : limits),
  lane: queueOf,
  partition_no: ({ id }) => partitionOf(id),
  seen: () => 0,
  asides: () => 0,
  expired: () => false
})

const rowOfMany = newExecutionRow.and({ token: text })

/** Returns the row that the call with the token creates. */
export const toNewRow = (one: Execution, token: string): StoredRow<typeof rowOfMany.fields> => ({
  ...rowOf(one),
  token
})

/** Executions of several calls; one that exists stays. */
export const newExecutions = {
  ...target("flow_run", [], rowOfMany, (row: StoredRow<typeof rowOfMany.fields>) => row),
  conflict: "ON CONFLICT DO NOTHING"
}

export const hasTimes = ({ deadlineAt, priority, startsAt }: Times): boolean =>
  startsAt !== null || priority !== 0 || deadlineAt !== null

/** Inserts executions that do not exist. Those without times of their own cost nothing for these columns. */
export const inserted = (sql: SqlClient, [first, ...others]: Arr.NonEmptyReadonlyArray<Execution>, token: string) => {
  const isPlain = ![first, ...others].some(hasTimes)
  const of = (one: Execution) => {
    const { deadlineAt: deadline_at, priority, startsAt: starts_at } = one
    return isPlain ? rowOf(one) : { ...rowOf(one), ...encode(timesRow, { starts_at, priority, deadline_at }) }
  }
  const rows = insertion([of(first), ...others.map(of)], { token })
  return sql`INSERT INTO flow_run ${rows} ON CONFLICT DO NOTHING RETURNING id`
}
