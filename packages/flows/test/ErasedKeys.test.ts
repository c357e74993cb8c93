import * as Effect from "effect/Effect"
import { FlowEngine } from "../src/FlowEngine.ts"
import { temporaryFile } from "./support/Engines.ts"
import { erasedKeys } from "./support/ErasedKeys.ts"

erasedKeys(
  "on SQLite",
  Effect.map(temporaryFile, (file) => (values) => FlowEngine.layerSqlite({ file, values }))
)
