/** Executions that sleep for hours, of this project on the SQLite file or the Postgres of the arguments; more of them with each task. */
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Flow from "@signalbox/flows/Flow"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { serve } from "../harness/Program.ts"

/** Submits so many more. */
export interface Task {
  readonly submit: number
}

const [kind, where = ""] = process.argv.slice(2)
const sleeping = Flow.make("sleeping", {
  version: 1,
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: (key) => key,
  run: () => Flow.sleep("nap", "12 hours")
})
const engine =
  kind === "sqlite"
    ? FlowEngine.layerSqlite({ file: where })
    : FlowEngine.layerPostgres({ url: Redacted.make(where), schema: "flows" })
const runtime = ManagedRuntime.make(Flow.layer(sleeping).pipe(Layer.provideMerge(engine)))
await runtime.context()

serve(
  async ({ submit }: Task) => {
    for (let n = 0; n < submit; n += 1000) {
      const keys = Array.from({ length: Math.min(1000, submit - n) }, () => crypto.randomUUID())
      await runtime.runPromise(Flow.submitMany(sleeping, keys))
    }
    return null
  },
  { close: () => runtime.dispose() }
)
