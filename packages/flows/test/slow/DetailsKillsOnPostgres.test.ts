import * as Effect from "effect/Effect"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { detailsKills } from "../support/DetailsKills.ts"
import { postgresOptions, postgresUrl, temporarySchema } from "../support/Engines.ts"

detailsKills(
  "on Postgres",
  Effect.map(temporarySchema, (schema) => ({
    args: [postgresUrl, schema],
    layer: FlowEngine.layerPostgres(postgresOptions(schema))
  }))
)
