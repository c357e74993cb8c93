import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { temporaryFile } from "../support/Engines.ts"
import { transactionKills } from "../support/TransactionKills.ts"

transactionKills(
  "on SQLite",
  Effect.map(temporaryFile, (file) => ({
    args: [file, ""],
    layer: Layer.provideMerge(FlowEngine.sqlClient, FlowEngine.layerSqlite({ file }))
  }))
)
