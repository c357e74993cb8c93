/** What a declaration of a table gives: columns, rows that are written and read as declared, and a clear error where they differ. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Sql from "../src/Sql.ts"
import * as SqliteClient from "../src/SqliteClient.ts"
import { converted, flag, id, integer, json, nullable, query, queryOne, real, Row, Table, text } from "../src/Table.ts"

const ItemId = Schema.String.pipe(Schema.brand("ItemId"))

const itemTable = Table("item", {
  id: id(ItemId),
  parent: nullable(id(ItemId)),
  open: flag,
  muted: nullable(flag),
  tags: json<ReadonlyArray<string>>(),
  note: nullable(json<{ readonly by: string }>()),
  size: integer,
  share: real,
  at: converted(
    (stored) => Date.parse(stored),
    (millis: number) => new Date(millis).toISOString()
  )
})

const first: typeof itemTable.Type = {
  id: ItemId.make("1"),
  parent: null,
  open: true,
  muted: null,
  tags: ["a", "b"],
  note: { by: "me" },
  size: 3,
  share: 0.5,
  at: 0
}
const second = { ...first, id: ItemId.make("2"), parent: first.id, open: false, muted: false, note: null, at: 1000 }

const withTables = <A, E>(body: (sql: Sql.Sql, client: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const client = yield* SqlClient.SqlClient
    const sql = Sql.make(client)
    yield* sql`CREATE TABLE item (id TEXT PRIMARY KEY, parent TEXT REFERENCES item (id), open INTEGER NOT NULL, muted INTEGER,
      tags TEXT NOT NULL, note TEXT, size INTEGER NOT NULL, share REAL NOT NULL, at TEXT NOT NULL)`
    yield* sql`INSERT INTO item ${itemTable.insert([first, second])}`
    return yield* body(sql, client)
  }).pipe(Effect.provide(SqliteClient.layer({ filename: ":memory:" }), { local: true }), Effect.scoped)

const defectOf = (exit: Exit.Exit<unknown, unknown>) => (Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "")

describe("Table", () => {
  it.effect("reads rows as they were written", () =>
    withTables((sql) =>
      Effect.gen(function* () {
        const rows = yield* query(itemTable, sql`SELECT ${itemTable.columns} FROM item ORDER BY id`)
        assert.deepStrictEqual(
          rows.map((row) => ({ ...row })),
          [first, second]
        )
      })
    )
  )

  it.effect("stores what other programs read: flags as numbers, JSON as text", () =>
    withTables((sql) =>
      Effect.gen(function* () {
        const stored = yield* queryOne(
          Row({ open: integer, tags: text, at: text }),
          sql`SELECT open, tags, at FROM item WHERE id = '1'`
        )
        assert.deepStrictEqual({ ...stored }, { open: 1, tags: '["a","b"]', at: "1970-01-01T00:00:00.000Z" })
      })
    )
  )

  it.effect("encodes the values of an update, and leaves what is undefined as it is", () =>
    withTables((sql) =>
      Effect.gen(function* () {
        yield* sql`UPDATE item SET ${itemTable.update({ open: false, note: null, tags: [], muted: undefined })} WHERE id = '1'`
        const row = yield* queryOne(itemTable, sql`SELECT ${itemTable.columns} FROM item WHERE id = '1'`)
        assert.deepStrictEqual({ ...row }, { ...first, open: false, note: null, tags: [] })
      })
    )
  )

  it.effect("declares joins by its columns, and what is counted in one line", () =>
    withTables((sql) =>
      Effect.gen(function* () {
        const child = itemTable.pick("id", "open")
        const row = yield* queryOne(
          child.and({ tags: json<ReadonlyArray<string>>(), n: integer, any: flag }),
          sql`
            SELECT ${child.of("child")}, parent.tags, (SELECT count(*) FROM item) AS n,
              EXISTS (SELECT 1 FROM item WHERE open = 1) AS any
            FROM item AS child JOIN item AS parent ON parent.id = child.parent`
        )
        assert.deepStrictEqual({ ...row }, { id: second.id, open: false, tags: ["a", "b"], n: 2, any: true })
      })
    )
  )

  it.effect("returns null, or no rows, when nothing is found", () =>
    withTables((sql) =>
      Effect.gen(function* () {
        const none = sql`SELECT ${itemTable.columns} FROM item WHERE id = '3'`
        assert.isNull(yield* queryOne(itemTable, none))
        assert.deepStrictEqual(yield* query(itemTable, none), [])
      })
    )
  )

  it.effect("turns each row into what the caller returns", () =>
    withTables((sql) =>
      Effect.gen(function* () {
        const all = sql`SELECT ${itemTable.columns} FROM item ORDER BY id`
        assert.deepStrictEqual(yield* query(itemTable, all, (row) => row.size + row.at), [3, 1003])
        assert.deepStrictEqual(yield* queryOne(itemTable, all, ({ tags }) => tags.length), 2)
      })
    )
  )

  it.effect("dies with the name of a column that a query does not select, or not as declared", () =>
    withTables((sql) =>
      Effect.gen(function* () {
        const missing = yield* Effect.exit(query(itemTable, sql`SELECT id FROM item`))
        assert.match(defectOf(missing), /the column parent of a query is undefined/)
        const other = yield* Effect.exit(query(Row({ n: integer }), sql`SELECT 'secret' AS n`))
        assert.match(defectOf(other), /the column n of a query is string/)
        assert.notMatch(defectOf(other), /secret/)
        const empty = yield* Effect.exit(query(Row({ n: integer }), sql`SELECT NULL AS n`))
        assert.match(defectOf(empty), /the column n of a query is NULL/)
      })
    )
  )
})

describe("Sql", () => {
  it.effect("asks by name for a value that is in use, and undoes what was done before it", () =>
    withTables((sql, client) =>
      Effect.gen(function* () {
        const insert = (name: string) =>
          Effect.gen(function* () {
            yield* sql`UPDATE item SET size = 7`
            yield* sql`INSERT INTO item ${itemTable.insert({ ...first, id: ItemId.make(name) })}`
            return name
          })
        assert.strictEqual(yield* Sql.whenTaken(client, insert("3"), null), "3")
        assert.isNull(yield* Sql.transaction(client, Sql.whenTaken(client, insert("1"), null)))
      })
    )
  )

  it.effect("leaves every other failure a defect", () =>
    withTables((sql, client) =>
      Effect.gen(function* () {
        const orphan = sql`INSERT INTO item ${itemTable.insert({ ...first, id: ItemId.make("3"), parent: ItemId.make("9") })}`
        const exit = yield* Effect.exit(Sql.whenTaken(client, orphan, null))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause) && Sql.isGone(exit.cause))
        const wrong = yield* Effect.exit(sql`SELECT nothing FROM item`)
        assert.isTrue(Exit.isFailure(wrong) && Cause.hasDies(wrong.cause) && !Sql.isGone(wrong.cause))
      })
    )
  )

  it.effect("rolls a transaction back when a statement dies", () =>
    withTables((sql, client) =>
      Effect.gen(function* () {
        const failing = Effect.andThen(sql`UPDATE item SET size = 9`, sql`SELECT nothing FROM item`)
        yield* Effect.exit(Sql.transaction(client, failing))
        assert.strictEqual(yield* queryOne(Row({ size: integer }), sql`SELECT size FROM item`, (row) => row.size), 3)
      })
    )
  )
})
