import * as TestRunner from "effect/cluster/TestRunner"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { conformance } from "../support/Conformance.ts"
import { durable } from "../support/conformance/Bench.ts"
import { leasesInVirtualTime, postgresOptions, temporarySchema } from "../support/Engines.ts"

conformance(
  "on Postgres",
  durable,
  Layer.unwrap(Effect.map(temporarySchema, (schema) => FlowEngine.layerPostgres(postgresOptions(schema)))).pipe(
    Layer.provide(leasesInVirtualTime)
  ),
  false
)

conformance(
  "on a cluster",
  durable,
  Layer.unwrap(Effect.map(temporarySchema, (schema) => FlowEngine.layerCluster(postgresOptions(schema)))).pipe(
    Layer.provide([TestRunner.layer, leasesInVirtualTime])
  ),
  false
)
