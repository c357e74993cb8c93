import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../../src/internal/journal/Database.ts"
import { Journal } from "../../src/internal/journal/Journal.ts"
import * as Sql from "../../src/internal/journal/Sql.ts"
import { journalSuite } from "../support/JournalSuite.ts"

const inMemory = Layer.fresh(
  Sql.layer.pipe(Layer.provide(Database.layer), Layer.provideMerge(SqliteClient.layer({ filename: ":memory:" })))
)

journalSuite({
  name: "in memory",
  make: Effect.map(Effect.orDie(Layer.build(inMemory)), (context) => ({
    open: Effect.succeed(Context.get(context, Journal))
  }))
})
