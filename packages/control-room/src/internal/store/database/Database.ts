/** What all repositories share: transactions, time, new ids, pages. */
import type { ProcessId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { createHash, randomBytes } from "node:crypto"
import { IdSeed } from "../../settings/IdSeed.ts"
import { limits } from "../../settings/Limits.ts"
import * as DatabaseClock from "@signalbox/sql/DatabaseClock"
import * as Dialect from "@signalbox/sql/Dialect"
import * as Sql from "@signalbox/sql/Sql"
import { type Columns, integer, nullable, parse, query, Row, type RowOf, text } from "@signalbox/sql/Table"

/** The start of a page of a list, and its length. */
export interface PageRequest {
  /** The id of the last item of the previous page, null for the first page. */
  readonly after: string | null
  readonly limit: number
  /** Only rows with exactly this name, of a table that has names; default: all. */
  readonly name?: string | undefined
  /** Waits for memory for this many bytes. Called before they are read, and only for a page that is not small. */
  readonly reserve?: (bytes: number) => Effect.Effect<void>
}

/** What a page selects. */
export interface PageSelect<C extends Columns, B = RowOf<C>> {
  readonly rows: Row<C>
  /** A whole `SELECT` up to its conditions. */
  readonly select: Fragment
  /** What becomes of a row; default: it is returned as it is. */
  readonly as?: ((row: RowOf<C>) => B) | undefined
}

/** What a page selects where its rows can be long. */
export interface Wide<C extends Columns, B = RowOf<C>> {
  readonly rows: Row<C>
  readonly table: string
  /** The columns with texts of any length. */
  readonly long: ReadonlyArray<keyof C & string>
  /** Whether these are plain text, which grows when it is encoded as JSON, and not JSON already. */
  readonly plain?: boolean | undefined
  /** SQL for the bytes that a row adds to its page besides the long texts; `rows` may have them as `extra_bytes`. */
  readonly extraBytes?: string | undefined
  readonly as?: ((row: RowOf<C>) => B) | undefined
}

/** The columns that a page counts its bytes by. */
const measuredRow = Row({ id: text, long_bytes: nullable(integer), extra_bytes: integer })
type Measured = typeof measuredRow.Type

/** The approximate JSON size of the other fields of a row. */
const rowBytes = 512

/** A page of rows, and whether more follow. */
export interface Rows<A> {
  readonly rows: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** Milliseconds by which a clock may jump ahead before uploads are refused as expired. */
export const clockTolerance = 5 * 60 * 1000

/** The prefix of a page that fits into the maximum size, and its bytes; always with the first row. */
const cut = <A>(page: Rows<A>, bytesOf: (row: A) => number): Rows<A> & { readonly bytes: number } => {
  let bytes = 0
  const end = page.rows.findIndex((row, index) => {
    const next = bytes + bytesOf(row)
    if (index > 0 && next > limits.page) return true
    bytes = next
    return false
  })
  return end === -1 ? { ...page, bytes } : { rows: page.rows.slice(0, end), hasMore: true, bytes }
}

/** Groups the ids of rows into parts with about a megabyte of long texts each. */
const partsOf = (rows: ReadonlyArray<Measured>): ReadonlyArray<ReadonlyArray<string>> => {
  const parts: Array<Array<string>> = []
  let bytes = Infinity
  for (const { id, long_bytes } of rows) {
    if (bytes > limits.readAtOnce) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(id)
    bytes += long_bytes ?? 0
  }
  return parts
}

const transactionSeconds = Metric.histogram("signalbox_database_transaction_seconds", {
  description: "Duration of transactions, including the time waiting for others",
  boundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

/** Records how long a transaction takes; a nested one is part of the outer. */
const timed = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    if (Option.isSome(Context.getOption(fiber.context, sql.transactionService))) return effect
    const clock = fiber.getRef(Clock.Clock)
    const started = clock.monotonicTimeNanosUnsafe()
    return Effect.onExit(effect, () =>
      Effect.sync(() => {
        const seconds = Number(clock.monotonicTimeNanosUnsafe() - started) / 1e9
        transactionSeconds.updateUnsafe(seconds, fiber.context)
      })
    )
  })

/** Random bytes requested from the system in one call: an id takes 16, and a call costs more than the bytes. */
const poolSize = 4096

const pooled = () => {
  let pool = new Uint8Array(0)
  return SecureRandom.make((size) => {
    if (size > poolSize) return randomBytes(size)
    if (pool.length < size) pool = randomBytes(poolSize)
    const bytes = pool.subarray(0, size)
    // Each part is returned once, so its receiver may write to it.
    pool = pool.subarray(size)
    return bytes
  })
}

/** The same bytes for a seed, always: the hashes of the seed and a counter. */
const seeded = (seed: string) => {
  let counter = 0
  return SecureRandom.make((size) => {
    const blocks = Array.from({ length: Math.ceil(size / 32) }, () =>
      createHash("sha256").update(`${seed} ${counter++}`).digest()
    )
    return Buffer.concat(blocks).subarray(0, size)
  })
}

const layerRandom = Layer.effect(
  SecureRandom.SecureRandom,
  Effect.map(IdSeed, (seed) => (seed === null ? pooled() : seeded(seed)))
)

/**
 * What repositories use. A failing statement is a defect: the edge turns an unavailable database into a 503 and everything else
 * into a 500. What callers act on is asked for by name (`nullWhenTaken`).
 */
export class Database extends Context.Service<
  Database,
  {
    readonly sql: Sql.Sql
    /** The client itself, whose statements can fail: for commands that say in their own words why storage failed. */
    readonly client: SqlClient.SqlClient
    /** Runs an effect atomically. It must contain statements only: neither HTTP nor disk access. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * The current time in milliseconds since 1970, by the clock of the database if it has one: the same on all nodes.
     */
    readonly millis: Effect.Effect<number>
    /** The current time in its stored form. */
    readonly now: Effect.Effect<string>
    /** A new UUIDv7, greater than all before it. */
    readonly newId: Effect.Effect<string>
    /** Fails like reads while the database cannot be reached. */
    readonly probeRead: Effect.Effect<void, SqlError>
    /** Fails like writes while the database has no space for them; leaves nothing behind. */
    readonly probeWrite: Effect.Effect<void, SqlError>
    /**
     * One page by key, ordered by id. A page of a `Wide` table ends before it would exceed `limits.page`, but has at
     * least one row; long texts are read only once their size is known.
     */
    readonly page: <C extends Columns, B = RowOf<C>>(
      from: PageSelect<C, B> | Wide<C, B>,
      conditions: ReadonlyArray<Fragment>,
      order: "oldest first" | "newest first",
      request: PageRequest
    ) => Effect.Effect<Rows<B>>
    /** Returns null instead of a unique violation. */
    readonly nullWhenTaken: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A | null, E, R>
    /**
     * A page filtered by what `parents` looks up; empty when that row does not exist. The lookup shows that it belongs
     * to the workspace, so the page needs no second condition: with two indexed ones, a database may choose the wrong
     * index.
     */
    readonly below: <A>(parents: Fragment, rows: Effect.Effect<Rows<A>>) => Effect.Effect<Rows<A>>
    /** Like `below`, of one process, which counts as unknown once it is deleted. */
    readonly belowProcess: <A>(
      workspace: WorkspaceId,
      process: ProcessId,
      rows: Effect.Effect<Rows<A>>
    ) => Effect.Effect<Rows<A>>
  }
>()("@signalbox/control-room/store/Database") {
  static readonly layer = Layer.effect(
    Database,
    Effect.gen(function* () {
      const client = yield* SqlClient.SqlClient
      const sql = Sql.make(client)
      const random = yield* SecureRandom.SecureRandom
      const millis = Effect.orDie(yield* Effect.orDie(DatabaseClock.make(client)))
      const empty = { rows: [], hasMore: false }

      /** Selects rows with their lengths, without texts longer than `short`; with null, with all texts. */
      const selecting = <C extends Columns, B>(
        { extraBytes = "0", long, rows: { fields }, table }: Wide<C, B>,
        short: number | null
      ) => {
        const columns = Object.keys(fields).filter((name) => name !== "extra_bytes" && !long.includes(name))
        const texts = long.map((name) =>
          short === null ? name : `CASE WHEN octet_length(${name}) <= ${short} THEN ${name} END AS ${name}`
        )
        const lengths = long.map((name) => `octet_length(${name})`)
        const bytes = lengths.length === 1 ? lengths.join() : lengths.map((one) => `coalesce(${one}, 0)`).join(" + ")
        const measures = short === null ? [] : [`${bytes} AS long_bytes`]
        const all = [...columns, ...texts, ...measures, `${extraBytes} AS extra_bytes`]
        return sql.literal(`SELECT ${all.join(", ")} FROM ${table}`)
      }

      /** Cuts a page at its maximum size, and reads the texts that were left out. */
      const wholeOf = <C extends Columns, B>(
        from: Wide<C, B>,
        short: number,
        found: Rows<Measured>,
        { reserve = () => Effect.void }: PageRequest
      ): Effect.Effect<Rows<object>> => {
        const fitting = cut(found, (row) => rowBytes + (row.long_bytes ?? 0) + row.extra_bytes)
        const bytes = fitting.bytes
        const left = fitting.rows.filter((row) => (row.long_bytes ?? 0) > short)
        if (bytes <= limits.smallResponse && left.length === 0) return Effect.succeed(fitting)
        const select = selecting(from, null)
        // Reading megabytes takes a while: other fibers run in between.
        const texts = Effect.forEach(partsOf(left), (part) =>
          Effect.tap(query(Row({ id: text }), sql`${select} WHERE ${sql.in("id", part)}`), Effect.yieldNow)
        )
        return Effect.andThen(
          reserve(bytes),
          Effect.map(texts, (parts) => {
            const whole = new Map<string, object>(parts.flat().map((row) => [row.id, row]))
            const isLeft = new Set(left.map((row) => row.id))
            // A row that was deleted between the two queries is no longer part of the page.
            const read: Rows<object> = {
              hasMore: fitting.hasMore,
              rows: fitting.rows.flatMap((row): ReadonlyArray<object> => {
                if (!isLeft.has(row.id)) return [row]
                const read = whole.get(row.id)
                return read === undefined ? [] : [read]
              })
            }
            return from.plain === true ? cut(read, (row) => Buffer.byteLength(JSON.stringify(row))) : read
          })
        )
      }
      const below: (typeof Database.Service)["below"] = (parents, rows) =>
        Effect.flatMap(sql`${parents}`, (found) => (found.length === 0 ? Effect.succeed(empty) : rows))

      return Database.of({
        sql,
        client,
        transaction: (effect) => timed(client, Dialect.retryConflicts(client, Sql.transaction(client, effect))),
        below,
        belowProcess: (workspace, process, rows) =>
          below(
            sql`SELECT id FROM process WHERE id = ${process} AND workspace_id = ${workspace} AND deleted_at IS NULL`,
            rows
          ),
        millis,
        now: Effect.map(millis, (time) => new Date(time).toISOString()),
        newId: random.uuidV7(),
        probeRead: Effect.asVoid(client`SELECT 1`),
        // Creating a table needs a new page of the file, which an update may not.
        probeWrite: client.withTransaction(
          Effect.andThen(
            client.unsafe(`CREATE TABLE "write probe" (n INTEGER)`),
            Effect.asVoid(client.unsafe(`DROP TABLE "write probe"`))
          )
        ),
        page: <C extends Columns, B>(
          from: PageSelect<C, B> | Wide<C, B>,
          conditions: ReadonlyArray<Fragment>,
          order: "oldest first" | "newest first",
          request: PageRequest
        ) => {
          const { after, limit, name } = request
          const newest = order === "newest first"
          const start = after === null ? [] : [newest ? sql`id < ${after}` : sql`id > ${after}`]
          const named = name === undefined ? [] : [sql`name = ${name}`]
          const where = sql.and([...conditions, ...named, ...start])
          const direction = sql.literal(newest ? "DESC" : "ASC")
          const walk = (select: Fragment) => sql`${select} WHERE ${where} ORDER BY id ${direction} LIMIT ${limit + 1}`
          const pageOf = <A>(rows: ReadonlyArray<A>): Rows<A> => ({
            rows: rows.slice(0, limit),
            hasMore: rows.length > limit
          })
          const parsed = ({ hasMore, rows }: Rows<object>): Rows<B> => ({
            hasMore,
            rows: parse(from.rows, rows, from.as)
          })
          if (!("table" in from)) return Effect.map(walk(from.select), (rows) => parsed(pageOf(rows)))
          // How much of each text is read in the first query, so that the whole page is small.
          const short = Math.floor(limits.smallResponse / limit)
          const wide: Effect.Effect<Rows<B>> = query(measuredRow, walk(selecting(from, short))).pipe(
            Effect.flatMap((rows) => wholeOf(from, short, pageOf(rows), request)),
            // All rows were deleted before their texts were read, so the page has no position for the next one: start
            // again.
            Effect.flatMap((read) => (read.rows.length === 0 && read.hasMore ? wide : Effect.succeed(parsed(read))))
          )
          return wide
        },
        nullWhenTaken: (effect) => Sql.whenTaken(client, effect, null)
      })
    })
  ).pipe(Layer.provide(layerRandom))
}
