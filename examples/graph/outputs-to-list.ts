/**
 * Runs a process and writes its outputs into a list of a team site (`SIGNALBOX_GRAPH_SITE`, default `root`; the list is
 * `SIGNALBOX_GRAPH_LIST`, default `Invoices`, and created if it is missing). Run it twice: each order is in the list once.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as GraphSteps from "@signalbox/flows/graph/GraphSteps"
import * as TerminalProgress from "@signalbox/flows/TerminalProgress"
import { GraphError } from "@signalbox/graph/GraphError"
import * as Lists from "@signalbox/graph/Lists"
import { SiteId } from "@signalbox/graph/model/Common"
import * as Task from "@signalbox/worker/Task"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import * as Embedded from "signalbox/Embedded"
import * as Connection from "./connection.ts"

const Order = Schema.Struct({ order: Schema.String, amount: Schema.Finite })
const Invoice = Schema.Struct({ order: Schema.String, total: Schema.Finite })

/** The task of the process: adds 19 % to an order. */
const price = Task.make("price", {
  input: Order,
  output: Invoice,
  run: ({ payload: { amount, order } }) =>
    Effect.succeed({ order, total: Math.round(amount * 119) / 100 })
})

const ensureList = Flow.step("ensureList", {
  input: Schema.Struct({ site: SiteId, list: Schema.String }),
  success: Schema.Void,
  error: GraphError,
  run: Effect.fnUntraced(function* ({ list, site }) {
    const make = Lists.create(site, {
      displayName: list,
      columns: [{ name: "Total", number: {} }]
    })
    yield* Lists.get(site, list).pipe(
      Effect.catchReason("GraphError", "NotFound", () => make)
    )
  })
})

const invoices = Flow.make("invoices", {
  version: 1,
  input: Schema.Struct({
    process: ProcessId,
    site: Schema.String,
    list: Schema.String,
    orders: Schema.Array(Order)
  }),
  success: Schema.Array(
    Schema.Struct({ ...Invoice.fields, created: Schema.Boolean })
  ),
  error: Flow.errorsOf(Steps.startRun, GraphError),
  idempotencyKey: ({ orders }) => orders.map(({ order }) => order).join(),
  run: Effect.fnUntraced(function* ({ list, orders, process, ...input }) {
    const site = yield* GraphSteps.findSite({ site: input.site })
    yield* ensureList({ site, list })
    const workItems = yield* Flow.forEach(
      "order",
      orders,
      { key: ({ order }) => order },
      (payload) => Steps.createWorkItem({ process, payload })
    )
    const run = yield* Steps.startRun({ process, workItems })
    yield* Steps.awaitCompletion({ run })
    const outputs = yield* Steps.collectOutputs({ run })
    return yield* Flow.forEach(
      "invoice",
      outputs,
      { key: ({ id }) => id, concurrency: 4 },
      (output) =>
        Effect.gen(function* () {
          // Decodes with the task's own output schema.
          const { order, total } = yield* Effect.orDie(
            Schema.decodeUnknownEffect(Invoice)(output.payload)
          )
          const fields = { Title: order, Total: total }
          const { created } = yield* GraphSteps.createListItem({
            site,
            list,
            fields,
            key: "Title"
          })
          return { order, total, created }
        })
    )
  })
})

const program = Effect.gen(function* () {
  yield* Connection.signIn
  const site = yield* Config.String("SIGNALBOX_GRAPH_SITE").pipe(
    Config.withDefault("root")
  )
  const list = yield* Config.String("SIGNALBOX_GRAPH_LIST").pipe(
    Config.withDefault("Invoices")
  )
  const { id } = yield* Processes.put({
    name: "invoices",
    steps: [{ name: "price", task: { name: price.name } }]
  })
  const orders = [
    { order: "1001", amount: 12 },
    { order: "1002", amount: 99 },
    { order: "O'Brien/7", amount: 7.25 }
  ]
  const rows = yield* Flow.run(invoices, { process: id, site, list, orders })
  for (const { created, order, total } of rows.toSorted((a, b) =>
    a.order < b.order ? -1 : 1
  )) {
    yield* Console.log(
      `${order}: ${total.toFixed(2)}${created ? "" : ", which was there"}`
    )
  }
})

const room = Layer.unwrap(
  Effect.map(Connection.data, (folder) =>
    Embedded.layer({ data: join(folder, "room"), port: 0, tasks: [price] })
  )
)

const quiet = Layer.succeed(References.MinimumLogLevel, "Warn")

program.pipe(
  Effect.provide(
    Layer.mergeAll(
      Layer.provide(room, quiet),
      Connection.layer,
      TerminalProgress.layer()
    )
  ),
  NodeRuntime.runMain
)
