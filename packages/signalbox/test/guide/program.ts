import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ProcessId } from "@signalbox/api/contract/Ids"
import { layerConfig } from "@signalbox/api/node"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpRouter from "effect/http/HttpRouter"
import { createServer } from "node:http"
import { invoices } from "./invoices.ts"

/** On each working day at 6 in the morning. */
const everyMorning = Layer.unwrap(
  Effect.map(Config.String("INVOICES_PROCESS"), (process) =>
    FlowSchedules.layer(invoices, {
      name: "invoices",
      cron: "0 6 * * mon-fri",
      zone: "Europe/Vienna",
      input: (at) => ({
        process: ProcessId.make(process),
        day: DateTime.formatIsoDateUtc(at)
      })
    })
  )
)

/** For `signalbox flows`. */
const management = HttpRouter.serve(
  Layer.unwrap(
    Effect.map(Config.Redacted("SIGNALBOX_FLOWS_TOKEN"), (token) =>
      FlowManagement.layerRoutes({ token })
    )
  ),
  { disableLogger: true } // no line for each request
).pipe(
  Layer.provide(
    NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 4800 })
  )
)

const program = Layer.merge(everyMorning, management).pipe(
  Layer.provide(Flow.layer(invoices)),
  Layer.provide(FlowEngine.layerSqlite({ file: "data/flows.db" })),
  Layer.provide(layerConfig)
)

NodeRuntime.runMain(Layer.launch(program))
