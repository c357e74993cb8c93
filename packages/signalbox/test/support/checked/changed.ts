/** A step before a recorded one, and a version that was removed. */
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { approval, check } from "./deployed.ts"

const verify = Flow.step("verify", {
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  run: () => Effect.die(new Error("a check runs no step"))
})

export const payment = Flow.make("payment", {
  version: 3,
  input: Schema.Finite,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: String,
  signals: [approval],
  run: Effect.fnUntraced(function* (amount) {
    if (amount > 100) yield* verify(amount)
    yield* check(amount)
    return (yield* approval.receive()).by
  })
})

export const refund = Flow.make("refund", {
  version: 2,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: String,
  run: check
})
