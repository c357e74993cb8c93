/**
 * The rows of commands. A command is recorded under the lock of its execution, and ends in the write that carries it out.
 */
import { integer, nullable, query, queryOne, Row, word } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import {
  type Change,
  type CommandOutcome,
  firstProtocol,
  type Locked,
  newestProtocol,
  type Write
} from "../../model/Execution.ts"
import { type Journal } from "../Journal.ts"
import { mostCommands } from "../Common.ts"
import {
  commandRow,
  commandTable,
  executionId,
  type ExecutionRow,
  fromMessage,
  messageTable,
  processTable,
  toCommand
} from "./Rows.ts"
import type { Store } from "./Store.ts"
import { rowsOf } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const protocolRow = processTable.pick("protocol")
const seqRow = messageTable.pick("seq")
const lastRow = Row({ number: nullable(integer) })
const settledRow = Row({ seq: integer, outcome: word<CommandOutcome>() })

/** How many executions with unsettled commands are returned together. */
const mostUnsettled = 100

export const make = ({ persist, sql }: Store) => {
  const rows = (id: string) =>
    query(
      commandRow,
      sql`SELECT ${commandRow.columns} FROM flow_command WHERE execution = ${Texts.toText(id)} ORDER BY number`,
      toCommand
    )

  /** Reads what a command depends on, besides the history of its execution. */
  const of = Effect.fnUntraced(function* ({
    id,
    owner
  }: Pick<ExecutionRow, "id" | "owner">): Effect.fn.Return<Pick<Locked, "commands" | "protocol">, SqlError> {
    const commands = yield* rows(id)
    if (owner === null) return { commands, protocol: null }
    const process = yield* queryOne(
      protocolRow,
      sql`SELECT protocol FROM flow_process WHERE id = ${Texts.toText(owner)}`
    )
    return { commands, protocol: process?.protocol ?? firstProtocol }
  })

  /** Adds a command to the messages, and returns its number; that of the message that is there already. */
  const send = Effect.fnUntraced(function* (
    { id, mail }: Pick<ExecutionRow, "id" | "mail">,
    kind: Change["command"],
    at: number,
    token: string
  ) {
    if (kind === undefined) return { seq: null, sent: 0 }
    const row = fromMessage({ kind, name: "", id: "", value: null }, mail + 1)
    const there = yield* queryOne(
      seqRow,
      sql`SELECT seq FROM flow_message WHERE execution = ${Texts.toText(id)} AND address = ${row.address}`
    )
    if (there !== null) return { seq: there.seq, sent: 0 }
    yield* sql`INSERT INTO flow_message ${messageTable.insert({ ...row, execution: id, at, token })}`
    return { seq: row.seq, sent: 1 }
  })

  /** Records a command, and its message. Returns how many messages were added. */
  const put = Effect.fnUntraced(function* (
    run: Pick<ExecutionRow, "id" | "mail" | "round">,
    { command: kind, execution, record, settled = [] }: Change,
    at: number,
    token: string
  ) {
    const id = Texts.toText(run.id)
    for (const { number, outcome } of settled) {
      yield* sql`
        UPDATE flow_command SET outcome = ${outcome}, ended_at = ${at}
        WHERE execution = ${id} AND number = ${number} AND outcome IS NULL`
    }
    const message = yield* send(run, kind, at, token)
    if (record === undefined) return message.sent
    const { by, command, outcome } = record
    const what = { seq: record.seq ?? message.seq, outcome, ended_at: outcome === null ? null : at }
    if (record.number !== undefined) {
      yield* sql`UPDATE flow_command SET ${commandTable.update(what)} WHERE execution = ${id} AND number = ${record.number}`
      return message.sent
    }
    const last = yield* queryOne(lastRow, sql`SELECT max(number) AS number FROM flow_command WHERE execution = ${id}`)
    const number = (last?.number ?? 0) + 1
    const row = { execution: run.id, number, command_id: record.id, command, said_by: by, at }
    yield* sql`INSERT INTO flow_command ${commandTable.insert({ ...row, ...what, round: execution.round ?? run.round })}`
    yield* sql`
      DELETE FROM flow_command
      WHERE execution = ${id} AND number <= ${number - mostCommands} AND outcome IS NOT NULL`
    return message.sent
  })

  /** Returns the statements of an owner's write that end commands; \`from\` is the table with its execution, on Postgres. */
  const ended = (
    id: string,
    { settled = [], suspends = [] }: Pick<Write, "settled" | "suspends">,
    at: number,
    from: string | undefined,
    isSuspended: Fragment
  ): ReadonlyArray<Fragment> => {
    const also = sql.literal(from === undefined ? "" : `${from}, `)
    const end = (all: Required<Write>["settled"], condition: Fragment) =>
      all.length === 0
        ? []
        : [
            sql`UPDATE flow_command SET outcome = r.outcome, ended_at = ${at}
              FROM ${also}${rowsOf(sql, settledRow, all)}
              WHERE flow_command.execution = ${id} AND flow_command.seq = r.seq AND flow_command.outcome IS NULL
                ${condition}`
          ]
    const applied = suspends.map((seq) => ({ seq, outcome: "applied" as const }))
    return [...end(settled, sql``), ...end(applied, sql`AND ${isSuspended}`)]
  }

  const commands: (typeof Journal.Service)["commands"] = (id) => persist(rows(id))

  // A message that was read is left to its owner: one of an execution that halted with it waits for a person.
  const unsettled: (typeof Journal.Service)["unsettled"] = persist(
    query(
      executionId,
      sql`
      SELECT DISTINCT r.id FROM flow_command c JOIN flow_run r ON r.id = c.execution
      LEFT JOIN flow_process p ON p.id = r.owner
      LEFT JOIN flow_message m ON m.execution = c.execution AND m.seq = c.seq
      WHERE c.outcome IS NULL AND r.expired = 0 AND (
        r.ended_at IS NOT NULL OR c.round < r.round
        OR (r.owner IS NULL AND (r.state = 'suspended' OR (r.state = 'halted' AND r.seen < c.seq)))
        OR (m.seq IS NULL AND (r.owner IS NULL OR p.protocol >= ${newestProtocol}))
      ) ORDER BY r.id LIMIT ${mostUnsettled}`,
      ({ id }) => id
    )
  )

  return { of, put, ended, journal: { commands, unsettled } }
}
