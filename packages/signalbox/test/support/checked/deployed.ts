/** The flows of a program that runs. */
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const check = Flow.step("check", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: (amount) => Effect.succeed(amount)
})

export const approval = Flow.approval("approval")

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

export const refund = Flow.make("refund", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: String,
  run: (amount) => Effect.andThen(Flow.sleep("nap", "1 day"), check(amount))
})
