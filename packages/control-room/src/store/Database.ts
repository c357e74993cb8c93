/**
 * What all repositories share: transactions, time, new ids, pages.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { randomBytes } from "node:crypto"
import * as Dialect from "./Dialect.ts"

/** Where a page of a list starts and how long it is. */
export interface PageRequest {
  /** The id of the last item of the page before, null for the first page. */
  readonly after: string | null
  readonly limit: number
}

/** A page of rows, and whether more follow. */
export interface Rows<A> {
  readonly rows: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** Milliseconds by which a clock may jump ahead before uploads are refused as late. */
export const clockTolerance = 5 * 60 * 1000

/** How many random bytes are asked of the system at once: an id takes 16, and asking costs more than the bytes. */
const poolSize = 4096

const layerRandom = Layer.sync(SecureRandom.SecureRandom, () => {
  let pool = new Uint8Array(0)
  return SecureRandom.make((size) => {
    if (size > poolSize) return randomBytes(size)
    if (pool.length < size) pool = randomBytes(poolSize)
    const bytes = pool.subarray(0, size)
    // Given to one alone, who may write on it.
    pool = pool.subarray(size)
    return bytes
  })
})

/**
 * A failing statement is a defect here: the edge turns a database that is away into a 503 and all else into a 500.
 * What callers act on (a name that is taken) the repositories catch themselves.
 */
export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /** All or nothing. Holds statements only: no HTTP and no disk inside. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Now in milliseconds since 1970, by the clock of the database where it has one: the same on all nodes. */
    readonly millis: Effect.Effect<number>
    /** Now, as stored. */
    readonly now: Effect.Effect<string>
    /** A new UUIDv7, greater than all before it. */
    readonly newId: Effect.Effect<string>
    /** Fails as writes do while the database has no room for them; leaves nothing behind. */
    readonly probeWrite: Effect.Effect<void, SqlError>
    /** One page by key: `select` with `conditions`, ordered by id. */
    readonly page: <A extends object>(
      select: Fragment,
      conditions: ReadonlyArray<Fragment>,
      order: "oldest first" | "newest first",
      request: PageRequest
    ) => Effect.Effect<Rows<A>>
    /** Null instead of a unique violation. */
    readonly nullWhenTaken: <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.Effect<A | null, never, R>
    /**
     * A page filtered by what `parents` looks up, empty when there is no such row. That one belongs to the workspace is
     * then known, and no condition of the page: with two that have an index, a database may walk the wrong one.
     */
    readonly below: <A>(parents: Fragment, rows: Effect.Effect<Rows<A>>) => Effect.Effect<Rows<A>>
  }
>()("@signalbox/control-room/store/Database") {
  static readonly layer = Layer.effect(
    Database,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const guarded = Dialect.guarded(sql)
      let offset = yield* Effect.orDie(Dialect.clockOffset(sql))
      if (Dialect.isPostgres(sql)) {
        const measure = Effect.map(Dialect.clockOffset(sql), (measured) => {
          offset = measured
        })
        yield* Effect.ignore(measure).pipe(Effect.delay("1 minute"), Effect.forever, Effect.forkScoped)
      }
      const millis = Effect.map(Clock.currentTimeMillis, (local) => local + offset)
      const empty = { rows: [], hasMore: false }
      return Database.of({
        sql,
        transaction: (effect) =>
          Dialect.persistent(
            sql,
            Effect.catchIf(sql.withTransaction(effect), isSqlError, (error) => Effect.die(error))
          ),
        below: (parents, rows) =>
          Effect.flatMap(Effect.orDie(sql`${parents}`), (found) => (found.length === 0 ? Effect.succeed(empty) : rows)),
        millis,
        now: Effect.map(millis, (time) => new Date(time).toISOString()),
        newId: random.uuidV7(),
        // A table takes a new page, which an update would not.
        probeWrite: sql.withTransaction(
          Effect.andThen(
            sql.unsafe(`CREATE TABLE "write probe" (n INTEGER)`),
            Effect.asVoid(sql.unsafe(`DROP TABLE "write probe"`))
          )
        ),
        page: <A extends object>(
          select: Fragment,
          conditions: ReadonlyArray<Fragment>,
          order: "oldest first" | "newest first",
          { after, limit }: PageRequest
        ) => {
          const newest = order === "newest first"
          const start = after === null ? [] : [newest ? sql`id < ${after}` : sql`id > ${after}`]
          const where = sql.and([...conditions, ...start])
          const direction = sql.literal(newest ? "DESC" : "ASC")
          return Effect.orDie(
            Effect.map(
              sql<A>`${select} WHERE ${where} ORDER BY id ${direction} LIMIT ${limit + 1}`,
              (rows): Rows<A> => ({ rows: rows.slice(0, limit), hasMore: rows.length > limit })
            )
          )
        },
        nullWhenTaken: (effect) =>
          guarded(effect).pipe(
            Effect.catchIf(
              (error) => error.reason._tag === "UniqueViolation",
              () => Effect.succeed(null)
            ),
            Effect.orDie
          )
      })
    })
  ).pipe(Layer.provide(layerRandom))
}
