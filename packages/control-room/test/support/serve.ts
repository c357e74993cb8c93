/** The service as a separate process, on the folder given as argument. Writes one line of JSON when it is ready. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { flushCompileCache } from "node:module"
import { layerIn, Service } from "./Service.ts"

const announce = Layer.effectDiscard(
  Effect.flatMap(Service, ({ key, origin, workspaceId }) =>
    Effect.sync(() => {
      process.stdout.write(`${JSON.stringify({ key, origin, workspaceId })}\n`)
      // As at its end: most of these processes are killed.
      flushCompileCache()
    })
  )
)

NodeRuntime.runMain(Layer.launch(Layer.provide(announce, layerIn(process.argv[2] ?? ""))))
