import { describe } from "@effect/vitest"
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Journal } from "../src/internal/Journal.ts"
import * as Memory from "../src/internal/journal/Memory.ts"
import * as Sql from "../src/internal/journal/Sql.ts"
import { Database } from "../src/internal/sql/Database.ts"
import { temporaryFile } from "./support/Engines.ts"
import { journalSuite } from "./support/JournalSuite.ts"
import { losingAnswers } from "./support/journal/LostAnswers.ts"

const opened = (context: Context.Context<Journal>) => ({ open: Effect.succeed(Context.get(context, Journal)) })

const inFile = (filename: string, database = Database.layer) =>
  Layer.build(
    Layer.fresh(Sql.layer.pipe(Layer.provide(database), Layer.provide(SqliteClient.layer({ filename }))))
  ).pipe(Effect.orDie)

journalSuite({
  name: "in memory",
  make: Effect.map(Layer.build(Layer.fresh(Memory.layer)), opened)
})

journalSuite({
  name: "on SQLite",
  make: Effect.map(
    Effect.flatMap(temporaryFile, (file) => inFile(file)),
    opened
  )
})

describe("when the answer of every statement is lost once", () => {
  journalSuite({
    name: "on SQLite",
    losesAnswers: true,
    make: Effect.map(
      Effect.flatMap(temporaryFile, (file) => inFile(file, losingAnswers)),
      opened
    )
  })
})
