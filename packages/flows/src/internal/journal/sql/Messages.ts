/**
 * Messages. They are numbered under the lock of their execution, so that they are read in order.
 */
import { encode, integer, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { hasEnded, type NewMessage } from "../../model/Execution.ts"
import { type Journal } from "../Journal.ts"
import { sameJson } from "../Common.ts"
import {
  ended,
  executionTable,
  fromMessage,
  messageAddress,
  messageRow,
  messageTable,
  toMessage,
  value as anyValue
} from "./Rows.ts"
import { isDue, type Store } from "./Store.ts"
import { rowsOf } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const sentRow = executionTable.pick("owner", "state", "wake_at").and({ seq: integer })

/** The existing rows with which a message may conflict. */
const thereRow = executionTable
  .pick("owner", "state")
  .and({ seq: nullable(integer), value: anyValue, token: nullable(text) })

/** In one statement, Postgres does not see an equal message that is sent concurrently. */
const orNull = <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A | null, SqlError> =>
  Effect.catchIf(
    effect,
    ({ reason }) => reason._tag === "UniqueViolation",
    () => Effect.succeed(null)
  )

const numbers = Row({ seq: integer })

/** Returns the statement that deletes messages of an execution; `from` and `where` are those of the list of their numbers. */
export const deleted = (
  sql: SqlClient,
  id: string,
  seqs: ReadonlyArray<number>,
  from = "",
  where = sql``
): ReadonlyArray<Fragment> => {
  if (seqs.length === 0) return []
  const rows = rowsOf(
    sql,
    numbers,
    seqs.map((seq) => ({ seq }))
  )
  return [
    sql`DELETE FROM flow_message WHERE execution = ${id}
      AND seq IN (SELECT r.seq FROM ${sql.literal(from)}${rows} ${where})`
  ]
}

export const make = ({ isPostgres, leaseNow, now, persist, publish, sql, token }: Store) => {
  const numbered = (id: string, address: string, at: number) => sql`
    UPDATE flow_run SET
      mail = mail + 1,
      changed_at = ${at},
      wake_at = CASE
        WHEN owner IS NOT NULL OR state = 'queued' OR wake_at <= ${leaseNow(at)} THEN wake_at
        ELSE ${leaseNow(at)}
      END
    WHERE id = ${id} AND expired = 0 AND state NOT IN ${sql.literal(ended)}
      AND NOT EXISTS (SELECT 1 FROM flow_message WHERE execution = ${id} AND address = ${address})
    RETURNING mail AS seq, owner, state, wake_at`

  const put = (execution: string, message: NewMessage, at: number, mine: string) => {
    const id = Texts.toText(execution)
    const row = fromMessage(message, 0)
    const { address } = row
    const run = numbered(id, address, at)
    if (isPostgres) {
      const { kind, message_id, name, value } = encode(messageTable, row)
      return orNull(
        queryOne(
          sentRow,
          sql`
            WITH run AS (${run}), added AS (
              INSERT INTO flow_message (execution, seq, address, kind, name, message_id, value, at, token)
              SELECT ${id}, run.seq, ${address}, ${kind}, ${name}, ${message_id}, ${value}, ${at}, ${mine} FROM run
            ) SELECT * FROM run`
        )
      )
    }
    return sql.withTransaction(
      Effect.tap(
        queryOne(sentRow, run),
        Effect.fnUntraced(function* (sent) {
          if (sent === null) return
          const { seq } = sent
          yield* sql`INSERT INTO flow_message ${messageTable.insert({ ...row, execution, seq, at, token: mine })}`
        })
      )
    )
  }

  const there = (execution: string, address: string) =>
    queryOne(
      thereRow,
      sql`
        SELECT r.owner, r.state, m.seq, m.value, m.token FROM flow_run r
        LEFT JOIN flow_message m ON m.execution = r.id AND m.address = ${address}
        WHERE r.id = ${Texts.toText(execution)} AND r.expired = 0`
    )

  const sentTo = (owner: string | null) => ({ outcome: "sent", owner }) as const

  const send: (typeof Journal.Service)["send"] = Effect.fnUntraced(function* (execution, message, isSame = sameJson) {
    const at = yield* now
    const mine = token()
    while (true) {
      const sent = yield* persist(put(execution, message, at, mine))
      if (sent !== null) {
        if (sent.owner !== null) publish([sent.owner, execution, false])
        else if (sent.state !== "queued" && isDue(sent, Infinity)) publish([null, execution, false])
        return sentTo(sent.owner)
      }
      const found = yield* persist(there(execution, messageAddress(message)))
      if (found === null) return { outcome: "absent", owner: null }
      const { owner, seq, state, token: by, value } = found
      if (by === mine) {
        publish([owner, execution, false])
        return sentTo(owner)
      }
      if (seq !== null) {
        return isSame(value, message.value) ? { outcome: "repeated", owner } : { outcome: "conflict", owner: null }
      }
      if (hasEnded(state)) return { outcome: "ended", owner: null }
    }
  })

  const messages: (typeof Journal.Service)["messages"] = (execution, after) =>
    persist(
      query(
        messageRow,
        sql`
          SELECT ${messageRow.columns} FROM flow_message
          WHERE execution = ${Texts.toText(execution)} AND seq > ${after} ORDER BY seq`,
        toMessage
      )
    )

  return { send, messages }
}
