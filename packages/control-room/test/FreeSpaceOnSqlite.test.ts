/** Space of deleted rows goes back to the disk. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { layer, Service } from "./support/Service.ts"

interface Pages {
  readonly free: number
  readonly all: number
}

const pages = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Pages>`SELECT freelist_count AS free, page_count AS "all" FROM pragma_freelist_count, pragma_page_count`
).pipe(Effect.map(([row]) => row ?? assert.fail("no pages")))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a room whose rows were deleted", (it) => {
  it.effect("has a file of the size that the rest needs, after the next run of retention", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { retainIn } = yield* Service
      yield* retainIn(0)
      const empty = yield* pages
      yield* sql`CREATE TABLE ballast (id INTEGER PRIMARY KEY, text TEXT)`
      yield* sql`WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 5000)
        INSERT INTO ballast SELECT id, hex(randomblob(1000)) FROM n`
      // Every tenth stays, from the first to the last page.
      yield* sql`DELETE FROM ballast WHERE id % 10 <> 0`
      const before = yield* pages
      assert.isAbove(before.free, before.all / 2)
      yield* retainIn(0)
      const after = yield* pages
      assert.isBelow(after.all, empty.all + 0.3 * (before.all - empty.all))
      const rows = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM ballast`
      assert.deepStrictEqual(rows, [{ count: 500 }])
      // A little is kept for the next rows, and given back no more.
      yield* retainIn(0)
      assert.deepStrictEqual(yield* pages, after)
    })
  )
})
