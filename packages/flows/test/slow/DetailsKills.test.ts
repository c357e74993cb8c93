import * as Effect from "effect/Effect"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { detailsKills } from "../support/DetailsKills.ts"
import { temporaryFile } from "../support/Engines.ts"

detailsKills(
  "on SQLite",
  Effect.map(temporaryFile, (file) => ({ args: [file, ""], layer: FlowEngine.layerSqlite({ file }) }))
)
