/**
 * The writes of an owner, which its epoch fences.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { queryOne } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { type Fence, hasEnded, OwnershipLost, type Write } from "../../model/Execution.ts"
import { type Journal } from "../Journal.ts"
import { isReleased, mostChapters } from "../Common.ts"
import type * as Commands from "./Commands.ts"
import * as Entries from "./Entries.ts"
import { deleted } from "./Messages.ts"
import * as ManyWrites from "./ManyWrites.ts"
import * as Said from "./Said.ts"
import { chapterTable, executionTable, executionValues, tags, tagsOf, undos, writtenRow } from "./Rows.ts"
import { isDue, type Store } from "./Store.ts"
import { put } from "./Tables.ts"
import * as Texts from "./Texts.ts"
import * as Together from "./Together.ts"

/** How many rows a statement deletes at most. */
const slice = 1_000

const lockedRow = executionTable.pick("id", "state", "owner", "wake_at", "chapter", "asides", "started_at")
const chapterEnd = chapterTable.pick("ended_at")

export const make = (
  { context, isPostgres, leaseNow, now, persist, publish, sql }: Store,
  commands: Pick<ReturnType<typeof Commands.make>, "ended">
) => {
  const each = (statements: ReadonlyArray<Fragment>) =>
    Effect.forEach(statements, (statement) => sql`${statement}`, { discard: true })

  /** Updates and locks the row of the execution if the claim is valid. On Postgres the rest of a write depends on its result. */
  const fenced = ({ epoch, id }: Fence, { begins, execution, seen }: Write, at: number) => {
    const { queuedAt, state, wakeAt, ...members } = execution
    const next = wakeAt === undefined ? sql`wake_at` : sql`${wakeAt}`
    const wake = isReleased(execution)
      ? // The update sees the current row, so a message that was sent since the owner last read counts.
        [sql`wake_at = CASE WHEN mail > ${seen} THEN ${leaseNow(at)} ELSE ${next} END`]
      : wakeAt === undefined
        ? []
        : [sql`wake_at = ${next}`]
    const rests = (state === "halted" || state === "suspended") && isReleased(execution)
    const states = rests ? [sql`state = CASE WHEN mail > ${seen} THEN 'waiting' ELSE ${state} END`] : []
    const values = executionValues(rests ? members : { ...members, state })
    const unqueued = queuedAt === null ? [sql`queued_at = NULL, lane = NULL`] : []
    const assigned = [executionTable.update({ changed_at: at, seen, ...values }), ...states, ...wake, ...unqueued]
    // As above: nothing begins after a command that the owner has not read.
    const isRead = begins === true ? sql`AND COALESCE(commanded, 0) <= ${seen}` : sql``
    return sql`
      UPDATE flow_run SET ${sql.csv(assigned)} WHERE id = ${Texts.toText(id)} AND epoch = ${epoch} ${isRead}
      RETURNING ${writtenRow.columns}`
  }

  /** Returns the statements for all other rows. */
  const others = (
    id: string,
    { settled = [], suspends = [], taken, ...write }: Write,
    at: number,
    mine = "flow_run"
  ): ReadonlyArray<Fragment> => {
    const from = mine === "flow_run" ? undefined : mine
    const isSuspended = sql`EXISTS (
      SELECT 1 FROM ${sql.literal(mine)} s WHERE s.id = ${id} AND s.state = 'suspended'
    )`
    return [
      ...Entries.written(sql, id, write.entries, from),
      ...put(sql, undos, { execution: id }, write.undos, from),
      ...deleted(sql, id, taken, from === undefined ? "" : `${from}, `),
      ...deleted(sql, id, suspends, "", sql`WHERE ${isSuspended}`),
      ...commands.ended(id, { settled, suspends }, at, from, isSuspended),
      ...Said.written(sql, id, write.said, at, from)
    ]
  }

  const plain = (fence: Fence, write: Write, at: number) => {
    const run = fenced(fence, write, at)
    const id = Texts.toText(fence.id)
    const more = isPostgres ? others(id, write, at, "mine") : others(id, write, at)
    if (more.length === 0) return queryOne(writtenRow, run)
    if (isPostgres) {
      const parts = more.map((part, n) => sql`${sql.literal(`part${n}`)} AS (${part})`)
      return queryOne(writtenRow, sql`WITH mine AS (${run}), ${sql.csv(parts)} SELECT * FROM mine`)
    }
    return sql.withTransaction(
      Effect.tap(queryOne(writtenRow, run), (mine) => (mine === null ? Effect.void : each(more)))
    )
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
  const endChapter = Effect.fnUntraced(function* (run: typeof lockedRow.Type, seen: number, at: number) {
    const { chapter } = run
    const id = Texts.toText(run.id)
    const mine = sql`execution = ${id}`
    const count = yield* deleteAll("flow_entry", "aside, path, attempt", mine)
    yield* deleteAll("flow_undo", "path", mine)
    yield* deleteAll("flow_message", "seq", sql`execution = ${id} AND seq <= ${seen}`)
    if (run.asides > 0) yield* sql`UPDATE flow_run SET asides = 0 WHERE id = ${id}`
    const before = yield* queryOne(
      chapterEnd,
      sql`SELECT ended_at FROM flow_chapter WHERE execution = ${id} ORDER BY chapter DESC LIMIT 1`
    )
    yield* sql`
      INSERT INTO flow_chapter ${chapterTable.insert({
        execution: run.id,
        chapter,
        entries: count,
        started_at: before?.ended_at ?? run.started_at,
        ended_at: at
      })}`
    yield* sql`DELETE FROM flow_chapter WHERE execution = ${id} AND chapter <= ${chapter - mostChapters}`
  })

  const replaceTags = Effect.fnUntraced(function* (id: string, all: ReadonlyArray<string>, startedAt: number) {
    yield* sql`DELETE FROM flow_tag WHERE execution = ${id}`
    yield* each(put(sql, tags, { execution: id, started_at: startedAt }, tagsOf(all)))
  })

  /** A write of more than one statement, on every database. */
  const large = (fence: Fence, write: Write, at: number) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const id = Texts.toText(fence.id)
        const { chapter, tags: all } = write.execution
        const before = yield* queryOne(
          lockedRow,
          sql`
            SELECT ${lockedRow.columns} FROM flow_run
            WHERE id = ${id} AND epoch = ${fence.epoch} ${Dialect.forUpdate(sql)}`
        )
        // A repeated write of a chapter that has already begun.
        if (before === null || (write.newChapter === true && before.chapter === chapter)) return before
        const written = yield* plain(fence, write, at)
        if (all !== undefined) yield* replaceTags(id, all, before.started_at)
        if (write.newChapter === true) yield* endChapter(before, write.seen, at)
        return written
      })
    )

  /** Whether the claim is valid, of a write that changed no row. */
  const isMine = ({ epoch, id }: Fence) =>
    Effect.map(
      persist(sql`SELECT 1 FROM flow_run WHERE id = ${Texts.toText(id)} AND epoch = ${epoch}`),
      ({ length }) => length > 0
    )

  const shared = Together.make({ context, run: ManyWrites.make({ leaseNow, sql }) })

  /** With others, except in a transaction of the caller. On SQLite commits are shared, and a statement costs nothing more. */
  const common = Effect.fnUntraced(function* (request: ManyWrites.Request) {
    const alone = persist(plain(request.fence, request.write, request.at))
    const open = yield* Effect.serviceOption(sql.transactionService)
    return yield* open._tag === "Some" ? alone : shared(request, alone)
  })

  const write: (typeof Journal.Service)["write"] = Effect.fnUntraced(function* (fence, write) {
    const at = yield* now
    const { begins, newChapter, execution } = write
    const statement = newChapter === true || execution.tags !== undefined ? large : plain
    const written = yield* isPostgres && ManyWrites.isCommon(write)
      ? common({ fence, write, at })
      : persist(statement(fence, write, at))
    if (written === null) {
      if (begins === true && (yield* isMine(fence))) return false
      return yield* new OwnershipLost({ id: fence.id })
    }
    if (execution.state !== undefined && hasEnded(execution.state)) publish([null, fence.id, true])
    else if (isReleased(execution) && isDue(written, at)) publish([null, fence.id, false])
    return true
  })

  return write
}
