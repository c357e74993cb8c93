/** An additional step, after everything recorded. */
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { approval, check } from "./deployed.ts"

export const payment = Flow.make("payment", {
  version: 3,
  input: Schema.Finite,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: String,
  signals: [approval],
  run: Effect.fnUntraced(function* (amount) {
    yield* check(amount)
    const { by } = yield* approval.receive()
    yield* check(amount + 1, { key: "again" })
    return by
  })
})

export { refund, refund as default } from "./deployed.ts"
export const word = "no flow"
