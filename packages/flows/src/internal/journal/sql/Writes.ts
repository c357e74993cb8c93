/**
 * Changes of executions: the writes of an owner, which its epoch fences, and commands.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import {
  type Change,
  type Execution,
  type Fence,
  hasEnded,
  type History,
  type Journal,
  OwnershipLost,
  type State,
  type Write
} from "../../Journal.ts"
import { isReleased, mostChapters, queuedAfter } from "../Common.ts"
import type * as Executions from "./Executions.ts"
import { enqueued, queuedColumns } from "./Lanes.ts"
import {
  entryRow,
  entryTable,
  executionColumns,
  type ExecutionRow,
  newMessageRow,
  tagRows,
  tagTable,
  toExecution,
  toFailure,
  toJson,
  undoRow,
  undoTable
} from "./Rows.ts"
import { isDue, type Store } from "./Store.ts"
import { put, rowsOf } from "./Tables.ts"
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

/** How many rows a statement deletes at most. */
const slice = 1_000

type Chaptered = Pick<ExecutionRow, "id" | "chapter" | "asides" | "started_at">

interface Changed {
  readonly before: ExecutionRow
  readonly after: ExecutionRow
  readonly isChanged: boolean
}

interface Written {
  readonly state: State
  readonly owner: string | null
  readonly wake_at: number | null
}

export const make = (
  { isPostgres, leaseNow, now, persist, publish, sql, token, transaction }: Store,
  { rest }: Pick<ReturnType<typeof Executions.make>, "rest">
) => {
  const each = (statements: ReadonlyArray<Fragment>) =>
    Effect.forEach(statements, (statement) => sql`${statement}`, { discard: true })

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

  // ---- the owner

  /** Updates and locks the row of the execution if the claim is valid. On Postgres the rest of a write depends on its result. */
  const fenced = ({ epoch, id }: Fence, { execution, seen }: Write, at: number) => {
    const { wakeAt } = execution
    const next = wakeAt === undefined ? sql`wake_at` : sql`${wakeAt}`
    const wake = isReleased(execution)
      ? // The update sees the current row, so a message that was sent since the owner last read counts.
        [sql`wake_at = CASE WHEN mail > ${seen} THEN ${leaseNow(at)} ELSE ${next} END`]
      : wakeAt === undefined
        ? []
        : [sql`wake_at = ${next}`]
    const { state, ...members } = execution
    const rests = (state === "halted" || state === "suspended") && isReleased(execution)
    const states = rests
      ? [sql`state = CASE WHEN mail > ${seen} THEN 'waiting' ELSE ${state} END`]
      : set(execution, "state")
    const assigned = [sql`changed_at = ${at}`, sql`seen = ${seen}`, ...states, ...sets(members), ...wake]
    return sql<Written>`
      UPDATE flow_run SET ${sql.csv(assigned)} WHERE id = ${Texts.toText(id)} AND epoch = ${epoch}
      RETURNING id, state, owner, wake_at`
  }

  const deleted = (id: string, seqs: ReadonlyArray<number>, from = "", where = ""): ReadonlyArray<Fragment> => {
    if (seqs.length === 0) return []
    const rows = rowsOf(
      sql,
      { seq: "INTEGER" },
      seqs.map((seq) => ({ seq }))
    )
    return [
      sql`DELETE FROM flow_message WHERE execution = ${id}
        AND seq IN (SELECT r.seq FROM ${sql.literal(from)}${rows}${sql.literal(where)})`
    ]
  }

  /** Returns the statements for all other rows. */
  const others = (
    id: string,
    { entries, suspends = [], taken, undos }: Write,
    mine = "flow_run"
  ): ReadonlyArray<Fragment> => {
    const from = mine === "flow_run" ? undefined : mine
    const isSuspended = ` WHERE EXISTS (SELECT 1 FROM ${mine} s WHERE s.id = flow_message.execution AND s.state = 'suspended')`
    return [
      ...put(sql, entryTable, { execution: id, aside: 0, next_redo: 0 }, entries.map(entryRow), from),
      ...put(sql, undoTable, { execution: id }, undos.map(undoRow), from),
      ...deleted(id, taken, from === undefined ? "" : `${from}, `),
      ...deleted(id, suspends, "", isSuspended)
    ]
  }

  const plain = (fence: Fence, write: Write, at: number) => {
    const run = fenced(fence, write, at)
    const id = Texts.toText(fence.id)
    const more = isPostgres ? others(id, write, "mine") : others(id, write)
    if (more.length === 0) return run
    if (isPostgres) {
      const parts = more.map((part, n) => sql`${sql.literal(`part${n}`)} AS (${part})`)
      return sql<Written>`WITH mine AS (${run}), ${sql.csv(parts)} SELECT * FROM mine`
    }
    return sql.withTransaction(Effect.tap(run, ([mine]) => (mine === undefined ? Effect.void : each(more))))
  }

  /** Deletes the rows of an execution that match a condition, a slice at a time; returns their number. */
  const deleteAll = Effect.fnUntraced(function* (table: string, key: string, condition: Fragment) {
    const [from, columns] = [sql.literal(table), sql.literal(key)]
    let count = 0
    while (true) {
      const rows = yield* sql`
        DELETE FROM ${from} WHERE ${condition} AND (${columns}) IN (
          SELECT ${columns} FROM ${from} WHERE ${condition} LIMIT ${slice}
        ) RETURNING 1 AS one`
      count += rows.length
      if (rows.length < slice) return count
      // SQLite would keep the event loop for as long as all slices take.
      yield* Effect.yieldNow
    }
  })

  /** Deletes the rows of the chapter that ends, and leaves a summary. */
  const endChapter = Effect.fnUntraced(function* (run: Chaptered, seen: number, at: number) {
    const { chapter, id } = run
    const mine = sql`execution = ${id}`
    const entries = yield* deleteAll("flow_entry", "aside, path, attempt", mine)
    yield* deleteAll("flow_undo", "path", mine)
    yield* deleteAll("flow_message", "seq", sql`execution = ${id} AND seq <= ${seen}`)
    if (run.asides > 0) yield* sql`UPDATE flow_run SET asides = 0 WHERE id = ${id}`
    const [before] = yield* sql<{ readonly ended_at: number }>`
      SELECT ended_at FROM flow_chapter WHERE execution = ${id} ORDER BY chapter DESC LIMIT 1`
    const summary = { execution: id, chapter, entries, started_at: before?.ended_at ?? run.started_at, ended_at: at }
    yield* sql`INSERT INTO flow_chapter ${sql.insert(summary)}`
    yield* sql`DELETE FROM flow_chapter WHERE execution = ${id} AND chapter <= ${chapter - mostChapters}`
  })

  const replaceTags = Effect.fnUntraced(function* (id: string, tags: ReadonlyArray<string>, startedAt: number) {
    yield* sql`DELETE FROM flow_tag WHERE execution = ${id}`
    yield* each(put(sql, tagTable, { execution: id, started_at: startedAt }, tagRows(tags)))
  })

  /** A write of more than one statement, on every database. */
  const large = (fence: Fence, write: Write, at: number) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const id = Texts.toText(fence.id)
        const { chapter, tags } = write.execution
        const rows = yield* sql<Written & Chaptered>`
          SELECT id, state, owner, wake_at, chapter, asides, started_at FROM flow_run
          WHERE id = ${id} AND epoch = ${fence.epoch} ${Dialect.forUpdate(sql)}`
        const [before] = rows
        // A repeated write of a chapter that has already begun.
        if (before === undefined || (write.newChapter === true && before.chapter === chapter)) return rows
        const written = yield* plain(fence, write, at)
        if (tags !== undefined) yield* replaceTags(id, tags, before.started_at)
        if (write.newChapter === true) yield* endChapter(before, write.seen, at)
        return written
      })
    )

  const write: (typeof Journal.Service)["write"] = Effect.fnUntraced(function* (fence, write) {
    const at = yield* now
    const { newChapter, execution } = write
    const statement = newChapter === true || execution.tags !== undefined ? large : plain
    const [written] = yield* persist(statement(fence, write, at))
    if (written === undefined) return yield* new OwnershipLost({ id: fence.id })
    if (execution.state !== undefined && hasEnded(execution.state)) publish([null, fence.id, true])
    else if (isReleased(execution) && isDue(written, at)) publish([null, fence.id, false])
  })

  // ---- commands

  const locked = (id: string) => sql<ExecutionRow>`
    SELECT ${sql.literal(executionColumns)} FROM flow_run WHERE id = ${id} AND expired = 0 ${Dialect.forUpdate(sql)}`

  const setAside = Effect.fnUntraced(function* (id: string, aside: number, entries: Change["aside"]) {
    const types = { path: "TEXT", attempt: "INTEGER" } as const
    for (const [redo, group] of Map.groupBy(entries, (entry) => entry.redo)) {
      const rows = group.map(({ attempt, path }) => ({ path: Texts.addressOf(path), attempt }))
      yield* sql`
        UPDATE flow_entry SET aside = ${aside}, next_redo = ${redo}, awaits = NULL
        WHERE execution = ${id} AND aside = 0
          AND (path, attempt) IN (SELECT r.path, r.attempt FROM ${rowsOf(sql, types, rows)})`
    }
  })

  /** Adds an execution with limits to its queue, or removes it. */
  const queue = Effect.fnUntraced(function* (before: ExecutionRow, changed: Change["execution"], at: number) {
    const execution = toExecution(before)
    if (execution.limits.length === 0) return []
    const after = { ...execution, ...changed, queuedAt: queuedAfter(execution, changed.state, at) }
    if (after.state === "queued") yield* sql`${enqueued({ sql }, after)}`
    const { lane, queued_at } = queuedColumns(after)
    return [sql`lane = ${lane}`, sql`queued_at = ${queued_at}`]
  })

  /** Adds a command to the messages, and returns how many were added: none when it is there already. */
  const command = Effect.fnUntraced(function* (
    { id, mail }: Pick<ExecutionRow, "id" | "mail">,
    kind: Change["command"],
    at: number,
    token: string
  ) {
    if (kind === undefined) return 0
    const row = newMessageRow({ kind, name: "", id: "", value: null }, mail + 1)
    const there = yield* sql`SELECT 1 FROM flow_message WHERE execution = ${id} AND address = ${row.address}`
    if (there.length > 0) return 0
    yield* sql`INSERT INTO flow_message ${sql.insert({ ...row, execution: id, at, token })}`
    return 1
  })

  const apply = Effect.fnUntraced(function* (before: ExecutionRow, change: Change, at: number, mine: string) {
    const { id } = before
    const { aside, asideUndos, execution, taken, undos } = change
    const asides = before.asides + (aside.length === 0 ? 0 : 1)
    if (aside.length > 0) yield* setAside(id, asides, aside)
    if (asideUndos.length > 0) {
      const rows = asideUndos.map((path) => ({ path: Texts.addressOf(path) }))
      yield* sql`
        DELETE FROM flow_undo WHERE execution = ${id} AND path IN (SELECT r.path FROM ${rowsOf(sql, { path: "TEXT" }, rows)})`
    }
    yield* each([...put(sql, undoTable, { execution: id }, undos.map(undoRow)), ...deleted(id, taken)])
    const sent = yield* command(before, change.command, at, mine)
    // Who runs it sees by this number that there is news, also when a suspend was withdrawn.
    const mail = sql`mail = mail + ${Math.max(sent, change.keepsOwner === true ? taken.length : 0)}`
    if (change.keepsOwner === true) {
      const wake = sql`wake_at = CASE WHEN owner IS NOT NULL OR lane IS NOT NULL OR wake_at <= ${at} THEN wake_at
        ELSE CAST(${at} AS BIGINT) END`
      return yield* sql<ExecutionRow>`
        UPDATE flow_run SET ${sql.csv([mail, sql`changed_at = ${at}`, wake])} WHERE id = ${id}
        RETURNING ${sql.literal(executionColumns)}`
    }
    const assigned = [
      mail,
      sql`owner = NULL`,
      sql`epoch = epoch + 1`,
      sql`token = ${mine}`,
      sql`asides = ${asides}`,
      sql`changed_at = ${at}`,
      ...sets(execution),
      ...set(execution, "wakeAt"),
      ...(yield* queue(before, execution, at))
    ]
    return yield* sql<ExecutionRow>`
      UPDATE flow_run SET ${sql.csv(assigned)} WHERE id = ${id} RETURNING ${sql.literal(executionColumns)}`
  })

  /** Runs in a transaction, and returns the exit of `decide`, because only failures of the database are retried. */
  const decided = Effect.fnUntraced(function* <E>(
    id: string,
    decide: (history: History) => Effect.Effect<Change | null, E>,
    at: number,
    mine: string
  ): Effect.fn.Return<Exit.Exit<Changed | null, E>, SqlError> {
    const [before] = yield* locked(Texts.toText(id))
    if (before === undefined) return Exit.succeed(null)
    if (before.token === mine) return Exit.succeed({ before, after: before, isChanged: true })
    const decision = yield* Effect.exit(decide(yield* rest(before)))
    if (Exit.isFailure(decision)) return Exit.failCause(decision.cause)
    if (decision.value === null) return Exit.succeed({ before, after: before, isChanged: false })
    const [after = before] = yield* apply(before, decision.value, at, mine)
    return Exit.succeed({ before, after, isChanged: true })
  })

  const change: (typeof Journal.Service)["change"] = Effect.fnUntraced(function* (id, decide) {
    const at = yield* now
    const mine = token()
    const both = yield* yield* transaction(decided(id, decide, at, mine))
    if (both === null) return null
    const { after, before, isChanged } = both
    if (isChanged) {
      if (before.owner !== null) publish([Texts.fromText(before.owner), id, false])
      const isOver = hasEnded(after.state)
      if (isOver || after.state === "queued" || isDue(after, at)) publish([null, id, isOver])
    }
    return toExecution(after)
  })

  return { write, change }
}
