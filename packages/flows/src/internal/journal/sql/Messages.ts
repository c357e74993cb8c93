/**
 * Messages. They are numbered under the lock of their execution, so that they are read in order.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { hasEnded, type NewMessage, type State } from "../../model/Execution.ts"
import { type Journal } from "../Journal.ts"
import { sameJson } from "../Common.ts"
import { ended, fromJson, messageAddress, newMessageRow, type MessageRow, messageTable, toMessage } from "./Rows.ts"
import { isDue, type Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

interface Sent {
  readonly seq: number
  readonly owner: string | null
  readonly state: State
  readonly wake_at: number | null
}

/** The existing rows with which a message may conflict. */
interface There {
  readonly owner: string | null
  readonly state: State
  readonly seq: number | null
  readonly value: string | null
  readonly token: string | null
}

/** In one statement, Postgres does not see an equal message that is sent concurrently. */
const orNone = <A>(effect: Effect.Effect<ReadonlyArray<A>, SqlError>): Effect.Effect<ReadonlyArray<A>, SqlError> =>
  Effect.catchIf(
    effect,
    ({ reason }) => reason._tag === "UniqueViolation",
    () => Effect.succeed([])
  )

export const make = ({ isPostgres, leaseNow, now, persist, publish, sql, token }: Store) => {
  const numbered = (id: string, address: string, at: number) => sql<Sent>`
    UPDATE flow_run SET
      mail = mail + 1,
      changed_at = ${at},
      wake_at = CASE
        WHEN owner IS NOT NULL OR lane IS NOT NULL OR wake_at <= ${leaseNow(at)} THEN wake_at
        ELSE ${leaseNow(at)}
      END
    WHERE id = ${id} AND expired = 0 AND state NOT IN ${sql.literal(ended)}
      AND NOT EXISTS (SELECT 1 FROM flow_message WHERE execution = ${id} AND address = ${address})
    RETURNING mail AS seq, owner, state, wake_at`

  const put = (id: string, message: NewMessage, at: number, mine: string) => {
    const { address, kind, message_id, name, value } = newMessageRow(message, 0)
    const run = numbered(id, address, at)
    if (isPostgres) {
      return orNone(sql<Sent>`
        WITH run AS (${run}), added AS (
          INSERT INTO flow_message (execution, seq, address, kind, name, message_id, value, at, token)
          SELECT ${id}, run.seq, ${address}, ${kind}, ${name}, ${message_id}, ${value}, ${at}, ${mine} FROM run
        ) SELECT * FROM run`)
    }
    return sql.withTransaction(
      Effect.tap(
        run,
        Effect.fnUntraced(function* ([sent]) {
          if (sent === undefined) return
          const row = { execution: id, seq: sent.seq, address, kind, name, message_id, value, at, token: mine }
          yield* sql`INSERT INTO flow_message ${sql.insert(row)}`
        })
      )
    )
  }

  const there = (id: string, address: string) => sql<There>`
    SELECT r.owner, r.state, m.seq, m.value, m.token FROM flow_run r
    LEFT JOIN flow_message m ON m.execution = r.id AND m.address = ${address}
    WHERE r.id = ${id} AND r.expired = 0`

  const sentTo = (owner: string | null) => ({ outcome: "sent", owner: Texts.fromNullable(owner) }) as const

  const send: (typeof Journal.Service)["send"] = Effect.fnUntraced(function* (execution, message) {
    const id = Texts.toText(execution)
    const at = yield* now
    const mine = token()
    while (true) {
      const [sent] = yield* persist(put(id, message, at, mine))
      if (sent !== undefined) {
        if (sent.owner !== null) publish([Texts.fromText(sent.owner), execution, false])
        else if (isDue(sent, Infinity)) publish([null, execution, false])
        return sentTo(sent.owner)
      }
      const [found] = yield* persist(there(id, messageAddress(message)))
      if (found === undefined) return { outcome: "absent", owner: null }
      const { owner, seq, state, token: by, value } = found
      if (by === mine) {
        publish([Texts.fromNullable(owner), execution, false])
        return sentTo(owner)
      }
      if (seq !== null) {
        return sameJson(fromJson(value), message.value)
          ? { outcome: "repeated", owner: Texts.fromNullable(owner) }
          : { outcome: "conflict", owner: null }
      }
      if (hasEnded(state)) return { outcome: "ended", owner: null }
    }
  })

  const messages: (typeof Journal.Service)["messages"] = (execution, after) =>
    Effect.map(
      persist(sql<MessageRow>`
        SELECT ${sql.literal(messageTable.names)}, at FROM flow_message WHERE execution = ${Texts.toText(execution)} AND seq > ${after} ORDER BY seq`),
      (rows) => rows.map(toMessage)
    )

  return { send, messages }
}
