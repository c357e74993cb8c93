import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowEngine } from "../src/FlowEngine.ts"
import { conformance, durable } from "./support/Conformance.ts"
import { postgresOptions, runner, temporarySchema } from "./support/Engines.ts"

conformance(
  "on the embedded engine on Postgres",
  durable,
  Layer.unwrap(Effect.map(temporarySchema, (schema) => FlowEngine.layerPostgres(postgresOptions(schema)))),
  false
)

if (soak) conformance("on the cluster engine", durable, Layer.unwrap(Effect.map(temporarySchema, runner)), false)
