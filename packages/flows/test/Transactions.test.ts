import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowEngine } from "../src/FlowEngine.ts"
import { temporaryFile } from "./support/Engines.ts"
import { transactions } from "./support/TransactionsSuite.ts"

transactions({
  name: "on SQLite",
  layer: Layer.provideMerge(
    FlowEngine.sqlClient,
    Layer.unwrap(Effect.map(temporaryFile, (file) => FlowEngine.layerSqlite({ file })))
  ),
  other: SqliteClient.layer({ filename: ":memory:" })
})

transactions({
  name: "in memory",
  layer: Layer.provideMerge(FlowEngine.sqlClient, FlowEngine.layerMemory),
  other: SqliteClient.layer({ filename: ":memory:" })
})
