/** A step whose results have another schema. */
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { approval } from "./deployed.ts"

const check = Flow.step("check", {
  input: Schema.Finite,
  success: Schema.String,
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
    yield* check(amount)
    return (yield* approval.receive()).by
  })
})
