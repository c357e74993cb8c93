import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { settleUnresolved } from "@signalbox/flows/SettleUnresolved"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Order = Schema.Struct({ orderId: Schema.String, amount: Schema.Finite })

/** Your own step. It may use any service, such as a database. */
const readOrders = Flow.step("readOrders", {
  input: Schema.String,
  success: Schema.Array(Order),
  error: Schema.Never,
  run: (day) =>
    Effect.succeed([
      { orderId: `${day}/1`, amount: 120 },
      { orderId: `${day}/2`, amount: 4_800 }
    ])
})

export const invoices = Flow.make("invoices", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, day: Schema.String }),
  success: Schema.Struct({
    written: Schema.Finite,
    state: Schema.Literals(["completed", "unresolved"])
  }),
  error: Flow.errorsOf(Steps.startRun, settleUnresolved),
  idempotencyKey: ({ day }) => day,
  run: Effect.fnUntraced(function* ({ day, process }) {
    const orders = yield* readOrders(day)
    const workItems = yield* Flow.forEach(
      "order",
      orders,
      { key: ({ orderId }) => orderId, concurrency: 4 },
      (order) => Steps.createWorkItem({ process, payload: order })
    )
    const run = yield* Steps.startRun({ process, workItems })
    const { state } = yield* Steps.awaitCompletion({ run })
    if (state === "completed") return { written: orders.length, state }
    const settled = yield* Flow.call(settleUnresolved, {
      run,
      rest: "markBusinessDone"
    })
    return {
      written: orders.length - settled.markedDone - settled.left,
      state: settled.state
    }
  })
})
