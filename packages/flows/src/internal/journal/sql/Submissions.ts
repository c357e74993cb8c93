/**
 * Creates many executions in one transaction.
 */
import { query } from "@signalbox/sql/Table"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type { Execution } from "../../model/Execution.ts"
import { type Journal } from "../Journal.ts"
import { compareTexts, idTaken, newExecution } from "../Common.ts"
import { enqueued, queueOf } from "./Lanes.ts"
import { inserted } from "./NewRows.ts"
import { executionId, executionRow, tagsOf, tagsOfMany, toExecution, toExpired } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { isAmong, put } from "./Tables.ts"
import * as Texts from "./Texts.ts"

/** How many rows a statement inserts: databases limit the number of its parameters. */
const insertedAtATime = 200

const addressOf = ({ key }: Pick<Execution, "key">) => Texts.addressOf(key)

export const make = ({ now, publish, sql, token, transaction }: Store) => {
  const there = (flow: string, keys: ReadonlyArray<string>) =>
    query(
      executionRow,
      sql`
        SELECT ${executionRow.columns} FROM flow_run
        WHERE flow = ${Texts.toText(flow)} AND ${isAmong(sql, "flow_key", keys)}`
    )

  /** Adds what belongs to executions that were inserted. */
  const complete = Effect.fnUntraced(function* (created: ReadonlyArray<Execution>, at: number) {
    const tagged = created.flatMap(({ id: execution, tags }) => tagsOf(tags).map((tag) => ({ execution, tag })))
    for (const statement of put(sql, tagsOfMany, { started_at: at }, tagged)) yield* sql`${statement}`
    const lanes = new Map<string, Execution>()
    for (const execution of created) {
      const lane = queueOf(execution)
      if (lane !== null) lanes.set(lane, execution)
    }
    // In one order, as the rows themselves: so two of these calls never wait for each other.
    for (const [, execution] of [...lanes].sort(([one], [other]) => compareTexts(one, other))) {
      yield* sql`${enqueued({ sql }, execution)}`
    }
  })

  const createMany: (typeof Journal.Service)["createMany"] = Effect.fnUntraced(function* (flow, executions) {
    const at = yield* now
    const mine = token()
    const made = executions.map((execution) => newExecution({ ...execution, flow, owner: null }, at, 0))
    const distinct = new Map<string, Execution>()
    for (const one of made) if (!distinct.has(addressOf(one))) distinct.set(addressOf(one), one)
    const rows = [...distinct.values()].sort((one, other) => compareTexts(addressOf(one), addressOf(other)))
    const answer = yield* transaction(
      Effect.gen(function* () {
        const before = yield* there(flow, [...distinct.keys()])
        const expired = before.find((row) => row.expired)
        if (expired !== undefined) return { _tag: "Expired", expired: toExpired(expired) } as const
        const ids = new Set<string>()
        for (const some of Arr.chunksOf(rows, insertedAtATime)) {
          for (const { id } of yield* query(executionId, inserted(sql, some, mine))) ids.add(id)
        }
        const created = rows.filter(({ id }) => ids.has(id))
        yield* complete(created, at)
        const others = rows.filter(({ id }) => !ids.has(id)).map(addressOf)
        const joined = others.length === 0 ? [] : yield* there(flow, others)
        return { _tag: "Created", created, joined } as const
      })
    )
    if (answer._tag === "Expired") return answer
    const known = new Map(answer.created.map((one) => [addressOf(one), one]))
    // The response to an earlier attempt may have been lost.
    const repeated = answer.joined.filter((row) => row.token === mine)
    for (const row of answer.joined) known.set(row.flow_key, toExecution(row))
    const created = [...answer.created, ...repeated.map(toExecution)]
    for (const { id } of created) publish([null, id, false])
    const all = yield* Effect.forEach(made, (one) => {
      const execution = known.get(addressOf(one))
      return execution === undefined ? Effect.die(idTaken(one.id)) : Effect.succeed(execution)
    })
    return { _tag: "Created", executions: all, created } as const
  })

  return { createMany }
}
