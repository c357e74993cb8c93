import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Files from "@signalbox/console/Files"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Embedded from "signalbox/Embedded"

const approval = Flow.approval("approval")

const monthEnd = Flow.make("month end", {
  version: 1,
  input: Schema.Struct({ month: Schema.String }),
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: ({ month }) => month,
  signals: [approval],
  run: Effect.fnUntraced(function* ({ month }) {
    const { by } = yield* approval.receive()
    return `${month} was closed by ${by}`
  })
})

const room = Layer.unwrap(
  Effect.gen(function* () {
    return Embedded.layer({
      console: yield* Files.read,
      flows: yield* FlowManagement.mounted
    })
  })
)

const program = Layer.effectDiscard(
  Flow.submit(monthEnd, { month: "2026-11" })
).pipe(
  Layer.provide(Flow.layer(monthEnd)),
  Layer.provide(room),
  Layer.provide(FlowEngine.layerSqlite({ file: ".signalbox/flows.db" })),
  Layer.provide(NodeServices.layer)
)

NodeRuntime.runMain(Layer.launch(program))
