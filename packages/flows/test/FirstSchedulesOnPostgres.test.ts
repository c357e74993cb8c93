import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { client } from "../src/internal/journal/Postgres.ts"
import { postgresOptions, temporarySchema } from "./support/Engines.ts"
import { suite } from "./support/FirstSchedulesSuite.ts"

suite(
  "on Postgres",
  Effect.map(temporarySchema, (schema) => Layer.fresh(client(postgresOptions(schema))))
)
