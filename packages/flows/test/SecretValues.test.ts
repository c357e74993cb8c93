import * as Effect from "effect/Effect"
import { dirname } from "node:path"
import { FlowEngine } from "../src/FlowEngine.ts"
import { temporaryFile } from "./support/Engines.ts"
import { filesBelow, secretValues } from "./support/SecretValues.ts"

secretValues(
  "in the files of SQLite",
  Effect.map(temporaryFile, (file) => ({
    engine: (values) => FlowEngine.layerSqlite({ file, values }),
    // The database, its log, and the index of that.
    left: Effect.sync(() => filesBelow(dirname(file)))
  }))
)
