/**
 * Creates and reads executions.
 */
import { Sent } from "@signalbox/sql/Sent"
import { integer, query, queryOne } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import {
  type Execution,
  type History,
  type NewExecution,
  type NewMessage,
  type Page,
  type State,
  states as allStates
} from "../../model/Execution.ts"
import * as Calling from "../Calling.ts"
import { type Journal } from "../Journal.ts"
import { idTaken, newExecution } from "../Common.ts"
import { enqueued } from "./Lanes.ts"
import * as ManyCreations from "./ManyCreations.ts"
import { inserted } from "./NewRows.ts"
import {
  chapterRow,
  entries,
  entryRow,
  entryTable,
  executionRow,
  type ExecutionRow,
  executionTable,
  fromMessage,
  messageRow,
  newMessages,
  type NewMessageRow,
  tags,
  tagsOf,
  toChapter,
  toEntry,
  toExecution,
  toExpired,
  toMessage,
  toUndo,
  undoRow,
  undos
} from "./Rows.ts"
import { isDue, type Store } from "./Store.ts"
import { put } from "./Tables.ts"
import * as Texts from "./Texts.ts"
import * as Together from "./Together.ts"

const redoRow = entryTable.pick("path", "long_path").and({ redo: integer })
const placeRow = executionTable.pick("id", "started_at")

/** Removes duplicate messages. */
const distinct = (messages: ReadonlyArray<NewMessage>) => {
  const rows = new Map<string, NewMessageRow>()
  for (const message of messages) {
    const row = fromMessage(message, rows.size + 1)
    if (!rows.has(row.address)) rows.set(row.address, row)
  }
  return [...rows.values()]
}

/** Whether `shown_state` has this state: an owner seldom writes it. */
const isShown = (state: State): boolean => state !== "waiting" && state !== "running"

export const make = ({ context, isPostgres, now, persist, publish, sql, token }: Store) => {
  const byKey = (flow: string, key: string) => {
    const [address] = Texts.split(key)
    return queryOne(
      executionRow,
      sql`SELECT ${executionRow.columns} FROM flow_run WHERE flow = ${Texts.toText(flow)} AND flow_key = ${address}`
    )
  }

  const insert = (
    made: Execution,
    messages: ReturnType<typeof distinct>,
    mine: string,
    record: NewExecution["record"]
  ) => {
    const id = Texts.toText(made.id)
    const run = inserted(sql, [made], mine)
    const isQueued = made.queuedAt !== null
    if (messages.length + made.tags.length === 0 && !isQueued && record === undefined) return run
    const { entries: first, undos: undone } = record ?? { entries: [], undos: [] }
    const more = (where?: string) => [
      ...put(sql, newMessages, { execution: id, at: made.startedAt, token: "" }, messages, where),
      ...put(sql, tags, { execution: id, started_at: made.startedAt }, tagsOf(made.tags), where),
      ...put(sql, entries, { execution: id, aside: 0, next_redo: 0 }, first, where),
      ...put(sql, undos, { execution: id }, undone, where),
      ...(isQueued ? [enqueued({ sql }, made, where)] : [])
    ]
    if (isPostgres) {
      const parts = more("made").map((part, n) => sql`${sql.literal(`part${n}`)} AS (${part})`)
      return sql`WITH made AS (${run}), ${sql.csv(parts)} SELECT id FROM made`
    }
    return sql.withTransaction(
      Effect.tap(run, ([added]) =>
        added === undefined ? Effect.void : Effect.forEach(more(), (statement) => sql`${statement}`, { discard: true })
      )
    )
  }

  const shared = Together.make({ context, run: ManyCreations.make({ sql }) })

  /** With others, except in a transaction of the caller, whose time counts from now. */
  const common = Effect.fnUntraced(function* (execution: Execution, token: string, alone: Effect.Effect<boolean>) {
    const open = yield* Effect.serviceOption(sql.transactionService)
    if (open._tag === "Some") return yield* alone
    return yield* shared({ execution, token, sent: yield* Sent }, yield* Calling.fromNow(alone))
  })

  const create: (typeof Journal.Service)["create"] = Effect.fnUntraced(function* ({
    messages,
    record,
    ...execution
  }: NewExecution) {
    const at = yield* now
    const mine = token()
    const mail = distinct(messages)
    const fresh = newExecution(execution, at, mail.length)
    // Who claims one with the first epoch reads no record.
    const made = record === undefined ? fresh : { ...fresh, epoch: 1 }
    const created = { _tag: "Created", execution: made } as const
    const alone = Effect.map(persist(insert(made, mail, mine, record)), (added) => added.length > 0)
    const isCommon = isPostgres && messages.length === 0 && record === undefined && ManyCreations.isCommon(made)
    const added = isCommon ? common(made, mine, alone) : alone
    while (true) {
      if (yield* added) return created
      const row = yield* persist(byKey(made.flow, made.key))
      if (row !== null) {
        if (row.token === mine && row.epoch === made.epoch) return created
        if (row.expired) return { _tag: "Expired", expired: toExpired(row) }
        return { _tag: "Existing", execution: toExecution(row) }
      }
      const others = yield* persist(sql`SELECT 1 FROM flow_run WHERE id = ${Texts.toText(made.id)}`)
      if (others.length > 0) return yield* Effect.die(idTaken(made.id))
    }
  })

  const row = (id: string) =>
    queryOne(
      executionRow,
      sql`SELECT ${executionRow.columns} FROM flow_run WHERE id = ${Texts.toText(id)} AND expired = 0`
    )

  /** Reads the other rows of an execution. */
  const rest = Effect.fnUntraced(function* (of: ExecutionRow) {
    const id = Texts.toText(of.id)
    const entries = yield* query(
      entryRow,
      sql`
        SELECT ${entryRow.columns} FROM flow_entry WHERE execution = ${id} AND aside = 0 ORDER BY begun, path, attempt`,
      toEntry
    )
    const undos = yield* query(
      undoRow,
      sql`SELECT ${undoRow.columns} FROM flow_undo WHERE execution = ${id} ORDER BY position, path`,
      toUndo
    )
    const messages = yield* query(
      messageRow,
      sql`SELECT ${messageRow.columns} FROM flow_message WHERE execution = ${id} ORDER BY seq`,
      toMessage
    )
    const redos =
      of.asides === 0
        ? []
        : yield* query(
            redoRow,
            sql`
              SELECT path, long_path, max(next_redo) AS redo FROM flow_entry
              WHERE execution = ${id} AND aside > 0
                AND (next_redo > 0 OR (next_redo = 0 AND state <> 'interrupted')) GROUP BY path, long_path`,
            ({ long_path, path, redo }) => [Texts.joined(path, long_path), redo] as const
          )
    return { execution: toExecution(of), entries, undos, messages, redos: new Map(redos) } satisfies History
  })

  const among = (states: ReadonlyArray<State>): Fragment =>
    states.length === 0 ? sql`1 = 0` : sql.in("r.state", states)

  /** Returns one condition for each index that has the order of a list: of a state, or of the two that are often written. */
  const partsOf = (states: ReadonlyArray<State>): ReadonlyArray<Fragment> => {
    const distinct = [...new Set(states)]
    const written = distinct.filter((state) => !isShown(state))
    return [
      ...(written.length === 0 ? [] : [sql`r.ended_at IS NULL AND ${among(written)}`]),
      ...distinct.filter(isShown).map((state) => sql`r.shown_state = ${state}`)
    ]
  }

  /** Returns the statement of a page, the newest first. */
  const pageOf = (
    from: string,
    names: Fragment,
    { before, flow, key, limit, startedBefore, startedFrom, version }: Page,
    more: ReadonlyArray<Fragment>,
    [start, id]: readonly [string, string] = ["r.started_at", "r.id"]
  ): Fragment => {
    const [startedAt, last] = [sql.literal(start), sql.literal(id)]
    const conditions = [
      sql`r.expired = 0`,
      ...more,
      ...(flow === undefined ? [] : [sql`r.flow = ${Texts.toText(flow)}`]),
      ...(version === undefined ? [] : [sql`r.version = ${version}`]),
      ...(key === undefined ? [] : [sql`r.flow_key = ${Texts.addressOf(key)}`]),
      ...(startedFrom === undefined ? [] : [sql`${startedAt} >= ${startedFrom}`]),
      ...(startedBefore === undefined ? [] : [sql`${startedAt} < ${startedBefore}`]),
      ...(before === undefined
        ? []
        : [sql`(${startedAt}, ${last}) < (${before.startedAt}, ${Texts.toText(before.id)})`])
    ]
    return sql`
      SELECT ${names} FROM ${sql.literal(from)} WHERE ${sql.and(conditions)}
      ORDER BY ${startedAt} DESC, ${last} DESC LIMIT ${limit}`
  }

  /** Tags have the start of their executions, so that their index has the order of the page. */
  const taggedPage = (page: Page, tag: string): Fragment =>
    pageOf(
      "flow_tag t JOIN flow_run r ON r.id = t.execution",
      executionRow.of("r"),
      page,
      [sql`t.tag = ${Texts.addressOf(tag)}`, ...(page.states === undefined ? [] : [among(page.states)])],
      ["t.started_at", "t.execution"]
    )

  const listed = (statement: Fragment) => persist(query(executionRow, sql`${statement}`, toExecution))

  const reads = {
    find: (id) => Effect.map(persist(row(id)), (row) => (row === null ? null : toExecution(row))),
    findKey: (flow, key) =>
      Effect.map(persist(byKey(flow, key)), (row) => (row === null || row.expired ? null : toExecution(row))),
    list: (page) => {
      const { flow, key, states, tag } = page
      if (tag !== undefined) return listed(taggedPage(page, tag))
      if (key !== undefined || (states === undefined && flow === undefined)) {
        return listed(pageOf("flow_run r", executionRow.of("r"), page, states === undefined ? [] : [among(states)]))
      }
      const all = partsOf(states ?? allStates).map((part) => pageOf("flow_run r", placeRow.of("r"), page, [part]))
      const selects = all.map((part, n) => sql`SELECT * FROM (${part}) ${sql.literal(`part${n}`)}`)
      return all.length === 0
        ? Effect.succeed([])
        : listed(sql`
            SELECT ${executionRow.of("r")} FROM flow_run r WHERE r.id IN (
              SELECT id FROM (${selects.reduce((one, other) => sql`${one} UNION ALL ${other}`)}) parts
              ORDER BY started_at DESC, id DESC LIMIT ${page.limit}
            ) ORDER BY r.started_at DESC, r.id DESC`)
    },
    /** The execution is read first, so that at least the messages that it counts are in the result. */
    history: (id) => persist(Effect.flatMap(row(id), (of) => (of === null ? Effect.succeed(null) : rest(of)))),
    aside: (id) =>
      persist(
        query(
          entryRow,
          sql`
            SELECT ${entryRow.columns} FROM flow_entry WHERE execution = ${Texts.toText(id)} AND aside > 0
            ORDER BY aside, begun, path, attempt`,
          toEntry
        )
      ),
    chapters: (id) =>
      persist(
        query(
          chapterRow,
          sql`SELECT ${chapterRow.columns} FROM flow_chapter WHERE execution = ${Texts.toText(id)} ORDER BY chapter`,
          toChapter
        )
      )
  } satisfies Partial<typeof Journal.Service>

  /** Publishes a new execution that needs an owner, now or later, or an admission. */
  const announced: typeof create = (execution) =>
    Effect.tap(create(execution), (answer) =>
      Effect.sync(() => {
        if (answer._tag !== "Created") return
        const { owner, queuedAt, startedAt: at, startsAt, state, wakeAt: wake_at } = answer.execution
        if (queuedAt !== null || startsAt !== null || isDue({ owner, state, wake_at }, at))
          publish([null, execution.id, false])
      })
    )

  return { ...reads, create: announced, rest }
}
