/** A worker of one task in TypeScript, linked to the room of the first argument, with nothing to do. */
import * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { serve } from "../harness/Program.ts"

const [origin = "", linkToken = ""] = process.argv.slice(2)
const task = Task.make("idle", { input: Schema.Unknown, output: Schema.Unknown, run: () => Effect.void })
const worker = ManagedRuntime.make(
  Worker.layer({ origin, linkToken: Redacted.make(linkToken), name: "idle", tasks: [task], capacity: 1 }).pipe(
    Layer.provide(NodeHttpClient.layerUndici)
  )
)
await worker.context()
serve(() => Promise.resolve(null), { close: () => worker.dispose() })
