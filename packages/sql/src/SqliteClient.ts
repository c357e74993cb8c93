/**
 * The `SqlClient` of `effect/sql` over `node:sqlite`. Deliberately thin: prepared statements, the same errors and types
 * as on Postgres, one connection whose writers take turns, and one for reads of committed data at any time. (The
 * official driver does not support effect 4.1 yet; this one will be replaced by it.)
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Client from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import { chmodSync, closeSync, existsSync, openSync } from "node:fs"
import { open as openFile } from "node:fs/promises"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import * as Checkpoints from "./internal/sqlite/Checkpoints.ts"
import * as Direct from "./internal/sqlite/Direct.ts"
import * as Reads from "./internal/sqlite/Reads.ts"
import * as Turns from "./internal/sqlite/Turns.ts"

/** The database file cannot be opened: another process uses it, its disk is full, or it is not a database. */
export class SqliteOpenError extends Schema.TaggedError<SqliteOpenError>()("SqliteOpenError", {
  filename: Schema.String,
  message: Schema.String
}) {}

export interface Options {
  /** A path, or `:memory:`. The folder must exist. */
  readonly filename: string
}

const SQLITE_BUSY = 5
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555
const SQLITE_CONSTRAINT_UNIQUE = 2067
const preparedLimit = 500

const errorText = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** `node:sqlite` names the code `errcode`; a primary key conflict must be a unique violation, as on Postgres. */
const toSqlError = (cause: unknown, operation: string): SqlError => {
  const code = Predicate.hasProperty(cause, "errcode") ? cause.errcode : undefined
  const known =
    typeof code === "number"
      ? {
          message: errorText(cause),
          errno: code === SQLITE_CONSTRAINT_PRIMARYKEY ? SQLITE_CONSTRAINT_UNIQUE : code,
          cause
        }
      : cause
  return new SqlError({ reason: classifySqliteError(known, { message: errorText(cause), operation }) })
}

const toInput = (value: unknown): SQLInputValue => {
  switch (typeof value) {
    case "boolean":
      return value ? 1 : 0
    case "undefined":
      return null
    case "string":
    case "number":
    case "bigint":
      return value
    default:
      if (value === null || value instanceof Uint8Array) return value
      if (value instanceof Date) return value.toISOString()
      return JSON.stringify(value)
  }
}

const isPragma = /^\s*PRAGMA\b/i

/**
 * SQLite plans a statement with `LIMIT ?` anew whenever a value is bound, which takes many times as long as running it; with a computed
 * limit it does not.
 */
const planned = (sql: string) =>
  sql.replaceAll(/'[^']*'|\bLIMIT \?/gi, (part) => (part.startsWith("'") ? part : "LIMIT (? + 0)"))

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  /** The names of the columns of its rows. */
  names: ReadonlyArray<string>
  bigInts: boolean
}

const namesOf = (statement: StatementSync) => statement.columns().map(({ name }) => name)

type Values = ReadonlyArray<unknown>

/**
 * Rows with names. `node:sqlite` would return objects that engines treat as dictionaries: creating and reading those of a page costs
 * more than its statement.
 */
const named = (names: ReadonlyArray<string>, rows: ReadonlyArray<Values>): ReadonlyArray<object> =>
  rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let column = 0; column < names.length; column++) row[names[column] ?? ""] = values[column]
    return row
  })

/** Runs statements synchronously on one connection; `before` runs before each of them. */
const runnerOf = (db: DatabaseSync, before: () => void = () => {}) => {
  // Least recently used first, once there are many: a Map keeps the order of insertion.
  const prepared = new Map<string, Prepared>()
  const prepare = (sql: string): Prepared => {
    let entry = prepared.get(sql)
    if (entry === undefined) {
      const statement = db.prepare(planned(sql))
      const names = namesOf(statement)
      // A pragma may have several steps without a column; `run` would do the first.
      const returnsRows = names.length > 0 || isPragma.test(sql)
      statement.setReturnArrays(true)
      entry = { statement, returnsRows, names, bigInts: false }
      if (prepared.size >= preparedLimit) {
        const oldest = prepared.keys().next()
        if (oldest.done !== true) prepared.delete(oldest.value)
      }
    } else {
      if (prepared.size < preparedLimit) return entry
      prepared.delete(sql)
    }
    prepared.set(sql, entry)
    return entry
  }
  // The caller of a statement states the type of its rows, as everywhere in SQL.
  return <Row>(
    sql: string,
    params: ReadonlyArray<unknown>,
    arrays: boolean
  ): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
    Effect.withFiber((fiber) =>
      Effect.try({
        try: () => {
          const entry = prepare(sql)
          before()
          const { returnsRows, statement } = entry
          const inputs = params.map(toInput)
          if (!returnsRows) {
            statement.run(...inputs)
            return []
          }
          const bigInts = fiber.getRef(Client.SafeIntegers)
          if (entry.bigInts !== bigInts) statement.setReadBigInts((entry.bigInts = bigInts))
          // That is what `setReturnArrays` makes of them.
          const rows = statement.all(...inputs) as ReadonlyArray<unknown> as ReadonlyArray<Values>
          // A migration has changed the columns of a `SELECT *`.
          if (rows[0] !== undefined && rows[0].length !== entry.names.length) entry.names = namesOf(statement)
          // The caller of a statement states the type of its rows, as everywhere in SQL.
          return (arrays ? rows : named(entry.names, rows)) as ReadonlyArray<unknown> as ReadonlyArray<Row>
        },
        catch: (cause) => toSqlError(cause, "execute")
      })
    )
}

type Run = ReturnType<typeof runnerOf>

const connectionOf = (run: Run): Connection => {
  const execute: Connection["execute"] = (sql, params, transformRows) =>
    transformRows === undefined
      ? run<object>(sql, params, false)
      : Effect.map(run<object>(sql, params, false), transformRows)
  return {
    execute,
    executeRaw: (sql, params) => run(sql, params, false),
    executeValues: (sql, params) => run(sql, params, true),
    executeValuesUnprepared: (sql, params) => run(sql, params, true),
    executeUnprepared: execute,
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(Effect.map(execute(sql, params, transformRows), (rows) => Stream.fromIterable(rows)))
  }
}

/** The remedy, by primary result code of SQLite. */
const remedies: Readonly<Record<number, string>> = {
  5: "another process uses it: stop it first, or choose another data folder",
  8: "it is read-only: give this user write access to the file and its folder",
  10: "its disk failed or is full: free space, and check the disk",
  11: "it is damaged: restore a backup",
  13: "its disk is full: free space",
  14: "check that its folder exists and that this user may write there, free space, and raise the limit of open files",
  26: "it is not a database, or it is damaged: restore a backup"
}

const openError = (filename: string) => (cause: unknown) => {
  const code = Predicate.hasProperty(cause, "errcode") ? cause.errcode : undefined
  const remedy = typeof code === "number" ? remedies[code & 0xff] : undefined
  const message = `cannot open ${filename}: ${errorText(cause)}`
  return new SqliteOpenError({ filename, message: remedy === undefined ? message : `${message}; ${remedy}` })
}

/**
 * Makes the files readable for their owner only. SQLite creates the log and its index with the mode of the database. An
 * existing file is not opened here: closing it would release the locks of this process.
 */
const protect = (filename: string) =>
  Effect.try({
    try: () => {
      if (!existsSync(filename)) closeSync(openSync(filename, "wx", 0o600))
      for (const suffix of ["", "-wal", "-shm"]) {
        if (existsSync(filename + suffix)) chmodSync(filename + suffix, 0o600)
      }
    },
    catch: openError(filename)
  })

const open = (filename: string, readOnly = false) =>
  Effect.acquireRelease(
    Effect.try({ try: () => new DatabaseSync(filename, { readOnly }), catch: openError(filename) }),
    (db) => Effect.sync(() => db.close())
  )

/**
 * Holds an exclusive lock on a file beside the database, so that two processes never write one database. The operating
 * system releases it when the process ends, however it ends.
 */
const lock = Effect.fnUntraced(function* (filename: string) {
  yield* protect(`${filename}.lock`)
  const db = yield* open(`${filename}.lock`)
  yield* Effect.try({
    try: () => db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"),
    catch: (cause) =>
      Predicate.hasProperty(cause, "errcode") && cause.errcode === SQLITE_BUSY
        ? new SqliteOpenError({
            filename,
            message: `another process uses ${filename}: stop it first, or choose another data folder`
          })
        : openError(filename)(cause)
  })
})

/**
 * Commits neither wait for the disk nor copy the log into the database: both happen outside the event loop, and a
 * commit is reported only when it is on the disk. The log is truncated to 64 MB after it was longer. The cache has 16
 * MB instead of 2.
 */
const settings = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA cache_size = -16000`

/**
 * A new file can give free pages back in slices (`PRAGMA incremental_vacuum`); one that has tables needs `compact` for it, and is
 * not written to.
 */
const settingsOfNew = "PRAGMA auto_vacuum = INCREMENTAL;"

const isNew = (db: DatabaseSync) => db.prepare("PRAGMA page_count").get()?.["page_count"] === 0

/** Pages of the log (of 4 KB) after which writers wait until it is copied. */
const restartAfter = 16_000

/** Syncs the log outside the event loop. Opens it on first use, because it exists only then. */
const syncOf = Effect.fnUntraced(function* (filename: string) {
  const scope = yield* Scope.Scope
  const attempt = <A>(use: () => Promise<A>) =>
    Effect.tryPromise({ try: use, catch: (cause) => toSqlError(cause, "commit") })
  const log = yield* Effect.acquireRelease(
    attempt(() => openFile(`${filename}-wal`, "r+")),
    (handle) => Effect.ignore(attempt(() => handle.close()))
  ).pipe(Scope.provide(scope), Effect.cached)
  return Effect.flatMap(log, (handle) => attempt(() => handle.datasync()))
})

/** Matches statements that certainly only read; all others count as writes. */
const isRead = /^\s*SELECT\b/i

const make = Effect.fnUntraced(function* ({ filename }: Options) {
  const inMemory = filename === ":memory:"
  if (!inMemory) {
    yield* lock(filename)
    yield* protect(filename)
  }
  const db = yield* open(filename)
  yield* Effect.try({
    try: () => db.exec(isNew(db) ? settingsOfNew + settings : settings),
    catch: openError(filename)
  })
  let lost = toSqlError(new Error("the database rolled the transaction back"), "commit")
  const runOnWriter = runnerOf(db)
  const write: Run = (sql, params, arrays) =>
    Effect.tapError(runOnWriter(sql, params, arrays), (error) =>
      Effect.sync(() => {
        if (!db.isTransaction) lost = error
      })
    )
  const reader = inMemory ? null : yield* open(filename, true)
  const reads = reader === null ? null : yield* Reads.make(reader)
  let committed = () => {}
  const turns = yield* Turns.make({
    run: (sql) => Effect.asVoid(write(sql, [], false)),
    isTransaction: () => db.isTransaction,
    // In memory no commit waits for a disk.
    shared: !inMemory,
    whyLost: () => lost,
    beforeCommit: Effect.try({ try: () => reads?.pin(), catch: (cause) => toSqlError(cause, "commit") }),
    sync: inMemory ? Effect.void : yield* syncOf(filename),
    synced: () => {
      reads?.unpin()
      committed()
    }
  })
  if (!inMemory) {
    const { exclusively } = turns
    const checkpoints = yield* Checkpoints.make({ filename, delay: 1000, restartAfter, exclusively })
    committed = checkpoints.committed
  }
  const read: Run =
    reader === null || reads === null
      ? (sql, params, arrays) => turns.between(write(sql, params, arrays))
      : runnerOf(reader, reads.begin)
  const outside = connectionOf((sql, params, arrays) =>
    isRead.test(sql) ? read(sql, params, arrays) : turns.once(write(sql, params, arrays))
  )
  // After SQLite has rolled the transaction back by itself, a further statement would be committed alone.
  const inside = connectionOf((sql, params, arrays) =>
    Effect.suspend(() => (db.isTransaction ? write(sql, params, arrays) : Effect.fail(lost)))
  )
  const client = yield* Client.make({
    acquirer: Effect.succeed(outside),
    borrower: (use) => use(outside),
    transactionAcquirer: Effect.as(turns.take, inside),
    beginTransaction: `SAVEPOINT ${Turns.savepoint}`,
    rollback: `ROLLBACK TO ${Turns.savepoint}`,
    commit: () => turns.commit,
    isTransaction: () => db.isTransaction,
    compiler: Statement.makeCompilerSqlite(),
    driver: "node-sqlite",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "sqlite"]]
  })
  return Direct.of(client, outside)
})

/**
 * Writes a file anew without its free pages, so that from then on it can give free pages back in slices. Blocks the event loop for
 * as long as it takes, and needs free space for a copy of what the file holds, twice: in the folder of temporary files
 * (`SQLITE_TMPDIR`), and beside it. When it fails or is killed, the file is as it was.
 *
 * Fails with `SqliteOpenError`, for example when another process uses the file.
 *
 * ```ts
 * import * as SqliteClient from "@signalbox/sql/SqliteClient"
 *
 * export const compacted = SqliteClient.compact({
 *   filename: ".signalbox/control-room.db"
 * })
 * ```
 */
export const compact = Effect.fn("SqliteClient.compact")(function* ({ filename }: Options) {
  if (!existsSync(filename)) return yield* missing(filename)
  yield* lock(filename)
  const db = yield* open(filename)
  yield* Effect.try({
    // The first statement decides what the second writes. The last copies the log, so that the file itself is small.
    try: () => db.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"),
    catch: openError(filename)
  })
}, Effect.scoped)

const missing = (filename: string) =>
  new SqliteOpenError({ filename, message: `${filename} does not exist: give the right data folder` })

const makeReadOnly = Effect.fnUntraced(function* ({ filename }: Options) {
  // SQLite reports a missing file as one that cannot be opened.
  if (!existsSync(filename)) return yield* missing(filename)
  const connection = connectionOf(runnerOf(yield* open(filename, true)))
  return yield* Client.make({
    acquirer: Effect.succeed(connection),
    borrower: (use) => use(connection),
    compiler: Statement.makeCompilerSqlite(),
    driver: "node-sqlite",
    spanAttributes: [["db.system.name", "sqlite"]]
  })
})

/** A `SqlClient` that reads a file which another process may be using; every write fails. */
export const layerReadOnly = (options: Options): Layer.Layer<Client.SqlClient, SqliteOpenError> =>
  Layer.provide(
    Layer.effectContext(Effect.map(makeReadOnly(options), (client) => Context.make(Client.SqlClient, client))),
    Reactivity.layer
  )

/**
 * A `SqlClient` on one file, which no other process may open at the same time.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as SqlClient from "effect/sql/SqlClient"
 * import * as SqliteClient from "@signalbox/sql/SqliteClient"
 * import { integer, queryOne, Row } from "@signalbox/sql/Table"
 *
 * export const one = Effect.gen(function* () {
 *   const sql = yield* SqlClient.SqlClient
 *   return yield* queryOne(Row({ n: integer }), sql`SELECT 1 AS n`)
 * }).pipe(Effect.provide(SqliteClient.layer({ filename: ":memory:" })))
 * ```
 */
export const layer = (options: Options): Layer.Layer<Client.SqlClient, SqliteOpenError> =>
  Layer.provide(
    Layer.effectContext(Effect.map(make(options), (client) => Context.make(Client.SqlClient, client))),
    Reactivity.layer
  )
