// Runs one execution of each flow, and prints its address when both wait.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { createServer } from "node:http"
import { letters, parcels } from "./deployed.ts"

const management = HttpRouter.serve(
  Layer.unwrap(Effect.map(Config.Redacted("SIGNALBOX_FLOWS_TOKEN"), (token) => FlowManagement.layerRoutes({ token }))),
  { disableListenLog: true, disableLogger: true }
).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Layer.merge(Flow.layer(letters), Flow.layer(parcels))),
  Layer.provideMerge(FlowEngine.layerMemory)
)

const waits = (id: string) =>
  Effect.repeat(FlowExecutions.inspect(id), {
    schedule: Schedule.spaced("20 millis"),
    until: ({ now }) => now.some(({ kind }) => kind === "signal")
  })

Effect.gen(function* () {
  const day = DateTime.makeUnsafe("2026-11-20T00:00:00Z")
  yield* waits(yield* Flow.submit(letters, { number: 1, day }))
  yield* waits(yield* Flow.submit(parcels, 1500))
  const { address } = yield* HttpServer.HttpServer
  yield* Console.log(HttpServer.formatAddress(address))
  return yield* Effect.never
}).pipe(Effect.provide(management), NodeRuntime.runMain)
