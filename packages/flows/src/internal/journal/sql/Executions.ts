/**
 * Creates and reads executions.
 */
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
import { type Journal } from "../Journal.ts"
import { partitionOf } from "../../model/Partitions.ts"
import { idTaken, newExecution } from "../Common.ts"
import { enqueued, queuedColumns } from "./Lanes.ts"
import {
  type ChapterRow,
  entryTable,
  type EntryRow,
  executionColumns,
  executionColumnsOf,
  type ExecutionRow,
  newMessageRow,
  type MessageRow,
  messageTable,
  tagRows,
  tagTable,
  toChapter,
  toEntry,
  toExecution,
  toExpired,
  toJson,
  toMessage,
  toUndo,
  undoTable,
  type UndoRow
} from "./Rows.ts"
import { isDue, type Store } from "./Store.ts"
import { put } from "./Tables.ts"
import * as Texts from "./Texts.ts"

/** Removes duplicate messages. */
const distinct = (messages: ReadonlyArray<NewMessage>) => {
  const rows = new Map<string, ReturnType<typeof newMessageRow>>()
  for (const message of messages) {
    const row = newMessageRow(message, rows.size + 1)
    if (!rows.has(row.address)) rows.set(row.address, row)
  }
  return [...rows.values()]
}

/** Whether `shown_state` has this state: an owner seldom writes it. */
const isShown = (state: State): boolean => state !== "waiting" && state !== "running"

export const make = ({ isPostgres, now, persist, publish, sql, token }: Store) => {
  const columns = sql.literal(executionColumns)
  const entryColumns = sql.literal(entryTable.names)

  const first = (rows: ReadonlyArray<ExecutionRow>): Execution | null => {
    const [row] = rows
    return row === undefined ? null : toExecution(row)
  }

  const byKey = (flow: string, key: string) => {
    const [address] = Texts.split(key)
    return sql<ExecutionRow>`
      SELECT ${columns} FROM flow_run WHERE flow = ${Texts.toText(flow)} AND flow_key = ${address}`
  }

  const insert = (made: Execution, messages: ReturnType<typeof distinct>, mine: string) => {
    const [flow_key, long_key] = Texts.split(made.key)
    const id = Texts.toText(made.id)
    const run = sql<{ readonly id: string }>`
      INSERT INTO flow_run ${sql.insert({
        id,
        flow: Texts.toText(made.flow),
        version: made.version,
        flow_key,
        long_key,
        input: toJson(made.input),
        state: made.state,
        chapter: 0,
        round: 0,
        tags: JSON.stringify(made.tags),
        parent: Texts.toNullable(made.parent),
        partition_no: partitionOf(made.id),
        epoch: made.epoch,
        owner: Texts.toNullable(made.owner),
        wake_at: made.wakeAt,
        mail: messages.length,
        seen: 0,
        asides: 0,
        token: mine,
        started_at: made.startedAt,
        changed_at: made.startedAt,
        expired: 0,
        ...(made.limits.length === 0 ? {} : queuedColumns(made))
      })} ON CONFLICT DO NOTHING RETURNING id`
    const isQueued = made.queuedAt !== null
    if (messages.length + made.tags.length === 0 && !isQueued) return run
    const more = (where?: string) => [
      ...put(sql, messageTable, { execution: id, at: made.startedAt, token: "" }, messages, where),
      ...put(sql, tagTable, { execution: id, started_at: made.startedAt }, tagRows(made.tags), where),
      ...(isQueued ? [enqueued({ sql }, made, where)] : [])
    ]
    if (isPostgres) {
      const parts = more("made").map((part, n) => sql`${sql.literal(`part${n}`)} AS (${part})`)
      return sql<{ readonly id: string }>`WITH made AS (${run}), ${sql.csv(parts)} SELECT id FROM made`
    }
    return sql.withTransaction(
      Effect.tap(run, ([inserted]) =>
        inserted === undefined
          ? Effect.void
          : Effect.forEach(more(), (statement) => sql`${statement}`, { discard: true })
      )
    )
  }

  const create: (typeof Journal.Service)["create"] = Effect.fnUntraced(function* ({
    messages,
    ...execution
  }: NewExecution) {
    const at = yield* now
    const mine = token()
    const mail = distinct(messages)
    const made = newExecution(execution, at, mail.length)
    const created = { _tag: "Created", execution: made } as const
    while (true) {
      const inserted = yield* persist(insert(made, mail, mine))
      if (inserted.length > 0) return created
      const [row] = yield* persist(byKey(made.flow, made.key))
      if (row !== undefined) {
        if (row.token === mine && row.epoch === made.epoch) return created
        if (row.expired === 1) return { _tag: "Expired", expired: toExpired(row) }
        return { _tag: "Existing", execution: toExecution(row) }
      }
      const others = yield* persist(sql`SELECT 1 FROM flow_run WHERE id = ${Texts.toText(made.id)}`)
      if (others.length > 0) return yield* Effect.die(idTaken(made.id))
    }
  })

  const row = (id: string) => sql<ExecutionRow>`
    SELECT ${columns} FROM flow_run WHERE id = ${Texts.toText(id)} AND expired = 0`

  /** Reads the other rows of an execution. */
  const rest = Effect.fnUntraced(function* (of: ExecutionRow) {
    const { id } = of
    const entries = sql<EntryRow>`
      SELECT ${entryColumns} FROM flow_entry WHERE execution = ${id} AND aside = 0 ORDER BY begun, path, attempt`
    const undos = sql<UndoRow>`
      SELECT ${sql.literal(undoTable.names)} FROM flow_undo WHERE execution = ${id} ORDER BY position, path`
    const messages = sql<MessageRow>`
      SELECT ${sql.literal(messageTable.names)}, at FROM flow_message WHERE execution = ${id} ORDER BY seq`
    const redos =
      of.asides === 0
        ? Effect.succeed([])
        : sql<{ readonly path: string; readonly long_path: string | null; readonly redo: number }>`
            SELECT path, long_path, max(next_redo) AS redo FROM flow_entry
            WHERE execution = ${id} AND aside > 0
              AND (next_redo > 0 OR (next_redo = 0 AND state <> 'interrupted')) GROUP BY path, long_path`
    const all = [yield* entries, yield* undos, yield* messages, yield* redos] as const
    return {
      execution: toExecution(of),
      entries: all[0].map(toEntry),
      undos: all[1].map(toUndo),
      messages: all[2].map(toMessage),
      redos: new Map(all[3].map(({ long_path, path, redo }) => [Texts.joined(path, long_path), redo]))
    } satisfies History
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
    names: string,
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
      SELECT ${sql.literal(names)} FROM ${sql.literal(from)} WHERE ${sql.and(conditions)}
      ORDER BY ${startedAt} DESC, ${last} DESC LIMIT ${limit}`
  }

  /** Tags have the start of their executions, so that their index has the order of the page. */
  const taggedPage = (page: Page, tag: string): Fragment =>
    pageOf(
      "flow_tag t JOIN flow_run r ON r.id = t.execution",
      executionColumnsOf("r"),
      page,
      [sql`t.tag = ${Texts.addressOf(tag)}`, ...(page.states === undefined ? [] : [among(page.states)])],
      ["t.started_at", "t.execution"]
    )

  const listed = (statement: Fragment) =>
    Effect.map(persist(sql<ExecutionRow>`${statement}`), (found) => found.map(toExecution))

  const reads = {
    find: (id) => Effect.map(persist(row(id)), first),
    findKey: (flow, key) =>
      Effect.map(persist(byKey(flow, key)), ([row]) =>
        row === undefined || row.expired === 1 ? null : toExecution(row)
      ),
    list: (page) => {
      const { flow, key, states, tag } = page
      if (tag !== undefined) return listed(taggedPage(page, tag))
      if (key !== undefined || (states === undefined && flow === undefined)) {
        return listed(pageOf("flow_run r", executionColumnsOf("r"), page, states === undefined ? [] : [among(states)]))
      }
      const all = partsOf(states ?? allStates).map((part) => pageOf("flow_run r", "r.id, r.started_at", page, [part]))
      const selects = all.map((part, n) => sql`SELECT * FROM (${part}) ${sql.literal(`part${n}`)}`)
      return all.length === 0
        ? Effect.succeed([])
        : listed(sql`
            SELECT ${sql.literal(executionColumnsOf("r"))} FROM flow_run r WHERE r.id IN (
              SELECT id FROM (${selects.reduce((one, other) => sql`${one} UNION ALL ${other}`)}) parts
              ORDER BY started_at DESC, id DESC LIMIT ${page.limit}
            ) ORDER BY r.started_at DESC, r.id DESC`)
    },
    /** The execution is read first, so that at least the messages that it counts are in the result. */
    history: (id) => persist(Effect.flatMap(row(id), ([of]) => (of === undefined ? Effect.succeed(null) : rest(of)))),
    aside: (id) =>
      Effect.map(
        persist(sql<EntryRow>`
          SELECT ${entryColumns} FROM flow_entry WHERE execution = ${Texts.toText(id)} AND aside > 0
          ORDER BY aside, begun, path, attempt`),
        (rows) => rows.map(toEntry)
      ),
    chapters: (id) =>
      Effect.map(
        persist(sql<ChapterRow>`
          SELECT chapter, entries, started_at, ended_at FROM flow_chapter
          WHERE execution = ${Texts.toText(id)} ORDER BY chapter`),
        (rows) => rows.map(toChapter)
      )
  } satisfies Partial<typeof Journal.Service>

  /** Publishes a new execution that needs an owner, or an admission. */
  const announced: typeof create = (execution) =>
    Effect.tap(create(execution), (answer) =>
      Effect.sync(() => {
        if (answer._tag !== "Created") return
        const { owner, queuedAt, startedAt: at, state, wakeAt: wake_at } = answer.execution
        if (queuedAt !== null || isDue({ owner, state, wake_at }, at)) publish([null, execution.id, false])
      })
    )

  return { ...reads, create: announced, rest }
}
