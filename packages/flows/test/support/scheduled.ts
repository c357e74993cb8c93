/**
 * A process of a cluster with a schedule of one second, for tests that run several. Arguments: the schema, and a port.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowSchedules from "../../src/FlowSchedules.ts"
import { postgresOptions } from "./Engines.ts"

const [schema = "", port = ""] = process.argv.slice(2)

const step = Flow.step("step", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (time) => Effect.as(Effect.sleep("50 millis"), time)
})

const flow = Flow.make("scheduled", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: (time) => time,
  run: (time) => step(time)
})

const schedule = FlowSchedules.layer(flow, {
  name: "each second",
  cron: "* * * * * *",
  catchUp: "all",
  input: DateTime.formatIso
})

const program = schedule.pipe(
  Layer.provide(Flow.layer(flow)),
  Layer.provide(FlowEngine.layerCluster({ ...postgresOptions(schema), host: "127.0.0.1", port: Number(port) }))
)

await Effect.runPromise(Layer.launch(program))
