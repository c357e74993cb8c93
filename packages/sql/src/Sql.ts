/**
 * SQL without an error channel. A caller can do nothing about most failures of a statement, so they are defects, which the edge
 * of the program turns into a response (`StorageFailure`). The few that a caller acts on are asked for by name: `whenTaken`,
 * `isGone`, and `StorageFailure.ofCause` for a storage that is unavailable or full.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import type * as Fiber from "effect/Fiber"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Fragments from "effect/sql/Statement"
import * as Dialect from "./Dialect.ts"
import * as Later from "./internal/postgres/Later.ts"
import * as Direct from "./internal/sqlite/Direct.ts"
import type { Stored } from "./Table.ts"

/** A statement, or a part of one. Its rows have no type: `Table.query` parses them by their declaration. */
export interface Statement extends Fragments.Fragment, Effect.Effect<ReadonlyArray<object>> {
  readonly compile: () => Compiled
}

/** The `SqlClient` whose statements have no error channel. */
export interface Sql extends Pick<
  SqlClient,
  "afterCommit" | "and" | "csv" | "in" | "insert" | "join" | "literal" | "onDialectOrElse" | "or" | "update"
> {
  /** The name of a table or a column, quoted. */
  (name: string): Fragments.Identifier
  (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Statement
  readonly unsafe: (text: string, params?: ReadonlyArray<unknown>) => Statement
  /**
   * A statement whose text is put together once: each call only binds values, in the order of the template, in place of those that it
   * was declared with. For statements of every request.
   */
  readonly fixed: (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) => Fixed
  /**
   * Runs a statement before the one that follows, and returns its rows to who asks for them: on Postgres, the two are one round trip in
   * a transaction. For a lock and a read behind it.
   *
   * ```ts
   * import type { Sql } from "@signalbox/sql/Sql"
   * import * as Effect from "effect/Effect"
   *
   * export const locked = (sql: Sql) =>
   *   Effect.gen(function* () {
   *     const locking = yield* sql.ahead(sql`SELECT id FROM shelf FOR UPDATE`)
   *     const items = yield* sql`SELECT id FROM item`
   *     return { shelves: yield* locking, items }
   *   })
   * ```
   */
  readonly ahead: (statement: Statement) => Effect.Effect<Effect.Effect<ReadonlyArray<object>>>
}

/** Runs a statement of a fixed text with these values. */
export type Fixed = (...values: ReadonlyArray<Stored>) => Effect.Effect<ReadonlyArray<object>>

/** The text of a statement with its values. */
type Compiled = readonly [text: string, values: ReadonlyArray<unknown>]

class Quiet extends Effectable.Class<ReadonlyArray<object>> {
  readonly statement: Fragments.Statement<object>
  readonly run: (statement: Fragments.Statement<object>) => Effect.Effect<ReadonlyArray<object>>
  constructor(statement: Fragments.Statement<object>, run: Quiet["run"]) {
    super()
    this.statement = statement
    this.run = run
  }
  asEffect() {
    return this.run(this.statement)
  }
  compile(): Compiled {
    return this.statement.compile()
  }
}

/**
 * Makes the failures of statements defects.
 *
 * ```ts
 * import * as Sql from "@signalbox/sql/Sql"
 * import { integer, queryOne, Row } from "@signalbox/sql/Table"
 * import * as Effect from "effect/Effect"
 * import * as SqlClient from "effect/sql/SqlClient"
 *
 * export const count = Effect.gen(function* () {
 *   const sql = Sql.make(yield* SqlClient.SqlClient)
 *   const counted = Row({ n: integer })
 *   return yield* queryOne(counted, sql`SELECT count(*) AS n FROM item`)
 * })
 * ```
 */
export const make = (client: SqlClient): Sql => {
  function sql(strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Statement
  function sql(name: string): Fragments.Identifier
  function sql(first: TemplateStringsArray | string, ...values: ReadonlyArray<unknown>) {
    return typeof first === "string" ? client(first) : quiet(client<object>(first, ...values))
  }
  const connection = Direct.connectionOf(client)
  /** The connection for a statement, if it is at hand and nobody watches the statement. */
  const connectionFor = (fiber: Fiber.Fiber<unknown, unknown>) => {
    const [current] = Context.getOrUndefined(fiber.context, client.transactionService) ?? [connection]
    const isWatched = fiber.cache.tracerEnabled || fiber.getRef(Fragments.CurrentTransformer) !== undefined
    return isWatched ? null : current
  }
  const runnerOf =
    <A>(watched: (given: A) => Fragments.Statement<object>, compiled: (given: A) => Compiled) =>
    (given: A): Effect.Effect<ReadonlyArray<object>> =>
      Effect.withFiber((fiber) => {
        const current = connectionFor(fiber)
        if (current === null) return Effect.orDie(watched(given))
        const [text, values] = compiled(given)
        return Effect.orDie(Later.execute(current, text, values))
      })
  const ahead: Sql["ahead"] = (statement) =>
    Effect.withFiber((fiber) => {
      const current = connectionFor(fiber)
      if (current === null) return Effect.map(statement, Effect.succeed)
      const [text, values] = statement.compile()
      return Effect.orDie(Effect.map(Later.ahead(current, text, values), Effect.orDie))
    })
  const run = runnerOf<Fragments.Statement<object>>(
    (statement) => statement,
    (statement) => statement.compile()
  )
  const runFixed = runnerOf<Compiled>(
    ([text, values]) => client.unsafe(text, values),
    (compiled) => compiled
  )
  const quiet = (statement: Fragments.Statement<object>): Statement =>
    Object.assign(new Quiet(statement, run), Fragments.fragment(statement.segments))
  const fixed = (strings: TemplateStringsArray, ...parts: ReadonlyArray<unknown>): Fixed => {
    const [text, given] = client<object>(strings, ...parts).compile()
    return (...values) =>
      values.length === given.length
        ? runFixed([text, values])
        : Effect.die(new Error(`${values.length} values for the ${given.length} of ${text}`))
  }
  const { afterCommit, and, csv, in: isIn, insert, join, literal, onDialectOrElse, or, update } = client
  const rest = { afterCommit, and, csv, in: isIn, insert, join, literal, onDialectOrElse, or, update }
  return Object.assign(sql, rest, {
    ahead,
    fixed,
    unsafe: (text: string, params?: ReadonlyArray<unknown>) => quiet(client.unsafe(text, params))
  })
}

/** Runs an effect atomically; a failure of the storage is a defect. */
export const transaction = <A, E, R>(client: SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchIf(client.withTransaction(effect), isSqlError, Effect.die)

const sqlErrorOf = (cause: Cause.Cause<unknown>): SqlError | undefined =>
  cause.reasons.flatMap((reason) => {
    // What a transaction has kept until its end fails with it.
    const error = Cause.isDieReason(reason) ? reason.defect : Cause.isFailReason(reason) ? reason.error : undefined
    return isSqlError(error) ? [error] : []
  })[0]

const isTaken = (cause: Cause.Cause<unknown>): boolean => sqlErrorOf(cause)?.reason._tag === "UniqueViolation"

/** Runs an effect of statements; when a value that must be unique is in use, undoes it and returns `otherwise`. */
export const whenTaken = <A, E, R, B>(
  client: SqlClient,
  effect: Effect.Effect<A, E, R>,
  otherwise: B
): Effect.Effect<A | B, E, R> =>
  Effect.catchCauseIf(Dialect.guarded(client)(effect), isTaken, () => Effect.succeed(otherwise)).pipe(
    Effect.catchIf(isSqlError, Effect.die)
  )

/** Whether a row that a statement refers to does not exist: it was deleted between the read and the write. */
export const isGone = (cause: Cause.Cause<unknown>): boolean => {
  const error = sqlErrorOf(cause)
  return error !== undefined && Dialect.isMissingReference(error)
}
