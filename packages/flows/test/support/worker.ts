/**
 * A process that runs workflows until all are complete, for tests that kill it. Arguments: the engine; its file, or its
 * schema; a file in which each activity is noted when it begins; a file that the second activity waits for; how many
 * executions; and a port for a runner.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import { appendFileSync, existsSync } from "node:fs"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { isComplete, until } from "./Polling.ts"
import { parts, postgresOptions } from "./Engines.ts"

const [engine = "", place = "", notes = "", gate = "", count = "", port = ""] = process.argv.slice(2)

const W = Workflow.make("Killed", {
  payload: { key: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ key }) => key
})

const step = (name: string, key: string, work: Effect.Effect<void> = Effect.void) =>
  Activity.make({
    name,
    execute: Effect.andThen(
      Effect.sync(() => appendFileSync(notes, `${name} ${key}\n`)),
      work
    )
  })

const flow = W.toLayer(
  Effect.fnUntraced(function* ({ key }) {
    yield* step("first", key)
    yield* step("second", key, until(Effect.sync(() => existsSync(gate))))
    return key
  })
)

const engines = {
  sqlite: () => FlowEngine.layerSqlite({ file: place }),
  postgres: () => FlowEngine.layerPostgres(postgresOptions(place)),
  cluster: () => FlowEngine.layerCluster({ ...postgresOptions(place), host: "127.0.0.1", port: Number(port) })
}
const chosen = engine === "sqlite" || engine === "postgres" ? engines[engine] : engines.cluster

const program = Effect.gen(function* () {
  const keys = Array.from({ length: Number(count) }, (_, index) => `${index}`)
  const ids = yield* Effect.forEach(keys, (key) => W.execute({ key }, { discard: true }), { concurrency: "unbounded" })
  const pause = Effect.sleep("50 millis")
  for (const id of ids) yield* until(Effect.tap(Effect.map(W.poll(id), isComplete), pause))
  const results = yield* Effect.forEach(ids, (id) => W.poll(id))
  process.stdout.write(`complete ${results.filter(Option.isSome).length}\n`)
}).pipe(Effect.provide(Layer.provideMerge(flow, parts(chosen()))))

await Effect.runPromise(program)
process.exit(0)
