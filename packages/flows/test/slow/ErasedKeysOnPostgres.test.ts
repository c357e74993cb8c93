import * as Effect from "effect/Effect"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { postgresOptions, temporarySchema } from "../support/Engines.ts"
import { erasedKeys } from "../support/ErasedKeys.ts"

erasedKeys(
  "on Postgres",
  Effect.map(temporarySchema, (schema) => (values) => FlowEngine.layerPostgres({ ...postgresOptions(schema), values }))
)
