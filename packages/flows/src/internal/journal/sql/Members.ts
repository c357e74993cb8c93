/**
 * The parts of writes that owners and commands share: columns of executions, and the deletion of messages.
 */
import type { Fragment } from "effect/sql/Statement"
import type { Change, Execution, Write } from "../../model/Execution.ts"
import { toFailure, toJson } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { rowsOf } from "./Tables.ts"
import * as Texts from "./Texts.ts"

type Member = Exclude<keyof Write["execution"] | keyof Change["execution"], "tags">

/** The columns of members, with their encoding. */
const columns: { readonly [M in Member]: readonly [string, (value: Execution[M]) => string | number | null] } = {
  state: ["state", (value) => value],
  version: ["version", (value) => value],
  input: ["input", toJson],
  result: ["result", toJson],
  error: ["error", toJson],
  failure: ["failure", toFailure],
  chapter: ["chapter", (value) => value],
  round: ["round", (value) => value],
  owner: ["owner", Texts.toNullable],
  wakeAt: ["wake_at", (value) => value],
  endedAt: ["ended_at", (value) => value]
}

export const make = ({ sql }: Pick<Store, "sql">) => {
  const set = <M extends Member>(members: Pick<Partial<Execution>, M>, member: M): ReadonlyArray<Fragment> => {
    const value = members[member]
    const [column, to] = columns[member]
    return value === undefined ? [] : [sql`${sql.literal(column)} = ${to(value)}`]
  }

  /** Returns the assignments of the given members. */
  const sets = (members: Partial<Execution>): ReadonlyArray<Fragment> => [
    ...set(members, "state"),
    ...set(members, "version"),
    ...set(members, "input"),
    ...set(members, "result"),
    ...set(members, "error"),
    ...set(members, "failure"),
    ...set(members, "chapter"),
    ...set(members, "round"),
    ...set(members, "owner"),
    ...set(members, "endedAt"),
    ...(members.tags === undefined ? [] : [sql`tags = ${JSON.stringify(members.tags)}`])
  ]

  const deleted = (id: string, seqs: ReadonlyArray<number>, from = "", where = sql``): ReadonlyArray<Fragment> => {
    if (seqs.length === 0) return []
    const rows = rowsOf(
      sql,
      { seq: "INTEGER" },
      seqs.map((seq) => ({ seq }))
    )
    return [
      sql`DELETE FROM flow_message WHERE execution = ${id}
        AND seq IN (SELECT r.seq FROM ${sql.literal(from)}${rows} ${where})`
    ]
  }

  return { set, sets, deleted }
}
