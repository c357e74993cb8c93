/**
 * The connection of a transaction. What nobody waits for, such as BEGIN and writes that return no rows, is kept and sent in one write
 * with the statement that follows: a round trip costs more than most statements. After a failed statement the server refuses all others
 * up to the end of the transaction, and turns COMMIT into a rollback, so the first failure is the one that counts.
 */
import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"

type Params = ReadonlyArray<unknown>

export interface Transaction extends Pick<PgConnection, "query" | "queryValues" | "stream"> {
  /** Keeps a statement; its failure is that of the statement that it is sent with. */
  readonly keep: (sql: string, params: Params) => Kept
  /** Whether many statements are kept. */
  readonly isFull: () => boolean
  /** Sends what is kept, and waits for it. */
  readonly flush: Effect.Effect<void, SqlError>
}

export interface Kept {
  readonly sql: string
  readonly params: Params
  /** Null until it was answered. */
  rows: ReadonlyArray<object> | null
  /** BEGIN, SAVEPOINT, and what belongs to them: not worth a round trip without a statement. */
  readonly isControl: boolean
}

/** How many statements are kept at most. */
const most = 32

const nothing: Result = { command: "", rowCount: 0, oid: null, rows: [], fields: [] }

/** Sends a request at once, behind those that were sent before. */
export const send = <A>(request: Effect.Effect<A, SqlError>) => Effect.forkChild(request, { startImmediately: true })

/** Leases a connection for a transaction; `settings` is a statement that follows BEGIN. */
export const make = Effect.fnUntraced(function* (pool: PgPool, settings: string | null) {
  const connection = yield* pool.get
  const kept: Array<Kept> = []
  /** Whether anything was sent since the last end of a transaction that the server has confirmed. */
  let isOpen = false
  // Another transaction must not find this one open, nor its answers.
  yield* Effect.addFinalizer(() => (isOpen ? pool.invalidate(connection) : Effect.void))

  // A name that the server has lost is prepared again after the statements behind it: never BEGIN.
  const answer = (kept: Kept) =>
    Effect.map(connection.query(kept.sql, kept.params, !kept.isControl), ({ rows }) => {
      kept.rows = rows
    })
  /** Sends a statement behind all that is kept. */
  const together = <A>(request: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.suspend(() => {
      isOpen = true
      return kept.length === 0 ? request : behind(kept.splice(0), request)
    })
  const behind = Effect.fnUntraced(function* <A>(before: ReadonlyArray<Kept>, request: Effect.Effect<A, SqlError>) {
    const sent: Array<Fiber.Fiber<unknown, SqlError>> = []
    for (const one of before) sent.push(yield* send(answer(one)))
    const last = yield* send(request)
    yield* Fiber.awaitAll([...sent, last])
    for (const one of sent) yield* Fiber.join(one)
    return yield* Fiber.join(last)
  })
  const drain = Effect.suspend(() => {
    const last = kept.pop()
    return last === undefined ? Effect.void : together(answer(last))
  })
  const flush = Effect.suspend(() => (kept.every(({ isControl }) => isControl) ? Effect.void : drain))
  const keep = (sql: string, params: Params, isControl: boolean) => {
    const one: Kept = { sql, params, rows: null, isControl }
    kept.push(one)
    return one
  }
  const control = (sql: string) => {
    keep(sql, [], true)
    return nothing
  }
  const end = (sql: string) =>
    together(
      Effect.tap(connection.query(sql), () =>
        Effect.sync(() => {
          isOpen = false
        })
      )
    )

  /** By the first words of a statement, how it begins or ends a transaction or a part of one; all others are sent. */
  const controls: ReadonlyArray<readonly [RegExp, (sql: string) => Effect.Effect<Result, SqlError>]> = [
    [
      /^BEGIN\b/,
      (sql) =>
        Effect.sync(() => {
          control(sql)
          return settings === null ? nothing : control(settings)
        })
    ],
    [/^(SAVEPOINT|RELEASE)\b/, (sql) => Effect.sync(() => control(sql))],
    [
      /^ROLLBACK TO\b/,
      (sql) =>
        Effect.sync(() => {
          // What was not sent since the savepoint never is.
          const name = sql.slice(sql.lastIndexOf(" "))
          kept.length = kept.findLastIndex((one) => one.sql === `SAVEPOINT${name}`) + 1
          return control(sql)
        })
    ],
    [
      /^ROLLBACK\b/,
      (sql) =>
        Effect.suspend(() => {
          kept.length = 0
          return isOpen ? end(sql) : Effect.succeed(nothing)
        })
    ],
    [
      /^COMMIT\b/,
      (sql) =>
        Effect.suspend(() => {
          if (isOpen || !kept.every(({ isControl }) => isControl)) return end(sql)
          kept.length = 0
          return Effect.succeed(nothing)
        })
    ]
  ]
  const mayControl = /^[BCRS][A-Z]+\b/
  const transaction: Transaction = {
    query: (sql, params, prepare) => {
      const found = mayControl.test(sql) ? controls.find(([words]) => words.test(sql)) : undefined
      return found === undefined ? together(connection.query(sql, params, prepare)) : found[1](sql)
    },
    queryValues: (sql, params, prepare) => together(connection.queryValues(sql, params, prepare)),
    stream: (sql, params) => Stream.unwrap(Effect.as(drain, connection.stream(sql, params))),
    keep: (sql, params) => keep(sql, params, false),
    isFull: () => kept.length >= most,
    flush
  }
  return transaction
})
