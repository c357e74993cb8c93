import { assert, describe, it } from "@effect/vitest"
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Context from "effect/Context"
import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as SqlClient from "effect/sql/SqlClient"
import { Journal } from "../src/internal/journal/Journal.ts"
import * as Sql from "../src/internal/journal/Sql.ts"
import { Database } from "../src/internal/journal/Database.ts"
import { temporaryFile } from "./support/Engines.ts"
import { journalSuite } from "./support/JournalSuite.ts"
import {
  create,
  found,
  historyOf,
  order,
  owned,
  register,
  signal,
  succeeded,
  undo,
  write
} from "./support/journal/Bench.ts"
import type { Process } from "./support/journal/Held.ts"
import { viewsSuite } from "./support/journal/Views.ts"
import { longCounts, longList } from "./support/journal/LongList.ts"
import { longQueue } from "./support/journal/LongQueue.ts"
import { losingAnswers } from "./support/journal/LostAnswers.ts"
import { until } from "./support/Polling.ts"

const opened = (context: Context.Context<Journal>) => ({ open: Effect.succeed(Context.get(context, Journal)) })

const inFile = (filename: string, database = Database.layer) =>
  Layer.build(
    Layer.fresh(Sql.layer.pipe(Layer.provide(database), Layer.provideMerge(SqliteClient.layer({ filename }))))
  ).pipe(Effect.orDie)

journalSuite({
  name: "on SQLite",
  make: Effect.map(
    Effect.flatMap(temporaryFile, (file) => inFile(file)),
    opened
  )
})

if (soak) {
  describe("when the response of every statement is lost once", () => {
    journalSuite({
      name: "on SQLite",
      losesAnswers: true,
      make: Effect.map(
        Effect.flatMap(temporaryFile, (file) => inFile(file, losingAnswers)),
        opened
      )
    })
  })
}

describe("the journal on SQLite: its file", () => {
  it.live("has everything when it is opened again, and what the process before had claimed is free", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const first = Effect.gen(function* () {
        const journal = Context.get(yield* inFile(file), Journal)
        yield* register(journal, "before")
        const fence = yield* owned(journal, "a", { owner: "before", wakeAt: null, tags: ["t"] })
        yield* journal.write(fence, write({ entries: [succeeded("s", 1)], undos: [undo("s")] }))
        yield* journal.send("id-a", signal("go"))
        yield* create(journal, order("b", { wakeAt: null }))
        yield* journal.swap("tick", null, 1)
        return { fence, history: yield* historyOf(journal, "id-a") }
      })
      const { fence, history } = yield* Effect.scoped(first)
      const journal = Context.get(yield* inFile(file), Journal)
      assert.deepStrictEqual(yield* journal.processes, [])
      const after = yield* historyOf(journal, "id-a")
      const { changedAt, wakeAt } = after.execution
      assert.isNotNull(wakeAt)
      assert.deepStrictEqual(after, {
        ...history,
        execution: { ...history.execution, owner: null, epoch: 2, changedAt, wakeAt }
      })
      assert.strictEqual((yield* Effect.flip(journal.write(fence, write())))._tag, "OwnershipLost")
      assert.deepInclude(yield* found(journal, "id-b"), { epoch: 0, wakeAt: null })
      assert.strictEqual(yield* journal.read("tick"), 1)
    }).pipe(Effect.scoped)
  )

  it.live("takes what waited while its disk was full, once there is space", () =>
    Effect.gen(function* () {
      const context = yield* Effect.flatMap(temporaryFile, (file) => inFile(file))
      const journal = Context.get(context, Journal)
      const sql = Context.get(context, SqlClient.SqlClient)
      const fence = yield* owned(journal, "a")
      yield* sql.unsafe("PRAGMA max_page_count = 1")
      let refusals = 0
      const counting = Logger.layer([Logger.make(() => refusals++)])
      const value = "x".repeat(100_000)
      const writing = yield* journal
        .write(fence, write({ entries: [succeeded("s", 1, { value })] }))
        .pipe(Effect.provide(counting), Effect.forkScoped)
      yield* until(Effect.sync(() => refusals > 0))
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, [])
      yield* sql.unsafe("PRAGMA max_page_count = 1000000")
      yield* Fiber.join(writing)
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, [succeeded("s", 1, { value })])
    }).pipe(Effect.scoped)
  )
})

const process = Effect.map(
  Effect.flatMap(temporaryFile, (file) => inFile(file)),
  (context) => ({ journal: Context.get(context, Journal), sql: Context.get(context, SqlClient.SqlClient) })
)

viewsSuite("on SQLite", process)

describe("the journal on SQLite: with many executions", () => {
  const explain = ({ sql }: Process, statement: string) =>
    Effect.map(Effect.orDie(sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${statement}`)), (rows) =>
      rows.map(({ detail }) => detail)
    )
  longQueue(process, explain)
  longList(process, explain)
  longCounts(process, explain)
})
