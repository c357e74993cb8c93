import * as Effect from "effect/Effect"
import { FlowEngine } from "../src/FlowEngine.ts"
import { embedded } from "./support/EmbeddedSuite.ts"
import { temporaryFile } from "./support/Engines.ts"

embedded(
  "the embedded engine on a SQLite file",
  Effect.map(temporaryFile, (file) => FlowEngine.layerSqlite({ file }))
)
