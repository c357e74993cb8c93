// Flows of a program that runs: one with Effect, and one of promises. Both wait for a decision after their first step.
import * as Flow from "@signalbox/flows/Flow"
import { approval as approvalOf, defineFlow, defineStep } from "@signalbox/flows/Promises"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const approval = Flow.approval("approval")

export const Order = Schema.Struct({
  number: Schema.Finite,
  day: Schema.DateTimeUtcFromString,
  note: Schema.optionalKey(Schema.String)
})

export const count = Flow.step("count", {
  input: Order,
  success: Schema.Finite,
  error: Schema.Never,
  run: ({ number }) => Effect.succeed(number)
})

export const letters = Flow.make("letters", {
  version: 1,
  input: Order,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: ({ number }) => String(number),
  signals: [approval],
  run: Effect.fnUntraced(function* (order) {
    yield* count(order)
    return (yield* approval.receive()).by
  })
})

export const decision = approvalOf("decision")

export const measure = defineStep({
  name: "measure",
  input: Schema.Finite,
  output: Schema.Finite,
  run: async (grams) => grams / 1000
})

export const parcels = defineFlow({
  name: "parcels",
  input: Schema.Finite,
  output: Schema.String,
  key: String,
  signals: [decision],
  run: async (ctx, grams) => {
    await ctx.step(measure, grams)
    return (await ctx.signal(decision)).by
  }
})
