/**
 * What executions say of themselves: their states, feeds and answers. An owner writes them as a part of its writes.
 */
import { integer, nullable, query, queryOne, Row, Table, text, word } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { Answer, NewItem, RecordedAnswer, Said, SaidBefore, SaidWrite } from "../../model/Said.ts"
import { digestOf } from "../Common.ts"
import type { Journal } from "../Journal.ts"
import { writer } from "./Members.ts"
import { anyText, messageAddress, value } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { put, target } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const saidRow = Row({ number: integer, position: integer, ordinal: integer })

const saids = target(
  "flow_said",
  ["execution"],
  saidRow,
  writer<SaidWrite>()(saidRow, {
    position: ({ mark }) => mark.position,
    ordinal: ({ mark }) => mark.ordinal
  })
)

const stateRow = Row({ name: text, long_name: nullable(text), number: integer, value, at: integer })

const states = target(
  "flow_state",
  ["execution", "name"],
  stateRow,
  writer<Said>()(stateRow, {
    name: ({ name }) => Texts.addressOf(name),
    long_name: ({ name }) => Texts.longOf(name)
  })
)

/** States and items of feeds together. */
const bothRow = Row({ kind: word<Said["kind"]>(), ...stateRow.fields })

const toSaid = ({ long_name, name, ...row }: typeof bothRow.Type): Said => ({
  ...row,
  name: Texts.joined(name, long_name)
})

const toState = ({ long_name, name, ...row }: typeof stateRow.Type): Said => ({
  kind: "state",
  name: Texts.joined(name, long_name),
  ...row
})

const itemRow = Row({ name: anyText, item: integer, number: integer, value, at: integer })
const items = target("flow_feed", ["execution", "name", "item"], itemRow, writer<NewItem>()(itemRow, {}))
const readItemRow = Row({ name: anyText, number: integer, value, at: integer })
const nameRow = Row({ name: anyText })
const lastItemRow = Row({ name: anyText, item: integer })

const toItem = (row: typeof readItemRow.Type): Said => ({ kind: "feed", ...row })

const answerRow = Row({
  address: text,
  name: anyText,
  message_id: anyText,
  asked: text,
  state: word<Answer["state"]>(),
  value,
  at: integer
})
const answerTable = Table("flow_answer", { execution: anyText, ...answerRow.fields })

/** The address of the message that asks. */
const addressOf = ({ id, name }: Pick<Answer, "id" | "name">) =>
  messageAddress({ kind: "inbox", name, id, value: null })

/** The first answer counts: a body that is retried may give another one. */
const answers = {
  ...target(
    answerTable.name,
    ["execution", "address"],
    answerRow,
    writer<Answer & { readonly at: number }>()(answerRow, {
      address: addressOf,
      message_id: ({ id }) => id,
      asked: ({ asked, input }) => asked ?? digestOf(input)
    })
  ),
  conflict: "ON CONFLICT (execution, address) DO NOTHING"
}

const toAnswer = ({ address: _address, message_id: id, ...row }: typeof answerRow.Type): RecordedAnswer => ({
  ...row,
  id
})

/** Returns the statements of an owner's write; `from` is the table with its execution, on Postgres. */
export const written = (
  sql: SqlClient,
  id: string,
  said: SaidWrite | undefined,
  at: number,
  from: string | undefined
): ReadonlyArray<Fragment> => {
  if (said === undefined) return []
  const fixed = { execution: id }
  const isMine = from === undefined ? sql`` : sql`AND EXISTS (SELECT 1 FROM ${sql.literal(from)})`
  const trims = said.trims.map(({ before, item, name }) => {
    const age = before === null ? sql`` : sql`OR at < ${before}`
    return sql`DELETE FROM flow_feed
      WHERE execution = ${id} AND name = ${Texts.toText(name)} AND (item <= ${item} ${age}) ${isMine}`
  })
  const recorded = said.answers.map((answer) => ({ ...answer, at }))
  return [
    ...put(sql, saids, fixed, said.number === 0 ? [] : [said], from),
    ...put(sql, states, fixed, said.states, from),
    ...trims,
    ...put(sql, items, fixed, said.items, from),
    ...put(sql, answers, fixed, recorded, from)
  ]
}

/** The ordinal of a mark at which everything has been said. */
const everything = Number.MAX_SAFE_INTEGER

/**
 * Returns the statement that moves the mark back to the end of the record, when what follows was discarded: other ends get the same
 * positions, and what is said after them is new.
 */
export const unmarked = (sql: SqlClient, id: string): Fragment => sql`
  UPDATE flow_said SET position = kept.position, ordinal = ${everything} FROM (
    SELECT COALESCE(max(ended), 0) AS position FROM flow_entry WHERE execution = ${id} AND aside = 0
  ) kept WHERE flow_said.execution = ${id} AND flow_said.position > kept.position`

export const make = ({ persist, sql }: Pick<Store, "persist" | "sql">) => {
  const journal = {
    saidBefore: (execution) => {
      const id = Texts.toText(execution)
      return persist(
        Effect.gen(function* () {
          const row = yield* queryOne(saidRow, sql`SELECT ${saidRow.columns} FROM flow_said WHERE execution = ${id}`)
          if (row === null) return null
          const last = yield* query(
            lastItemRow,
            sql`SELECT name, max(item) AS item FROM flow_feed WHERE execution = ${id} GROUP BY name`,
            ({ item, name }) => [name, item] as const
          )
          const { number, ordinal, position } = row
          return { number, mark: { position, ordinal }, items: new Map(last) } satisfies SaidBefore
        })
      )
    },
    states: (execution) =>
      persist(
        query(
          stateRow,
          sql`SELECT ${stateRow.columns} FROM flow_state WHERE execution = ${Texts.toText(execution)} ORDER BY number`,
          toState
        )
      ),
    state: (execution, name) =>
      persist(
        queryOne(
          stateRow,
          sql`
            SELECT ${stateRow.columns} FROM flow_state
            WHERE execution = ${Texts.toText(execution)} AND name = ${Texts.addressOf(name)}`,
          toState
        )
      ),
    feeds: (execution) =>
      persist(
        query(
          nameRow,
          sql`SELECT DISTINCT name FROM flow_feed WHERE execution = ${Texts.toText(execution)} ORDER BY name`,
          ({ name }) => name
        )
      ),
    feed: (execution, name, { after, limit }) => {
      const [id, feed] = [Texts.toText(execution), Texts.toText(name)]
      const select = sql`SELECT ${readItemRow.columns} FROM flow_feed WHERE execution = ${id} AND name = ${feed}`
      return after === null
        ? Effect.map(persist(query(readItemRow, sql`${select} ORDER BY item DESC LIMIT ${limit}`, toItem)), (last) =>
            last.toReversed()
          )
        : persist(query(readItemRow, sql`${select} AND number > ${after} ORDER BY item LIMIT ${limit}`, toItem))
    },
    // In one statement, so that nothing with a smaller number is written between two.
    said: (execution, after, limit) => {
      const later = sql`execution = ${Texts.toText(execution)} AND number > ${after} ORDER BY number LIMIT ${limit}`
      return persist(
        query(
          bothRow,
          sql`
            SELECT kind, name, long_name, number, value, at FROM (
              SELECT * FROM (
                SELECT 'state' AS kind, name, long_name, number, value, at FROM flow_state WHERE ${later}
              ) states
              UNION ALL SELECT * FROM (
                SELECT 'feed' AS kind, name, CAST(NULL AS TEXT) AS long_name, number, value, at FROM flow_feed
                WHERE ${later}
              ) items
            ) said ORDER BY number LIMIT ${limit}`,
          toSaid
        )
      )
    },
    answer: (execution, name, id) =>
      persist(
        queryOne(
          answerRow,
          sql`
            SELECT ${answerRow.columns} FROM flow_answer
            WHERE execution = ${Texts.toText(execution)} AND address = ${addressOf({ name, id })}`,
          toAnswer
        )
      )
  } satisfies Partial<typeof Journal.Service>
  return journal
}
